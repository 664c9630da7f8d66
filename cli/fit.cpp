// memwall fit: what runs on this machine or device.
#include "devices/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>

#include "cli/demands.h"
#include "cli/progress.h"
#include "core/base/error.h"
#include "core/base/size_text.h"
#include "core/plan/options.h"
#include "core/view/decision_view.h"
#include "core/view/json_parts.h"
#include "core/view/quantity_text.h"
#include "core/view/text_table.h"
#include "devices/recommend.h"

namespace memwall::cli {
namespace {

struct Options {
    DeploymentOptions deployment;
    DemandOptions demands;
    std::string search, lane = "mmlu_pro_written", sort = "score";
    double min_score = 0;
    std::int64_t limit = 25;
    bool all = false, json = false, csv = false, markdown = false;
};

quality::Lane parse_lane(const std::string& name) {
    std::string list;
    for (std::size_t i = 0; i < quality::kLanes; ++i) {
        const auto lane = static_cast<quality::Lane>(i);
        if (name == quality::lane_name(lane)) return lane;
        list += (list.empty() ? "" : ", ") + std::string(quality::lane_name(lane));
    }
    throw Error("--score", fmt::format("'{}'", name), "one of " + list);
}

/// A vendor's own number carries a mark (SCORES.md).
std::string score_text(const devices::Fitted& f) {
    if (!f.score) return "-";
    return fmt::format("{:.1f}{}{}", f.score->value,
                       f.score->reported_by == quality::ReportedBy::vendor ? "*" : "",
                       f.score->at_chance ? " (chance)" : "");
}

view::TextTable table(const std::vector<devices::Fitted>& rows, const plan::Demands& demands, bool admitted,
                      std::size_t limit, const std::string& lane) {
    view::TextTable t;
    t.header = {"model",   ">parameters", "recipe",       "KV",      ">context",
                ">memory", ">tokens/s",   ">first token", "differs", ">" + lane};
    t.spare = {"parameters", "context", "first token", "KV"};
    if (!admitted) t.header = {"model", ">parameters", "recipe", "why not"};
    for (const devices::Fitted& f : rows) {
        if (f.admitted != admitted) continue;
        if (t.rows.size() == limit) break;
        const plan::Candidate& c = f.best;
        const auto& [key, value] = f.grid.kv[c.kv];
        const std::string recipe = f.grid.recipes[c.recipe].recipe;
        if (!admitted) {
            const plan::Broken one = plan::broken_list(f.broken).front();
            t.rows.push_back({f.model, view::parameters_text(f.parameters), recipe,
                              plan::broken_text(one, c, demands.limits)});
            continue;
        }
        const auto [tokens, first_token, job, differs] = view::candidate_cells(c);
        t.rows.push_back({f.model, view::parameters_text(f.parameters), recipe,
                          key == value ? key : key + "/" + value, count_text(c.context),
                          view::text(c.footprint), tokens, first_token, differs, score_text(f)});
    }
    return t;
}

/// What runs, numbers in base units.
std::string csv(const std::vector<devices::Fitted>& rows) {
    view::TextTable t;
    t.header = {"model",
                "parameters",
                "quant",
                "kv_k",
                "kv_v",
                "context",
                "footprint_bytes",
                "decode_tokens_per_second",
                "time_to_first_token_seconds",
                "job_seconds",
                "top1_disagreement",
                "score"};
    for (const devices::Fitted& f : rows) {
        if (!f.admitted) continue;
        const plan::Candidate& c = f.best;
        const auto cell = [](bool known, double x) { return known ? fmt::format("{:.6g}", x) : ""; };
        t.rows.push_back({f.model, fmt::format("{}", f.parameters), f.grid.recipes[c.recipe].recipe,
                          f.grid.kv[c.kv].first, f.grid.kv[c.kv].second, fmt::format("{}", c.context),
                          fmt::format("{}", c.footprint.central.value),
                          cell(c.decode_known, c.decode.central.value),
                          cell(c.timed, c.first_token.central.value), cell(c.timed, c.job.central.value),
                          cell(c.loss.known(), c.loss.top1_disagreement.central),
                          cell(f.score.has_value(), f.score ? f.score->value : 0)});
    }
    return view::csv_table(t);
}

std::string json(const std::vector<devices::Fitted>& rows, const plan::Deployment& base) {
    using view::Json;
    Json j = view::document("memwall/fit/1");
    j["device"] = base.device;
    j["models"] = Json::array();
    for (const devices::Fitted& f : rows) {
        const plan::Candidate& c = f.best;
        Json x{{"id", f.model},
               {"parameters", f.parameters},
               {"active_parameters", f.active_parameters},
               {"admitted", f.admitted},
               {"quant", f.grid.recipes[c.recipe].recipe},
               {"kv_k", f.grid.kv[c.kv].first},
               {"kv_v", f.grid.kv[c.kv].second},
               {"context", c.context},
               {"command", plan::command_line(f.deployment)}};
        view::add_candidate(x, c);
        if (f.score)
            x["score"] = {{"lane", quality::lane_name(f.score->lane)},
                          {"value", f.score->value},
                          {"variant", quality::variant_name(f.score->variant)},
                          {"reporter", f.score->reporter},
                          {"protocol", f.score->protocol},
                          {"source", f.score->source}};
        x["rejected"] = Json::array();
        for (const plan::Broken one : plan::broken_list(f.broken))
            x["rejected"].push_back(plan::broken_name(one));
        j["models"].push_back(std::move(x));
    }
    return j.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

int run(const Options& o) {
    plan::Deployment base = o.deployment.deployment();
    const plan::Demands demands = o.demands.demands(base);
    const auto rank = devices::parse_rank(o.sort);
    const quality::Lane lane = parse_lane(o.lane);
    if (!rank) throw Error("--sort", fmt::format("'{}'", o.sort), "score, latency, memory, quality or size");
    auto rows = devices::fit_catalogue(base, demands, o.search, lane, *rank, progress_bar("fit"));
    if (rows.empty())
        throw Error("SEARCH", fmt::format("no model holds '{}'", o.search), "part of an id or family",
                    "memwall models lists them");
    if (o.min_score > 0)
        std::erase_if(rows, [&](const devices::Fitted& f) {
            return !f.score || f.score->at_chance || f.score->unranked || f.score->value < o.min_score;
        });
    std::size_t admitted = 0;
    for (const devices::Fitted& f : rows) admitted += f.admitted;
    const std::size_t limit = o.all ? rows.size() : static_cast<std::size_t>(o.limit);
    const auto width = static_cast<std::size_t>(terminal_width());
    const view::TextTable yes = table(rows, demands, true, limit, o.lane);
    if (o.json) {
        std::cout << json(rows, base);
    } else if (o.csv) {
        std::cout << csv(rows);
    } else if (o.markdown) {
        std::cout << view::markdown_table(yes);
    } else {
        std::cout << fmt::format("{} of {} models run on {}\n\n", admitted, rows.size(), base.device);
        if (admitted > 0) std::cout << view::plain_table(yes, colour_output(), table_width());
        if (admitted > limit)
            std::cout << fmt::format("... {} more; --all shows them, --sort orders them\n", admitted - limit);
        if (admitted == 0 && !o.all) std::cout << "--all shows what is in the way of each\n";
        if (admitted > 0)
            std::cout << "\n"
                      << view::hung(
                             "",
                             "Scores are the unquantized models', as published (* = the vendor's own); "
                             "'differs' is what the recipe and cache change of a model's own answers.",
                             width);
        const bool tight = std::any_of(rows.begin(), rows.end(), [](const devices::Fitted& f) {
            return !f.admitted && (f.broken & plan::kDoesNotFit) != 0;
        });
        if (const std::string note = devices::unknown_host_note(devices::open_device(base));
            tight && !note.empty())
            std::cout << "\n" << view::hung("Note: ", note, width);
        if (o.all && admitted < rows.size())
            std::cout << "\nNot admitted\n"
                      << view::plain_table(table(rows, demands, false, rows.size(), o.lane), colour_output(),
                                           table_width());
    }
    return admitted > 0 ? kDone : kFailed;
}

}  // namespace

void add_fit(Command command) {
    auto o = std::make_shared<Options>();
    CLI::App* app =
        command.app.add_subcommand("fit", "What runs on this machine or device: the model catalogue ranked");
    app->add_option("SEARCH", o->search, "models whose id or family holds this (all)");
    o->deployment.add_options_to(*app);
    o->demands.add_to(*app);
    app->add_option("--score", o->lane, "benchmark across models (mmlu_pro_written)")
        ->type_name("LANE")
        ->group("Decision");
    app->add_option("--min-score", o->min_score,
                    "leave out models that score less there, or that nobody has scored")
        ->type_name("PERCENT")
        ->check(CLI::Range(0.0, 100.0))
        ->group("Decision");
    app->add_option("--sort", o->sort, "score, latency, memory, quality or size (score)")->group("Output");
    app->add_option("--limit", o->limit, "rows to show (25)")
        ->type_name("N")
        ->check(CLI::Range(1, 1000000).description(""))
        ->group("Output");
    app->add_flag("--all", o->all, "show every model, also why others do not run")->group("Output");
    app->add_flag("--json", o->json, "print one JSON document")->group("Output");
    app->add_flag("--csv", o->csv, "print comma-separated values, numbers in base units")->group("Output");
    app->add_flag("--markdown", o->markdown, "print a Markdown table")->group("Output");
    app->footer(
        "For each model the recipe and KV types that lose least (--priority says otherwise) under the "
        "limits.\n"
        "Exit status 1 when nothing runs.\n"
        "Examples:\n"
        "  memwall fit\n"
        "  memwall fit --device iphone-16-pro --min-decode 10 --context 8192\n"
        "  memwall fit qwen --device rtx-3060-12gb --set device.ram=32GiB --preset code --sort latency");
    app->callback([o, &action = command.action] { action = [o] { return run(*o); }; });
}

}  // namespace memwall::cli
