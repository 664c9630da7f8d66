// memwall explain: the ledger of a plan.
#include "core/plan/explain.h"

#include <fmt/format.h>

#include <iostream>
#include <memory>

#include "cli/command.h"
#include "core/base/error.h"
#include "core/view/json.h"
#include "core/view/ledger_view.h"
#include "devices/planning.h"

namespace memwall::cli {
namespace {

struct Options {
    DeploymentOptions deployment;
    std::string item;
    bool json = false;
};

void names_below(const LedgerItem& item, std::string& list, int depth) {
    if (depth > 1) return;
    for (const LedgerItem& child : item.children) {
        list += (list.empty() ? "" : ", ") + child.name;
        names_below(child, list, depth + 1);
    }
}

int run(const Options& o) {
    const devices::Planned p = devices::make_plan(o.deployment.deployment());
    const LedgerItem root = plan::explain(p.prepared, p.knobs, p.target, p.plan);
    const LedgerItem* item = o.item.empty() ? &root : plan::find_item(root, o.item);
    if (!item) {
        std::string list;
        names_below(root, list, 0);
        throw Error("ITEM", fmt::format("'{}'", o.item), "one of " + list);
    }
    std::cout << (o.json ? view::ledger_json(*item)
                         : view::ledger_text(*item, colour_output(), table_width()));
    return kDone;
}

}  // namespace

void add_explain(Command command) {
    auto o = std::make_shared<Options>();
    CLI::App* app = command.app.add_subcommand(
        "explain", "Where a plan's numbers come from: formula, inputs and the source of each");
    o->deployment.add_to(*app);
    app->add_option("ITEM", o->item,
                    "part of the ledger: kv_cache, weights, compute_buffer, speed ... (everything)");
    app->add_flag("--json", o->json, "print one JSON document")->group("Output");
    app->footer(
        "Examples:\n"
        "  memwall explain qwen2.5-7b kv_cache --context 8192 --kv q8_0\n"
        "  memwall explain gemma-3-4b --device pixel-9-pro");
    app->callback([o, &action = command.action] { action = [o] { return run(*o); }; });
}

}  // namespace memwall::cli
