// Sessions between turns, memory pressure with a hand-worked timeline, and the searches against exhaustive
// ones.
#include "sim/capacity.h"

#include <cmath>

#include "core/base/error.h"
#include "sim/result/views.h"
#include "tests/catch.h"

using namespace memwall;
using namespace memwall::sim;

namespace {

Scenario scenario(const std::string& text) {
    return read_scenario("schema: memwall/scenario/1\n" + text, "test.yaml");
}

RunResult run_checked(const std::string& text) {
    const Setup s = prepare(scenario(text));
    RunOptions options;
    options.checked = false;
    return run(s, options);
}

const std::string kChat =
    "duration: 2h\n"
    "deployment: {model: llama-3.2-1b, device: raspberry-pi-5:8GiB, quant: Q4_K_M, context: 4096, sequences: "
    "2}\n"
    "apps:\n"
    "  - {name: chat, arrivals: {law: poisson, rate: 20/h}, turns: 4, think: 20s, prompt: 100, output: 50, "
    "shared_prefix: 64}\n";

}  // namespace

TEST_CASE("what a session keeps between turns it need not compute again", "[sim][capacity]") {
    const auto prompt_tokens = [](const RunResult& r) { return r.scheduler.prompt_tokens; };
    const std::string kv = "kv: {prefix_cache: off, between_turns: ";
    const RunResult drop = run_checked(kChat + kv + "drop}\n"), keep = run_checked(kChat + kv + "keep}\n"),
                    swap = run_checked(kChat + kv + "swap}\n"),
                    packed = run_checked(kChat + kv + "compress}\n");
    CHECK(drop.scheduler.hit_tokens == 0);
    for (const RunResult* r : {&keep, &swap, &packed}) {
        CHECK(r->scheduler.hit_tokens > 0);
        CHECK(prompt_tokens(*r) < 0.6 * static_cast<double>(prompt_tokens(drop)));
        CHECK(r->all().ttft.mean() < drop.all().ttft.mean());
    }
    CHECK(swap.swapped_bytes > 0);
    CHECK(keep.swapped_bytes == 0);
    CHECK(packed.mean.kv < keep.mean.kv);
    CHECK(swap.mean.kv < keep.mean.kv);
}

TEST_CASE("swapping pays where bytes over bandwidth beat computing again", "[sim][capacity]") {
    // The crossover in closed form: tokens x bytes / bandwidth against the plan's prefill time.
    const Setup s = prepare(scenario(kChat));
    PlannedSteps steps(s.planned.prepared, s.planned.knobs, s.planned.target);
    const double crossover = 664 * s.token_bytes / steps.prefill_seconds(664, 0);  // bytes/s
    const auto ttft = [&](double bandwidth) {
        std::string text = kChat;
        text.replace(text.find("prompt: 100"), 11, "prompt: 600");
        const Setup setup =
            prepare(scenario(text + "kv: {prefix_cache: off, between_turns: swap, swap_latency: 0s, " +
                             "swap_bandwidth: " + std::to_string(bandwidth / 1e6) + "MB/s}\n"));
        RunOptions options;
        options.checked = false;
        return run(setup, options).all().ttft.mean();
    };
    std::string dropping = kChat;
    dropping.replace(dropping.find("prompt: 100"), 11, "prompt: 600");
    const double drop = run_checked(dropping + "kv: {prefix_cache: off}\n").all().ttft.mean();
    CHECK(ttft(crossover * 5) < drop);
    CHECK(ttft(crossover / 5) > drop);
}

TEST_CASE("an app that fills the memory is dealt with as the killer's rules say", "[sim][capacity]") {
    const std::string base =
        "duration: 1000s\n"
        "deployment: {model: llama-3.2-1b, device: raspberry-pi-5:4GiB, quant: Q4_K_M, context: 2048}\n"
        "apps:\n"
        "  - {name: user, arrivals: {law: fixed, rate: 1/min}, prompt: 50, output: 10}\n"
        "memory:\n"
        "  system: 1GiB\n"
        "  killer: lmkd\n"
        "  page_cache: lru\n";
    // 4 - 1 GiB and 2.8 GiB of browser: the weights (0.76 GB) cannot stay.
    const RunResult spared = run_checked(base + "  others: [{name: browser, size: 100MiB, adj: 900}]\n");
    CHECK(spared.kills == 0);
    CHECK(spared.fault_bytes == 0);
    const RunResult killed = run_checked(base + "  others: [{name: browser, size: 2.8GiB, adj: 900}]\n");
    CHECK(killed.kills == 1);  // once, and it does not come back
    CHECK(killed.own_kills == 0);
    // Ours is the only one that may be killed: it starts again each time it is needed.
    std::string ours =
        base + "  others: [{name: radio, size: 2.8GiB, adj: 0}]\n  adj_idle: 900\n  adj_busy: 900\n";
    const RunResult again = run_checked(ours);
    CHECK(again.kills == 0);
    CHECK(again.own_kills > 1);
    CHECK(again.loads + 1 >= again.own_kills);  // it was loaded at the start
    // Nobody kills: the weights are read again and again instead.
    std::string none = base + "  others: [{name: radio, size: 2.8GiB, adj: 0}]\n";
    none.replace(none.find("lmkd"), 4, "none");
    const RunResult paging = run_checked(none);
    CHECK(paging.own_kills == 0);
    CHECK(paging.fault_bytes > 0);
    CHECK(paging.all().tpot.mean() > 2 * spared.all().tpot.mean());
}

