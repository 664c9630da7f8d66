// memwall simulate: what happens over time.
#include "cli/simulate.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <ctime>
#include <fstream>
#include <iostream>
#include <memory>

#include "cli/progress.h"
#include "core/base/error.h"
#include "core/plan/decision_options.h"
#include "core/plan/options.h"
#include "core/view/text_table.h"
#include "sim/result/views.h"

namespace memwall::cli {
namespace {

struct Options {
    std::string scenario, model, find, trace;
    DeploymentOptions deployment;
    std::string duration, ttft_p95, ttft_p99, tpot_p95, e2e_p95;
    std::int64_t seed = -1, replications = 0;
    bool list = false, json = false, csv = false, timeline = false, definitions = false, require = false;
};

std::atomic<bool> stop{false};

/// The first interrupt ends the simulation and prints what there is, one half a second later the program:
/// some senders send it twice at once.
void interrupted(int) {
    static std::atomic<std::int64_t> first{0};
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    const std::int64_t ms = now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
    if (!stop.exchange(true))
        first = ms;
    else if (ms - first > 500)
        _exit(128 + SIGINT);
}

sim::Scenario scenario_of(const Options& o) {
    sim::Scenario s = sim::open_scenario(o.scenario);
    override_deployment(s, o.deployment, o.model);
    if (o.seed >= 0) s.seed = static_cast<std::uint64_t>(o.seed);
    if (o.replications > 0) s.replications = o.replications;
    const auto set = [](double& to, const std::string& text, const char* place) {
        if (text.empty()) return;
        to = plan::parse_seconds(text, place).value;
        if (!(to > 0)) throw Error(place, "'" + text + "'", "above 0");
    };
    set(s.seconds, o.duration, "--duration");
    if (!o.duration.empty() && (s.seconds < sim::kShortestRun || s.seconds > sim::kLongestRun))
        throw Error("--duration", "'" + o.duration + "'", "1 ms at least, at most 95 years");
    set(s.objectives.ttft_p95, o.ttft_p95, "--ttft-p95");
    set(s.objectives.ttft_p99, o.ttft_p99, "--ttft-p99");
    set(s.objectives.tpot_p95, o.tpot_p95, "--tpot-p95");
    set(s.objectives.e2e_p95, o.e2e_p95, "--e2e-p95");
    return s;
}

int list(bool colour) {
    view::TextTable t{{"preset", "about"}, {}};
    for (const EmbeddedFile& f : sim::scenario_presets()) {
        const sim::Scenario s = sim::read_scenario(std::string(f.text()), std::string(f.path));
        t.rows.push_back({s.name, s.about});
    }
    std::cout << view::plain_table(t, colour, table_width());
    return kDone;
}

int run(const Options& o) {
    if (o.list) return list(colour_output());
    if (o.scenario.empty())
        throw Error("SCENARIO", "none", "a preset of `memwall simulate --list` or a .yaml file");
    if (!o.find.empty() && o.find != "users" && o.find != "pool" && o.find != "throttle")
        throw Error("--find", "'" + o.find + "'", "users, pool or throttle");
    const sim::Scenario scenario = scenario_of(o);
    if (o.require && o.find != "throttle") sim::need_objectives(scenario);
    sim::RunOptions options;
    options.seed = scenario.seed;
    options.slices = !o.trace.empty();
    options.stop = &stop;
    std::signal(SIGINT, interrupted);
    const sim::Setup setup = sim::prepare(scenario);

    if (!o.find.empty()) {
        const sim::CapacityAnswer answer = o.find == "users"  ? sim::find_users(scenario, options)
                                           : o.find == "pool" ? sim::find_pool(scenario, options)
                                                              : sim::find_throttle(scenario, options);
        std::cout << (o.json ? sim::simulate_json(setup, {}, scenario.seed, {answer})
                             : sim::answer_text(answer, colour_output()));
        if (stop) std::cerr << "memwall: interrupted; the answer is what was found until then\n";
        // As any search of the program that finds nothing; one that was stopped before has not decided.
        if (answer.question == "throttle" || answer.best > 0) return kDone;
        return stop ? kUndecided : kFailed;
    }
    std::ofstream trace;
    if (!o.trace.empty()) {
        trace.open(o.trace);
        if (!trace)
            throw Error("--trace", "cannot write '" + o.trace + "'", "a file in a folder to write to");
    }
    const auto runs = sim::replicate(setup, scenario.replications, options, progress_bar("simulate"));
    if (trace.is_open() && !(trace << sim::perfetto_json(runs.front()) && trace.flush()))
        throw Error("--trace", "cannot write '" + o.trace + "'", "room for the file");
    std::cout << (o.json  ? sim::simulate_json(setup, runs, scenario.seed)
                  : o.csv ? sim::metrics_csv(runs)
                  : o.timeline
                      ? sim::timeline_csv(runs.front())
                      : sim::simulate_text(setup, runs, colour_output(), terminal_width(), o.definitions));
    if (stop) std::cerr << "memwall: interrupted; the numbers are those of the time simulated until then\n";
    if (!o.require) return kDone;
    if (stop) return kUndecided;
    return sim::holds(scenario.objectives, runs) ? kDone : kFailed;
}

}  // namespace

void override_deployment(sim::Scenario& s, const DeploymentOptions& options, const std::string& model) {
    const plan::Deployment given = options.deployment(model);
    const auto set_here = [&](std::string key) {
        std::replace(key.begin(), key.end(), '-', '_');
        s.places["deployment." + key].clear();
    };
    if (!model.empty()) s.deployment.model = model, set_here("model");
    for (const plan::Option& option : plan::options()) {
        std::string text = option.get(given);
        if (!text.empty()) set_here(std::string(option.name));
        for (std::size_t from = 0; from < text.size();) {
            const std::size_t to = std::min(text.find('\n', from), text.size());
            option.set(s.deployment, text.substr(from, to - from), "--" + std::string(option.name));
            from = to + 1;
        }
    }
}

void add_simulate(Command command) {
    auto o = std::make_shared<Options>();
    CLI::App* app = command.app.add_subcommand(
        "simulate", "What happens over time: users, queues, memory pressure, heat and battery");
    app->add_option("SCENARIO", o->scenario, "a preset's name (--list) or a scenario YAML");
    app->add_flag("--list", o->list, "the presets");
    app->add_option("--model", o->model, "another model than the scenario's")->type_name("MODEL");
    app->add_option("--duration", o->duration, "simulated time, instead of the scenario's")
        ->type_name("TIME");
    app->add_option("--seed", o->seed, "of all random streams")
        ->type_name("N")
        ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 53).description(""));
    app->add_option("--replications", o->replications, "independent runs, on all cores; gives intervals")
        ->type_name("N")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000}).description(""));
    app->add_option("--find", o->find,
                    "a question of capacity: most users, or smallest KV pool, within the objectives; time "
                    "until heat slows the "
                    "chip. Exit status 1 when there is none")
        ->type_name("users|pool|throttle");
    app->add_option("--ttft-p95", o->ttft_p95, "objective: time to first token of 95 %")->type_name("TIME");
    app->add_option("--ttft-p99", o->ttft_p99, "objective: time to first token of 99 %")->type_name("TIME");
    app->add_option("--tpot-p95", o->tpot_p95, "objective: time per output token of 95 %")->type_name("TIME");
    app->add_option("--e2e-p95", o->e2e_p95, "objective: whole answers of 95 %")->type_name("TIME");
    app->add_flag("--require", o->require, "exit with 1 unless the objectives hold, with 3 when interrupted");
    app->add_flag("--definitions", o->definitions, "every metric with its definition")->group("Output");
    app->add_flag("--json", o->json, "print one JSON document")->group("Output");
    app->add_flag("--csv", o->csv, "print every metric of every run as comma-separated values")
        ->group("Output");
    app->add_flag("--timeline", o->timeline,
                  "print the first run's memory over time as comma-separated values")
        ->group("Output");
    app->add_option("--trace", o->trace, "write the first run for ui.perfetto.dev")
        ->type_name("FILE")
        ->group("Output");
    o->deployment.add_options_to(*app);
    app->footer(
        "Examples:\n"
        "  memwall simulate phone-day\n"
        "  memwall simulate family-nas --replications 20 --definitions\n"
        "  memwall simulate rag-box --find users --ttft-p95 2s\n"
        "  memwall simulate rag-box --device rtx-4080 --find pool\n"
        "  memwall simulate my.yaml --json --trace run.json");
    app->callback([o, &action = command.action] { action = [o] { return run(*o); }; });
}

}  // namespace memwall::cli
