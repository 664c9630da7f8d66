// Speed of the planner: the whole command, a GGUF header with a large vocabulary, a plan in the library with
// the replay made anew, and with the replay known. The empty process and a bare header walk run beside them
// as floors.
#include <benchmark/benchmark.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/model/catalog.h"
#include "core/model/gguf.h"
#include "core/plan/prepare.h"
#include "devices/catalog.h"
#include "tests/model/gguf_shapes.h"

using namespace memwall;

namespace {

/// Runs a program to its end; its peak resident set in KiB.
long run(const std::vector<const char*>& arguments) {
    const pid_t child = ::fork();
    if (child == 0) {
        if (!std::freopen("/dev/null", "w", stdout)) std::_Exit(127);
        std::vector<char*> argv;
        for (const char* a : arguments) argv.push_back(const_cast<char*>(a));
        argv.push_back(nullptr);
        ::execv(argv[0], argv.data());
        std::_Exit(127);
    }
    int status = 0;
    rusage usage{};
    ::wait4(child, &status, 0, &usage);
    if (status != 0) std::abort();
    return usage.ru_maxrss;
}

void empty_process(benchmark::State& state) {
    for (auto _ : state) run({"/bin/true"});
}
BENCHMARK(empty_process)->Unit(benchmark::kMillisecond);

void plan_process(benchmark::State& state) {  // at most 15 ms and 40 MB
    long peak = 0;
    for (auto _ : state)
        peak = run(
            {MEMWALL_COMMAND, "plan", "qwen2.5-7b", "--quant", "Q4_K_M", "--device", "raspberry-pi-5:8GiB"});
    state.counters["peak_MB"] = static_cast<double>(peak) / 1000;
}
BENCHMARK(plan_process)->Unit(benchmark::kMillisecond);

/// A Qwen2.5-0.5B file with 151,936 tokens and 151,387 merges, its data a hole.
std::string large_vocabulary_file() {
    const std::string path = (std::filesystem::temp_directory_path() / "memwall-bench.gguf").string();
    const nlohmann::json shape{{"n_layer", 24}, {"n_embd", 896},        {"n_ff", 4864},
                               {"n_head", 14},  {"n_head_kv", 2},       {"n_vocab", 151936},
                               {"tied", 1},     {"n_ctx_train", 32768}, {"rope_base", 1e6}};
    test::GgufWriter w = test::shape_gguf("qwen2.5-0.5b", "qwen2", shape, "Q8_0");
    std::vector<std::string> merges;
    for (int i = 0; i < 151387; ++i) merges.push_back("left" + std::to_string(i) + " right");
    w.texts("tokenizer.ggml.merges", merges);
    w.write(path);
    return path;
}

void gguf_header_plan(benchmark::State& state) {  // at most 25 ms
    const std::string path = large_vocabulary_file();
    const device::Device device = devices::resolve_device("raspberry-pi-5:8GiB");
    for (auto _ : state) {
        const plan::Prepared p = plan::prepare(model::read_gguf(path), {});
        const plan::Target t = plan::aim(p, device);
        benchmark::DoNotOptimize(plan::evaluate(p, plan::resolve_knobs(p, t), t));
    }
    std::filesystem::remove(path);
}
BENCHMARK(gguf_header_plan)->Unit(benchmark::kMillisecond);

struct Case {
    plan::Prepared prepared;
    plan::Target target;
    plan::Knobs knobs;
};

Case prepared_case(const char* id) {
    plan::Deployment d;
    d.quant = "Q4_K_M";
    Case c;
    c.prepared = plan::prepare(*model::load_catalog_model(id), d);
    c.target = plan::aim(c.prepared, devices::resolve_device("raspberry-pi-5:8GiB"));
    c.knobs = plan::resolve_knobs(c.prepared, c.target);
    return c;
}

void plan_with_new_replay(benchmark::State& state, const char* id) {  // at most 300 microseconds
    Case c = prepared_case(id);
    c.knobs.context = 1;
    for (auto _ : state) {
        ++c.knobs.ubatch;  // another graph each time
        if (c.knobs.ubatch > 2000) c.knobs.ubatch = 256;
        c.knobs.context = c.knobs.context % 30000 + 257;  // and another context, so no replay is found again
        benchmark::DoNotOptimize(plan::evaluate(c.prepared, c.knobs, c.target));
    }
}
BENCHMARK_CAPTURE(plan_with_new_replay, qwen2_5_7b, "qwen2.5-7b")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(plan_with_new_replay, qwen3_next, "qwen3-next-80b-a3b")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(plan_with_new_replay, deepseek_v3, "deepseek-v3")->Unit(benchmark::kMicrosecond);

void plan_with_known_replay(benchmark::State& state, const char* id) {  // at least 50,000 a second
    const Case c = prepared_case(id);
    for (auto _ : state) benchmark::DoNotOptimize(plan::evaluate(c.prepared, c.knobs, c.target));
    state.counters["plans/s"] =
        benchmark::Counter(static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}
BENCHMARK_CAPTURE(plan_with_known_replay, qwen2_5_7b, "qwen2.5-7b");
BENCHMARK_CAPTURE(plan_with_known_replay, deepseek_v3, "deepseek-v3");

}  // namespace