TEST_CASE("the cliff is where an exhaustive search finds it", "[sim][capacity]") {
    Scenario s = scenario(
        "duration: 20min\n"
        "deployment: {model: llama-3.2-1b, device: raspberry-pi-5:8GiB, quant: Q4_K_M, context: 1024, "
        "sequences: 4}\n"
        "kv: {block_tokens: 64}\n"
        "apps:\n"
        "  - {name: chat, arrivals: {law: poisson, rate: 2.5/min}, prompt: 200, output: 60}\n"
        "objectives: {ttft_p95: 12s}\n");
    RunOptions options;
    options.checked = false;
    const CapacityAnswer answer = find_pool(s, options);
    REQUIRE(answer.best > 0);
    const Setup own = prepare(s);
    const auto holds_at = [&](std::int64_t tokens) {
        Scenario changed = s;
        changed.kv.pool_bytes =
            static_cast<std::int64_t>((static_cast<double>(tokens) + 0.5) * own.token_bytes);
        return holds(changed.objectives, replicate(prepare(changed), 1, options));
    };
    std::int64_t smallest = 0;
    for (std::int64_t tokens = 64; tokens <= own.store.cells && smallest == 0; tokens += 64)
        if (holds_at(tokens)) smallest = tokens;
    CHECK(answer.best == smallest);
    CHECK(answer.margin == Approx(1 - static_cast<double>(smallest) / static_cast<double>(own.store.cells)));

    const CapacityAnswer users = find_users(s, options);
    std::int64_t most = 0;
    for (std::int64_t n = 1; n < 40; ++n) {
        Scenario changed = s;
        changed.apps[0].users = static_cast<double>(n);
        if (!holds(changed.objectives, replicate(prepare(changed), 1, options))) break;
        most = n;
    }
    CHECK(users.best == most);
    s.objectives = {};
    CHECK_THROWS_AS(find_users(s, options), Error);
}

TEST_CASE("overload is not hidden by requests that never started", "[sim][capacity]") {
    const Scenario s = scenario(
        "duration: 100s\n"
        "deployment: {model: llama-3.2-1b, device: raspberry-pi-5:8GiB, quant: Q4_K_M, context: 1024}\n"
        "apps: [{name: flood, arrivals: {law: fixed, rate: 10/s}, prompt: 900, output: 100}]\n"
        "objectives: {ttft_p95: 60s}\n");
    RunOptions options;
    options.checked = false;
    const auto runs = replicate(prepare(s), 1, options);
    CHECK(runs[0].all().unfinished > 900);
    CHECK_FALSE(holds(s.objectives, runs));
}

TEST_CASE("a crowd that never gets through is counted to the end", "[sim][capacity]") {
    // A hundred thousand wait for days: more request-nanoseconds than 64 bits hold.
    const RunResult r = run_checked(
        "duration: 5d\ndeployment: {model: llama-3.2-1b, device: raspberry-pi-5:8GiB, quant: Q4_K_M, "
        "context: "
        "4096}\napps: [{name: crowd, arrivals: {law: fixed, rate: 2/s}, prompt: 3000, output: 1000}]\n");
    CHECK(r.in_system_integral > 1.85e10);
    CHECK(r.all().refused > 0);
}

