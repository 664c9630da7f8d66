#include "kernels/verify_trace.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/byte_source.h"
#include "core/base/error.h"
#include "sim/scenario.h"
#include "sim/workload/as_trace.h"

namespace memwall::kernels {
namespace {

constexpr std::int64_t kRequests = 12;  // of workloads that have no end

/// Questions of a few lines and short answers, so that a replay takes seconds.
sim::App short_chat() {
    sim::App app;
    app.name = "short chat";
    app.arrivals.per_second = 1;
    app.prompt = {sim::Law::Kind::lognormal, 100, 0.7, 16, 400, {}};
    app.output = {sim::Law::Kind::lognormal, 24, 0.5, 4, 64, {}};
    return app;
}

bool trace_file(const std::string& name) {
    return name.ends_with(".csv") || name.ends_with(".jsonl");
}

}  // namespace

std::vector<sim::TraceRequest> open_workload(const TraceOptions& o) {
    const std::int64_t count = o.requests > 0 ? o.requests : kRequests;
    std::vector<sim::TraceRequest> all;
    if (o.source == "default") {
        all = sim::as_trace({short_chat()}, count, 1);
    } else if (trace_file(o.source)) {
        all = sim::read_trace(read_text_file(o.source, std::uint64_t{1} << 30), o.source);
        if (o.requests > 0 && all.size() > static_cast<std::size_t>(o.requests))
            all.resize(static_cast<std::size_t>(o.requests));
    } else {
        try {
            const sim::Scenario s = sim::open_scenario(o.source);
            all = sim::as_trace(s.apps, count, s.seed, s.start_hour);
        } catch (const Error& e) {
            if (e.place() != "SCENARIO") throw;
            throw Error("--trace", e.found(), "default, a .csv or .jsonl trace, " + e.expected());
        }
    }
    if (all.empty()) throw Error("--trace", "'" + o.source + "' asks nothing", "a workload with requests");
    return all;
}

double load_of(const TraceOptions& o) {
    return o.load >= 0 ? o.load : trace_file(o.source) ? 0 : 0.3;
}

void spread(std::vector<sim::TraceRequest>& trace, double busy, double load) {
    if (!(load > 0) || trace.back().arrival == 0) return;
    const double stretch = busy / load / sim::seconds_of(trace.back().arrival);
    for (sim::TraceRequest& r : trace) r.arrival = sim::nanoseconds_of(sim::seconds_of(r.arrival) * stretch);
}

double busy_seconds(const std::vector<sim::TraceRequest>& trace, std::int64_t chunk, PredictedSteps& steps) {
    double seconds = 0;
    for (const sim::TraceRequest& r : trace) {
        sim::StepWork work;
        for (std::int64_t at = 0; at < r.prompt; at += chunk)
            work.prompts.push_back({0, 0, at, std::min(r.prompt, at + chunk)});
        for (std::int64_t i = 1; i < r.output; ++i) work.decodes.push_back({0, r.prompt + i - 1});
        seconds += steps.run(work).seconds;
    }
    return seconds;
}

ReplayMetrics metrics_of(const sim::AppResult& r) {
    return {r.tpot.mean(), r.e2e.mean(), r.ttft.quantile(0.5), r.finished + r.cut_short, r.refused};
}

Replay replay(const sim::Setup& setup, Engine& engine, PredictedSteps& predicted) {
    const Served served = serve(setup, engine);
    RecordedSteps recorded(served.steps, &predicted);
    std::vector<sim::StepRecord> simulated;
    sim::RunOptions options;
    options.executor = &recorded;
    options.steps = &simulated;
    sim::run(setup, options);

    Replay r;
    r.metrics = metrics_of(served.requests);
    r.steps = static_cast<std::int64_t>(std::max(served.steps.size(), simulated.size()));
    r.alike = steps_alike(served, simulated);
    for (const std::int64_t pages : served.pages) r.peak_blocks = std::max(r.peak_blocks, pages);
    for (const sim::StepRecord& s : simulated) r.peak_predicted = std::max(r.peak_predicted, s.blocks);
    r.decoding = recorded.decoding();
    r.prompting = recorded.prompting();
    r.clean = served.cpu_share >= RunTime::kCleanShare;
    return r;
}

}  // namespace memwall::kernels
