// Speed of the search: configurations a second on one core (goal: 1,000,000), a first recommendation, and the
// whole catalogue on one device (goal: under 1 s on all cores).
#include <benchmark/benchmark.h>

#include "core/plan/decide.h"
#include "core/plan/search.h"
#include "devices/fit.h"

using namespace memwall;

namespace {

devices::Opened opened(const char* model) {
    plan::Deployment d;
    d.model = model;
    d.device = "apple-m4:16GiB";
    return devices::open_deployment(d);
}

/// Another device or other limits for a grid that is prepared: what an explorer does while something is
/// dragged.
void search_prepared_grid(benchmark::State& state, const char* model) {
    const devices::Opened o = opened(model);
    plan::Grid grid = plan::default_grid(o.model, o.deployment, 1024, false, {});
    grid.sequences = {1, 2, 3, 4, 6, 8, 12, 16};
    const plan::PreparedGrid g = plan::prepare_grid(o.model, o.deployment, grid, devices::open_named_model);
    plan::search(g, o.device, devices::open_named_model, 1);  // makes the replays
    for (auto _ : state) benchmark::DoNotOptimize(plan::search(g, o.device, devices::open_named_model, 1));
    state.counters["configurations/s"] =
        benchmark::Counter(static_cast<double>(state.iterations()) * static_cast<double>(g.grid.size()),
                           benchmark::Counter::kIsRate);
}
BENCHMARK_CAPTURE(search_prepared_grid, llama_3_1_8b, "llama-3.1-8b")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(search_prepared_grid, qwen3_30b_a3b, "qwen3-30b-a3b")->Unit(benchmark::kMicrosecond);

/// Everything that `recommend` does once its model is open.
void first_recommendation(benchmark::State& state) {
    const devices::Opened o = opened("llama-3.1-8b");
    const plan::Grid grid = plan::default_grid(o.model, o.deployment, 1024, false, {});
    for (auto _ : state) {
        const auto r = plan::search(o.model, o.deployment, o.device, grid, devices::open_named_model);
        benchmark::DoNotOptimize(plan::decide(r.candidates, {}));
    }
}
BENCHMARK(first_recommendation)->Unit(benchmark::kMillisecond)->UseRealTime();

void whole_catalogue(benchmark::State& state) {
    plan::Deployment d;
    d.device = "apple-m4:16GiB";
    for (auto _ : state)
        benchmark::DoNotOptimize(
            devices::fit_catalogue(d, {}, "", quality::Lane::mmlu_pro_written, devices::Rank::score, {}));
}
BENCHMARK(whole_catalogue)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