TEST_CASE("speculation speeds up by the closed form", "[sim][capacity]") {
    const std::string text =
        "duration: 3000s\n"
        "deployment: {model: llama-3.1-8b, device: rtx-4090, quant: Q4_K_M, context: 4096DRAFT}\n"
        "apps: [{name: load, arrivals: {law: fixed, rate: 1/min}, prompt: 20, output: 3000}]\n";
    std::string with = text, without = text;
    with.replace(with.find("DRAFT"), 5, ", draft: \"llama-3.2-1b:Q4_K_M\", draft_tokens: 4, acceptance: 0.7");
    without.replace(without.find("DRAFT"), 5, "");
    const RunResult a = run_checked(without), b = run_checked(with);
    const double mean = (1 - std::pow(0.7, 5)) / 0.3;
    CHECK(1 + 4 * find_metric("draft_acceptance")->value(b, b.all()) == Approx(mean).epsilon(0.01));
    CHECK(b.all().tpot.mean() < a.all().tpot.mean());
}

TEST_CASE("an empty battery ends the day until the charger comes", "[sim][capacity]") {
    const RunResult r = run_checked(
        "duration: 24h\n"
        "starts_at: 8\n"
        "deployment: {model: llama-3.2-1b, device: pixel-9-pro, quant: Q4_K_M, context: 1024}\n"
        "apps: [{name: user, arrivals: {law: fixed, rate: 6/h}, prompt: 20, output: 20}]\n"
        "power: {battery: 4Wh, idle: 1W, active: 5W, charger: 10W, plugged_from: 20, plugged_to: 22}\n");
    // 4 Wh at a little over 1 W: gone before noon, charged from 20 to 22 h, gone again in the night.
    CHECK(r.off_seconds > 8 * 3600);
    CHECK(r.off_seconds < 16 * 3600);
    CHECK(r.all().refused > 40);
    CHECK(r.all().finished > 30);
    CHECK(r.loads >= 1);
    CHECK(r.joules < 2.1 * 4 * 3600 + 2 * 3600 * 2);
    // Without a charger the hours are Wh over the mean of what is drawn.
    const RunResult once = run_checked(
        "duration: 12h\n"
        "deployment: {model: llama-3.2-1b, device: pixel-9-pro, quant: Q4_K_M, context: 1024}\n"
        "apps: [{name: user, arrivals: {law: fixed, rate: 60/h}, prompt: 20, output: 20}]\n"
        "power: {battery: 4Wh, start: 75%, cut_off: 25%, idle: 500mW, active: 5W}\n");
    CHECK(once.joules == Approx(0.5 * 4 * 3600).epsilon(1e-9));
    const double on = 12 * 3600 - once.off_seconds;
    CHECK(on == Approx(once.joules / (0.5 + 5 * once.busy_seconds / on)).epsilon(1e-9));
    CHECK(once.battery_end == 0.25);
    // Nothing happens for hours around the end: it is known to the second all the same.
    const RunResult quiet = run_checked(
        "duration: 48h\nstarts_at: 0\n"
        "deployment: {model: llama-3.2-1b, device: pixel-9-pro, quant: Q4_K_M, context: 1024}\n"
        "apps: [{name: user, arrivals: {law: fixed, rate: 1/d}, prompt: 1, output: 1}]\n"
        "power: {battery: 4Wh, idle: 500mW, active: 1mW, charger: 2W, plugged_from: 20, plugged_to: 21}\n");
    // 8 h of 4 Wh, then off; 20 to 21 h: up by 2 Wh less what is drawn (1.5 Wh), which lasts until 24 h: 11
    // h. Off from 8 to 20 h, and after midnight until 20 h of the second day, 0 to 24 h.
    CHECK(quiet.off_seconds == Approx(3600.0 * (12 + 20)).epsilon(1e-3));
    CHECK(quiet.all().refused == 1);
}

TEST_CASE("documents say what the run was", "[sim][capacity]") {
    const Setup s = prepare(scenario(kChat));
    RunOptions options;
    options.checked = false;
    options.slices = true;
    const auto runs = replicate(s, 3, options);
    using Catch::Contains;
    const std::string json = simulate_json(s, runs, 1);
    CHECK_THAT(json, Contains("\"memwall/simulate/1\"") && Contains("ttft_p95_seconds") &&
                         Contains("\"owner\": \"chat\""));
    CHECK_THAT(metrics_csv(runs), Contains("metric,mean,half_width_95,run_1,run_2,run_3"));
    CHECK_THAT(perfetto_json(runs[0]), Contains("traceEvents") && Contains("\"ph\":\"X\""));
    CHECK_THAT(simulate_text(s, runs, false, 100, true), Contains("time to first token") && Contains("+-"));
    CHECK(simulate_json(s, replicate(s, 3, options, {}, 1), 1) == json);  // byte for byte, on one thread too
}
