// memwall compare: configurations side by side.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>

#include "cli/command.h"
#include "core/base/error.h"
#include "core/base/size_text.h"
#include "core/plan/co_resident.h"
#include "core/quality/words.h"
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

/// One line of the table, one column of the CSV.
struct Line {
    std::string label, csv;
    std::function<std::string(const devices::Planned&)> text, number;
};

std::string number(double x) {
    return fmt::format("{:.6g}", x);
}

template <class T>
Line rate_line(const char* label, const char* csv, bool plan::Speed::*known,
               Interval<T> plan::Speed::*value) {
    return {label, csv,
            [=](const devices::Planned& p) {
                return p.plan.speed.*known ? view::text(p.plan.speed.*value) : std::string("unknown");
            },
            [=](const devices::Planned& p) {
                return p.plan.speed.*known ? number((p.plan.speed.*value).central.value) : std::string();
            }};
}

Line bytes_line(const char* label, const char* csv, Interval<Bytes> (*value)(const devices::Planned&)) {
    return {label, csv, [=](const devices::Planned& p) { return view::text(value(p)); },
            [=](const devices::Planned& p) { return fmt::format("{}", value(p).central.value); }};
}

Line word_line(const char* label, const char* csv, std::string (*word)(const devices::Planned&)) {
    return {label, csv, word, word};
}

Line count_line(const char* label, const char* csv, std::int64_t (*count)(const devices::Planned&)) {
    return {label, csv, [=](const devices::Planned& p) { return count_text(count(p)); },
            [=](const devices::Planned& p) { return fmt::format("{}", count(p)); }};
}

/// What is compared. Items that no configuration has are left out of the table; a CSV has all its columns.
std::vector<Line> lines(const std::vector<devices::Planned>& plans, bool all_items) {
    using devices::Planned;
    std::vector<Line> list{
        word_line("device", "device", [](const Planned& p) { return p.target.device.id; }),
        word_line("recipe", "quant", [](const Planned& p) { return p.prepared.recipe; }),
        count_line("context", "context_tokens", [](const Planned& p) { return p.knobs.context; }),
        count_line("sequences", "sequences", [](const Planned& p) { return p.knobs.sequences; }),
        word_line(
            "KV types", "kv",
            [](const Planned& p) { return fmt::format("{}/{}", p.knobs.kv_k.name, p.knobs.kv_v.name); }),
    };
    for (std::size_t i = 0; i < plan::kItems; ++i) {
        const auto item = static_cast<plan::Item>(i);
        const auto has = [i](const Planned& p) { return p.plan.memory.items[i].high.value > 0; };
        if (!all_items && std::none_of(plans.begin(), plans.end(), has)) continue;
        list.push_back(
            {std::string(view::item_words(item)), fmt::format("{}_bytes", plan::item_name(item)),
             [i](const Planned& p) { return view::text(p.plan.memory.items[i]); },
             [i](const Planned& p) { return fmt::format("{}", p.plan.memory.items[i].central.value); }});
    }
    list.push_back(bytes_line("total", "total_bytes", [](const Planned& p) { return p.plan.memory.total; }));
    list.push_back(bytes_line("needed", "needed_bytes", [](const Planned& p) {
        return p.plan.memory.pools[p.plan.memory.deciding_pool].needed;
    }));
    list.push_back(bytes_line("budget", "budget_bytes",
                              [](const Planned& p) { return Interval<Bytes>::exact(p.plan.memory.budget); }));
    list.push_back({"verdict", "verdict", [](const Planned& p) { return view::verdict_text(p.plan.verdict); },
                    [](const Planned& p) { return std::string(plan::verdict_name(p.plan.verdict)); }});
    list.push_back(count_line("largest context", "max_context_tokens",
                              [](const Planned& p) { return p.advice.max_context_tokens; }));
    list.push_back(rate_line("decode tokens/s", "decode_tokens_per_second", &plan::Speed::decode_known,
                             &plan::Speed::decode));
    list.push_back(rate_line("prefill tokens/s", "prefill_tokens_per_second", &plan::Speed::prefill_known,
                             &plan::Speed::prefill));
    list.push_back(rate_line("first token", "time_to_first_token_seconds", &plan::Speed::prefill_known,
                             &plan::Speed::first_token));
    list.push_back({"differs", "top1_disagreement",
                    [](const Planned& p) {
                        const quality::Loss& l = p.plan.loss;
                        return l.known() ? quality::one_token_in(l.top1_disagreement.central) : "unknown";
                    },
                    [](const Planned& p) {
                        const quality::Loss& l = p.plan.loss;
                        return l.known() ? number(l.top1_disagreement.central) : std::string();
                    }});
    return list;
}

plan::CoResidence share(const std::vector<devices::Planned>& plans) {
    std::vector<plan::Plan> parts;
    for (const devices::Planned& p : plans) {
        if (p.target.device.id != plans.front().target.device.id)
            throw Error("--co-resident",
                        fmt::format("{} and {}", plans.front().target.device.id, p.target.device.id),
                        "one device for all");
        parts.push_back(p.plan);
    }
    return plan::together(parts);
}

std::string csv(const std::vector<devices::Planned>& plans, const std::optional<plan::CoResidence>& all) {
    const std::vector<Line> columns = lines(plans, true);
    view::TextTable table{{"model"}, {}};
    for (const Line& c : columns) table.header.push_back(c.csv);
    if (all)
        for (const char* name : {"together_needed_bytes", "together_budget_bytes", "together_verdict"})
            table.header.emplace_back(name);
    for (const devices::Planned& p : plans) {
        std::vector<std::string> row{p.prepared.model.id};
        for (const Line& c : columns) row.push_back(c.number(p));
        if (all) {
            row.push_back(fmt::format("{}", all->needed.central.value));
            row.push_back(fmt::format("{}", all->budget.value));
            row.emplace_back(plan::verdict_name(all->verdict));
        }
        table.rows.push_back(std::move(row));
    }
    return view::csv_table(table);
}

int run(const Options& o) {
    std::vector<devices::Planned> plans;
    for (const std::string& model : o.deployment.models())
        plans.push_back(devices::make_plan(o.deployment.deployment(model)));
    std::optional<plan::CoResidence> all;
    if (o.together) all = share(plans);
    if (o.json) {
        std::vector<std::string> documents;
        for (const devices::Planned& p : plans)
            documents.push_back(view::plan_json(p.prepared, p.knobs, p.target, p.plan, p.advice));
        std::cout << view::compare_json(documents, all ? &*all : nullptr);
        return kDone;
    }
    if (o.csv) {
        std::cout << csv(plans, all);
        return kDone;
    }
    view::TextTable table{{""}, {}};
    for (const devices::Planned& p : plans) table.header.push_back(">" + p.prepared.model.id);
    for (const Line& line : lines(plans, false)) {
        std::vector<std::string> row{line.label};
        for (const devices::Planned& p : plans) row.push_back(line.text(p));
        table.rows.push_back(std::move(row));
    }
    std::cout << (o.markdown ? view::markdown_table(table)
                             : view::plain_table(table, colour_output(), table_width()));
    if (all)
        std::cout << fmt::format("\nTogether they need {} of {}: {}\n", bytes_text(all->needed.high),
                                 bytes_text(all->budget), view::verdict_text(all->verdict));
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
    app->add_flag("--csv", o->csv, "print comma-separated values, one line a configuration, in base units")
        ->group("Output");
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
