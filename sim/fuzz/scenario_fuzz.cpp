// libFuzzer target: a scenario is refused with an Error or runs with every invariant checked. The model is
// always the same, the device one with a card or one without, and time, rates and pools are cut, so that an
// input takes milliseconds.
#include <algorithm>
#include <cstdint>
#include <string>

#include "core/base/error.h"
#include "sim/result/views.h"

namespace {

void cut(memwall::sim::Scenario& s) {
    constexpr double kSeconds = 20, kArrivals = 60;  // of all apps
    s.deployment.model = "qwen3-0.6b";
    const bool card = s.pressure.card_budget != 0 || s.deployment.gpu_layers != "all";
    s.deployment.device = card ? "ram=16GiB,bandwidth=60GB/s,vram=8GiB,link=16GB/s,storage=2GB/s,"
                                 "class=nvidia_consumer,fp16=30TFLOPS"
                               : "raspberry-pi-5:8GiB";
    s.deployment.set.clear();
    s.seconds = std::min(s.seconds, kSeconds);
    s.scheduler.max_sequences = std::min<std::int64_t>(s.scheduler.max_sequences, 32);
    s.deployment.sequences = std::min<std::int64_t>(s.deployment.sequences, 32);
    s.kv.pool_bytes = std::min(s.kv.pool_bytes, std::int64_t{1} << 30);
    double rate = 0;
    for (const memwall::sim::App& a : s.apps) rate += a.users * a.arrivals.per_second;
    for (memwall::sim::App& a : s.apps)
        if (rate > kArrivals / kSeconds) a.arrivals.per_second *= kArrivals / kSeconds / rate;
    for (memwall::sim::OtherApp& o : s.pressure.others)
        o.opens_per_second = std::min(o.opens_per_second, 1.0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace memwall;
    using namespace memwall::sim;
    try {
        Scenario s = read_scenario({reinterpret_cast<const char*>(data), size}, "fuzz.yaml");
        cut(s);
        const Setup setup = prepare(std::move(s));
        RunOptions options;
        options.checked = true;
        const std::vector<RunResult> runs = {run(setup, options)};
        simulate_json(setup, runs, 1);
        timeline_csv(runs.front());
    } catch (const Error&) {
    }
    return 0;
}
