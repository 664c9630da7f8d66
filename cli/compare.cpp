// memwall compare: configurations side by side.
#include <fmt/format.h>

#include <iostream>
#include <memory>

#include "cli/command.h"
#include "core/base/error.h"
#include "core/base/size_text.h"
#include "core/plan/co_resident.h"
#include "core/view/decision_view.h"
#include "core/view/json.h"
#include "core/view/plan_text.h"
#include "core/view/quantity_text.h"
#include "core/view/text_table.h"
#include "devices/planning.h"

namespace memwall::cli {
namespace {

struct Options {
    DeploymentOptions deployment;
    bool json = false, csv = false, markdown = false, together = false;
};

using Row = std::string (*)(const devices::Planned&);

std::string item_text(const devices::Planned& p, plan::Item item) {
    return view::text(p.plan.memory.items[static_cast<std::size_t>(item)]);
}

// What is compared, one line each.
constexpr std::pair<const char*, Row> kRows[] = {
    {"device", [](const devices::Planned& p) { return p.target.device.id; }},
    {"recipe", [](const devices::Planned& p) { return p.prepared.recipe; }},
    {"context", [](const devices::Planned& p) { return count_text(p.knobs.context); }},
    {"KV types",
     [](const devices::Planned& p) { return fmt::format("{}/{}", p.knobs.kv_k.name, p.knobs.kv_v.name); }},
    {"weights", [](const devices::Planned& p) { return item_text(p, plan::Item::weights); }},
    {"KV cache", [](const devices::Planned& p) { return item_text(p, plan::Item::kv_cache); }},
    {"recurrent state", [](const devices::Planned& p) { return item_text(p, plan::Item::recurrent_state); }},
    {"compute buffer", [](const devices::Planned& p) { return item_text(p, plan::Item::compute_buffer); }},
    {"total", [](const devices::Planned& p) { return view::text(p.plan.memory.total); }},
    {"needed",
     [](const devices::Planned& p) {
         return view::text(p.plan.memory.pools[p.plan.memory.deciding_pool].needed);
     }},
    {"budget", [](const devices::Planned& p) { return bytes_text(p.plan.memory.budget); }},
    {"verdict", [](const devices::Planned& p) { return view::verdict_text(p.plan.verdict); }},
    {"largest context", [](const devices::Planned& p) { return count_text(p.advice.max_context_tokens); }},
    {"decode tokens/s",
     [](const devices::Planned& p) {
         return p.plan.speed.decode_known ? view::text(p.plan.speed.decode) : std::string("unknown");
     }},
    {"prefill tokens/s",
     [](const devices::Planned& p) {
         return p.plan.speed.prefill_known ? view::text(p.plan.speed.prefill) : std::string("unknown");
     }},
    {"first token",
     [](const devices::Planned& p) {
         return p.plan.speed.prefill_known ? view::text(p.plan.speed.first_token) : std::string("unknown");
     }},
};

int run(const Options& o) {
    std::vector<devices::Planned> plans;
    for (const std::string& model : o.deployment.models())
        plans.push_back(devices::make_plan(o.deployment.deployment(model)));
    if (o.json) {
        std::vector<std::string> documents;
        for (const devices::Planned& p : plans)
            documents.push_back(view::plan_json(p.prepared, p.knobs, p.target, p.plan, p.advice));
        std::cout << view::compare_json(documents);
        return kDone;
    }
    view::TextTable table{{""}, {}};
    for (const devices::Planned& p : plans) table.header.push_back(">" + p.prepared.model.id);
    for (const auto& [label, cell] : kRows) {
        std::vector<std::string> row{label};
        for (const devices::Planned& p : plans) row.push_back(cell(p));
        table.rows.push_back(std::move(row));
    }
    std::string tail;
    if (o.together) {
        std::vector<plan::Plan> parts;
        for (const devices::Planned& p : plans) {
            if (p.target.device.id != plans.front().target.device.id)
                throw Error("--co-resident",
                            fmt::format("{} and {}", plans.front().target.device.id, p.target.device.id),
                            "one device for all");
            parts.push_back(p.plan);
        }
        const plan::CoResidence all = plan::together(parts);
        tail = fmt::format("\nTogether they need {} of {}: {}\n", bytes_text(all.needed.high),
                           bytes_text(all.budget), view::verdict_text(all.verdict));
    }
    std::cout << (o.csv        ? view::csv_table(table)
                  : o.markdown ? view::markdown_table(table)
                               : view::plain_table(table, colour_output()))
              << tail;
    return kDone;
}

}  // namespace

void add_compare(Command command) {
    auto o = std::make_shared<Options>();
    CLI::App* app = command.app.add_subcommand(
        "compare", "Configurations side by side: several MODELs or deployment files under the same options");
    o->deployment.allow_many_models();
    o->deployment.add_to(*app);
    app->add_flag("--json", o->json, "print one JSON document")->group("Output");
    app->add_flag("--csv", o->csv, "print comma-separated values")->group("Output");
    app->add_flag("--markdown", o->markdown, "print a Markdown table")->group("Output");
    app->add_flag("--co-resident", o->together,
                  "they run at the same time: the verdict on the budget they share")
        ->group("Decision");
    app->footer(
        "Examples:\n"
        "  memwall compare qwen2.5-7b llama-3.1-8b gemma-3-4b --device iphone-16-pro --context 8192\n"
        "  memwall compare llama-3.2-3b whisper-large-v3 --device pixel-9-pro --co-resident\n"
        "  memwall compare phone.yaml car.yaml --markdown");
    app->callback([o, &action = command.action] { action = [o] { return run(*o); }; });
}

}  // namespace memwall::cli
