// How fast the simulator is, one thread, nothing skipped:
//   decode        one sequence decoding, then eight: tokens a second
//   phone-day     the preset: simulated seconds a second
//   conversation  a synthetic twin of the Azure conversation trace of 2023: 19,366 requests in 3,502 s,
//   Poisson
//                 (its CV was 1.09), prompts lognormal (mu 6.63, sigma 0.99) and answers (5.02, 0.86) as
//                 fitted in SPEED_AND_SIM A.4, on a device fast enough to keep up
#include <fmt/format.h>

#include <chrono>
#include <string>

#include "sim/run.h"

using namespace memwall::sim;

namespace {

struct Timed {
    RunResult result;
    double seconds = 0;
};

Timed timed(Scenario scenario) {
    const Setup setup = prepare(std::move(scenario));
    RunOptions options;
    options.checked = false;
    const auto begin = std::chrono::steady_clock::now();
    Timed t{run(setup, options), 0};
    t.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return t;
}

void decode(int sequences) {
    const Timed t = timed(read_scenario(
        fmt::format("schema: memwall/scenario/1\n"
                    "duration: 8000s\n"
                    "deployment: {{model: llama-3.2-1b, device: rtx-4090, quant: Q4_K_M, context: 4096, "
                    "sequences: {}}}\n"
                    "apps:\n"
                    "  - {{name: load, arrivals: {{law: fixed, rate: {}/s}}, prompt: 10, output: 4000}}\n",
                    sequences, sequences),
        "bench"));
    const auto tokens = static_cast<double>(t.result.all().output_tokens);
    fmt::print("decode, {} sequence(s): {:.2f} M tokens in {:.2f} s, {:.2f} M tokens/s, {:.2f} M steps/s\n",
               sequences, tokens / 1e6, t.seconds, tokens / t.seconds / 1e6,
               static_cast<double>(t.result.steps) / t.seconds / 1e6);
}

}  // namespace

int main() {
    decode(1);
    decode(8);
    const Timed day = timed(open_scenario("phone-day"));
    fmt::print("phone-day: {:.0f} s in {:.3f} s, {:.0f} simulated s/s, {} requests\n", day.result.seconds,
               day.seconds, day.result.seconds / day.seconds, day.result.all().arrived);
    const Timed twin =
        timed(read_scenario("schema: memwall/scenario/1\n"
                            "duration: 3502s\n"
                            "deployment: {model: llama-3.2-1b, device: nvidia-h100-sxm, quant: Q4_K_M, "
                            "context: 16384, sequences: 128}\n"
                            "serving: {token_budget: 2048}\n"
                            "kv: {pool: 30GB}\n"
                            "apps:\n"
                            "  - name: conversation\n"
                            "    arrivals: {law: poisson, rate: 5.53/s}\n"
                            "    prompt: {law: lognormal, median: 757, sigma: 0.99, most: 14000}\n"
                            "    output: {law: lognormal, median: 151, sigma: 0.86, most: 2000}\n",
                            "bench"));
    fmt::print("conversation: {} requests, {:.2f} M output tokens, {} unfinished, in {:.2f} s\n",
               twin.result.all().arrived, static_cast<double>(twin.result.all().output_tokens) / 1e6,
               twin.result.all().unfinished, twin.seconds);
}
