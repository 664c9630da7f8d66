// memwall report: what a decision meeting is shown, as one file.
#include "cli/report/report.h"

#include <fstream>
#include <iostream>
#include <memory>

#include "cli/demands.h"
#include "cli/simulate.h"
#include "core/base/byte_source.h"
#include "core/base/error.h"
#include "core/plan/explain.h"
#include "core/view/decision_view.h"
#include "core/view/json.h"
#include "devices/recommend.h"
#include "sim/result/views.h"

namespace memwall::cli {
namespace {

constexpr std::size_t kLargestDocument = std::size_t{1} << 28;

struct Options {
    DeploymentOptions deployment;
    DemandOptions demands;
    std::vector<std::string> from;
    std::string scenario;
    std::string output, title;
    bool markdown = false;
};

std::string plan_document(const devices::Planned& p) {
    const LedgerItem ledger = plan::explain(p.prepared, p.knobs, p.target, p.plan);
    return view::plan_json(p.prepared, p.knobs, p.target, p.plan, p.advice, &ledger);
}

/// The plan that the report details: the answer, or of what breaks the demands the closest.
void add_searched(Report& report, const Options& o) {
    plan::Deployment stated = o.deployment.deployment();
    const plan::Demands demands = o.demands.demands(stated);
    const view::Recommendation r = devices::recommend(stated, demands, o.demands.axes());
    read_document(report, view::recommendation_json(r), "recommend");
    const std::int64_t best = report.best[static_cast<std::size_t>(report.priority)];
    const auto shown = static_cast<std::size_t>(best >= 0 ? best : closest(report));
    const devices::Planned planned =
        devices::make_plan(plan::deployment_of(r.search.grid, r.search.candidates[shown], r.deployment));
    read_document(report, plan_document(planned), "plan");
    add_curves(report, planned);
}

/// One simulation and the plan that it runs on; a MODEL and options of the plan go before the scenario's.
void add_simulated(Report& report, const Options& o) {
    sim::Scenario scenario = sim::open_scenario(o.scenario);
    override_deployment(scenario, o.deployment, o.deployment.given());
    const sim::Setup setup = sim::prepare(scenario);
    sim::RunOptions options;
    options.seed = scenario.seed;
    const auto runs = sim::replicate(setup, scenario.replications, options);
    read_document(report, plan_document(setup.planned), "plan");
    add_curves(report, setup.planned);
    read_document(report, sim::simulate_json(setup, runs, scenario.seed), "simulate");
}

int run(const Options& o) {
    Report report;
    if (!o.scenario.empty() && !o.from.empty()) throw Error("report", "--scenario and --from", "one of them");
    if (o.scenario.empty() && o.from.empty() == o.deployment.given().empty())
        throw Error("report", o.from.empty() ? "no MODEL" : "MODEL and --from",
                    "a MODEL to decide about, --scenario to simulate, or --from with a saved document");
    if (!o.scenario.empty()) {
        add_simulated(report, o);
    } else if (o.from.empty()) {
        add_searched(report, o);
    } else {
        for (const std::string& file : o.from)
            read_document(report, read_text_file(file, kLargestDocument), file);
    }
    report.title = o.title.empty() ? report.question : o.title;
    const bool markdown = o.markdown || o.output.ends_with(".md");
    const std::string text = markdown ? report_markdown(report) : report_html(report);
    if (o.output.empty()) {
        std::cout << text;
        return kDone;
    }
    std::ofstream out(o.output, std::ios::binary);
    out << text;
    out.close();
    if (!out) throw Error(o.output, "cannot be written", "a path that can");
    return kDone;
}

}  // namespace

void add_report(Command command) {
    auto o = std::make_shared<Options>();
    CLI::App* app = command.app.add_subcommand(
        "report", "A decision as one self-contained HTML or Markdown file: answer, charts, why not, sources");
    o->deployment.add_to(*app, false);
    o->demands.add_to(*app);
    o->demands.add_axes_to(*app);
    app->add_option("--from", o->from,
                    "a saved document of recommend, plan or simulate --json; may be repeated")
        ->type_name("FILE")
        ->allow_extra_args(false)
        ->group("Output");
    app->add_option("--scenario", o->scenario,
                    "simulate a scenario (a preset's name or YAML) and report it with its plan; MODEL and "
                    "options go before its own")
        ->type_name("NAME|FILE")
        ->group("Output");
    app->add_option("--output", o->output, "write to FILE instead of standard output; .md means Markdown")
        ->type_name("FILE")
        ->group("Output");
    app->add_option("--title", o->title, "heading (the question)")->type_name("TEXT")->group("Output");
    app->add_flag("--markdown", o->markdown, "Markdown instead of HTML")->group("Output");
    app->footer(
        "Searches as recommend does, then details the answer; where nothing is admitted, the closest.\n"
        "Examples:\n"
        "  memwall report llama-3.1-8b --device pixel-9-pro --min-decode 3 --output decision.html\n"
        "  memwall report qwen3-30b-a3b --device rtx-3060-12gb --set device.ram=32GiB --preset code "
        "--markdown\n"
        "  memwall report --scenario phone-day --output day.html\n"
        "  memwall report --from recommend.json --from plan.json --output decision.html");
    app->callback([o, &action = command.action] { action = [o] { return run(*o); }; });
}

}  // namespace memwall::cli
