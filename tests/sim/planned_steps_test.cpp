// Step times of plans beyond one model on one processor.
#include "sim/schedule/planned_steps.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/error.h"
#include "core/speed/decode.h"
#include "core/speed/operators.h"
#include "sim/run.h"
#include "tests/catch.h"

using namespace memwall;
using namespace memwall::sim;

namespace {

Setup setup_of(const std::string& deployment, const std::string& more = {}) {
    return prepare(
        read_scenario("schema: memwall/scenario/1\nduration: 2h\ndeployment: {" + deployment +
                          ", prompt: 700, generate: 20}\napps:\n"
                          "  - {name: user, arrivals: {law: fixed, rate: 1/h}, prompt: 700, output: 20}\n" +
                          more,
                      "test.yaml"));
}

}  // namespace

TEST_CASE("layers, experts and caches with the host: one user sees what the plan says", "[sim][steps]") {
    for (const std::string& deployment :
         {std::string("model: qwen2.5-7b, device: rtx-4080, quant: Q4_K_M, context: 4096, gpu_layers: 11"),
          std::string("model: qwen2.5-7b, device: rtx-4080, quant: Q4_K_M, context: 4096, kv_pool: host"),
          std::string(
              "model: qwen3-30b-a3b, device: rtx-4080, quant: Q4_K_M, context: 4096, expert_pool: host"),
          std::string("model: qwen3-30b-a3b, device: rtx-4080, quant: Q4_K_M, context: 4096, gpu_layers: 30, "
                      "expert_pool: host, kv_pool: host")}) {
        INFO(deployment);
        const Setup s = setup_of(deployment);
        const AppResult all = run(s, {}).all();
        REQUIRE(all.finished == 2);
        const auto decode = [&](std::int64_t context) {
            plan::Knobs k = s.planned.knobs;
            k.context = context;
            return 1 / plan::evaluate(s.planned.prepared, k, s.planned.target).speed.decode.central.value;
        };
        const plan::Speed& plan = s.planned.plan.speed;
        const double ttft = plan.prefill_time.central.value + plan.tokenization.central.value + decode(700);
        double rest = 0;
        for (int i = 1; i < 20; ++i) rest += decode(700 + i);
        CHECK(std::abs(all.ttft.mean() - ttft) < 1e-9 * ttft + 2e-9);
        CHECK(std::abs(all.e2e.mean() - ttft - rest) < 1e-9 * (ttft + rest) + 2e-9);
    }
}

TEST_CASE("a split model fills whichever memory is full first", "[sim][steps]") {
    const std::string on_card =
        "model: qwen2.5-14b, device: rtx-4060, quant: Q4_K_M, context: 32768, sequences: 64";
    CHECK_THROWS_AS(setup_of(on_card), Error);  // 9 GB of weights on 8 GiB
    const Setup split = setup_of(on_card + ", gpu_layers: 20");
    const plan::Placement at = plan::place(split.planned.prepared, split.planned.knobs, split.planned.target);
    const double share = at.device_kv.as_double() / (at.device_kv + at.host_kv).as_double();
    CHECK(share == Approx(19.0 / 48).epsilon(1e-9));  // the output counts as one
    const plan::PoolUse& card = split.planned.plan.memory.pools[0];
    const double room =
        card.budget.as_double() - (card.needed.central.as_double() - at.device_kv.as_double());
    CHECK(static_cast<double>(split.store.cells) * split.token_bytes * share <= room);
    CHECK(static_cast<double>(split.store.cells + 16) * split.token_bytes * share > room);
    // Weights and buffers of both memories are ours.
    CHECK(split.fixed.weights >= split.planned.prepared.weights.total.central.value);
}

TEST_CASE("a draft computes the prompt as well", "[sim][steps]") {
    const std::string plain = "model: llama-3.1-8b, device: rtx-4090, quant: Q4_K_M, context: 4096";
    const Setup s =
        setup_of(plain + ", draft: \"llama-3.2-1b:Q4_K_M\", draft_tokens: 4, acceptance: 0.000000001");
    const AppResult all = run(s, {}).all();
    const plan::Prepared& p = s.planned.prepared;
    const plan::Target& t = s.planned.target;
    speed::SpeedSettings at = plan::speed_settings(p, s.planned.knobs);
    at.prompt = 700;
    const double drafting =
        speed::prefill(p.draft->workload, t.draft->machine, plan::kv_traffic(*p.draft, s.planned.knobs), at)
            .total.central.value;
    at.context = 700;
    const speed::KvTraffic traffic = plan::kv_traffic(p, s.planned.knobs);
    const double round = speed::verification_step(p.workload, t.machine, traffic, at, 5).total.central.value +
                         4 * speed::decode_step(p.draft->workload, t.draft->machine,
                                                plan::kv_traffic(*p.draft, s.planned.knobs), at)
                                 .total.central.value;
    const plan::Speed& plan = s.planned.plan.speed;
    const double ttft = plan.prefill_time.central.value + plan.tokenization.central.value + drafting + round;
    CHECK(std::abs(all.ttft.mean() - ttft) < 1e-9 * ttft + 2e-9);
    CHECK(drafting > 0.05 * plan.prefill_time.central.value);
}

TEST_CASE("tokens of a round have the mean and the variance of a truncated geometric law", "[sim][steps]") {
    for (const double alpha : {0.3, 0.7, 0.9}) {
        const Setup s = setup_of(
            "model: llama-3.1-8b, device: rtx-4090, quant: Q4_K_M, context: 4096, draft: "
            "\"llama-3.2-1b:Q4_K_M\", draft_tokens: 4, acceptance: " +
            std::to_string(alpha));
        PlannedSteps steps(s.planned.prepared, s.planned.knobs, s.planned.target);
        Random random(1, "drafts");
        StepWork work;
        work.decodes.push_back({0, 500, &random, 1});
        double sum = 0, squares = 0;
        constexpr int kRounds = 200'000;
        for (int i = 0; i < kRounds; ++i) {
            steps.run(work);
            const auto x = static_cast<double>(work.decodes[0].produced);
            sum += x;
            squares += x * x;
        }
        const double mean = (1 - std::pow(alpha, 5)) / (1 - alpha);
        double second = 25 * std::pow(alpha, 4);  // all four accepted, and the one that verifying adds
        for (int j = 1; j <= 4; ++j) second += j * j * (1 - alpha) * std::pow(alpha, j - 1);
        const double variance = second - mean * mean, error = std::sqrt(variance / kRounds);
        INFO("acceptance " << alpha);
        CHECK(std::abs(sum / kRounds - mean) < 3.3 * error);  // 99.9 %
        CHECK(squares / kRounds - sum / kRounds * sum / kRounds == Approx(variance).epsilon(0.01));
    }
}

TEST_CASE("skewed routing visits fewer experts", "[sim][steps]") {
    // Published figures of the closed form: 128 experts, 8 a token, 16 tokens, Zipf 0.8: 65 distinct, uniform
    // 82.
    const auto visits = zipf_visits(128, 8, 0.8);
    CHECK(speed::distinct_experts(visits, 16) == Approx(65).margin(1));
    // By draws: the eight smallest of exponential times are such a pick.
    Random random(3, "experts");
    double sum = 0;
    constexpr int kDraws = 2000;
    for (int d = 0; d < kDraws; ++d) {
        std::vector<bool> seen(128);
        for (int token = 0; token < 16; ++token) {
            std::vector<std::pair<double, std::size_t>> clocks;
            for (std::size_t i = 0; i < 128; ++i)
                clocks.emplace_back(random.exponential() * std::pow(static_cast<double>(i + 1), 0.8), i);
            std::nth_element(clocks.begin(), clocks.begin() + 8, clocks.end());
            for (std::size_t i = 0; i < 8; ++i) seen[clocks[i].second] = true;
        }
        sum += static_cast<double>(std::count(seen.begin(), seen.end(), true));
    }
    CHECK(speed::distinct_experts(visits, 16) == Approx(sum / kDraws).epsilon(0.01));
    CHECK(speed::distinct_experts(zipf_visits(128, 8, 0), 16) == Approx(speed::distinct_experts(128, 8, 16)));
    for (const double skew : {0.0, 0.5, 1.0, 2.0, 8.0})
        for (const double used : {1.0, 4.0, 31.0, 32.0}) {
            const auto p = zipf_visits(32, used, skew);
            INFO(skew << " " << used);
            CHECK(std::accumulate(p.begin(), p.end(), 0.0) == Approx(used));
            for (std::size_t i = 0; i < p.size(); ++i) {
                CHECK(p[i] <= 1 + 1e-12);
                if (i > 0) CHECK(p[i] <= p[i - 1] + 1e-12);
            }
            CHECK(speed::distinct_experts(p, 1) == Approx(used));
        }
    const std::string moe =
        "model: qwen3-30b-a3b, device: rtx-4090, quant: Q4_K_M, context: 4096, sequences: 8";
    const Setup s = setup_of(moe);
    StepConditions skewed;
    skewed.expert_skew = 0.8;
    PlannedSteps alike(s.planned.prepared, s.planned.knobs, s.planned.target);
    PlannedSteps few(s.planned.prepared, s.planned.knobs, s.planned.target, skewed);
    const auto cost = [](PlannedSteps& steps, std::uint32_t n) {
        StepWork work;
        for (std::uint32_t i = 0; i < n; ++i) work.decodes.push_back({i, 500, nullptr, 1});
        return steps.run(work);
    };
    // One token visits as many either way; eight visit fewer when they want the same ones.
    CHECK(cost(few, 1).seconds == Approx(cost(alike, 1).seconds).epsilon(1e-12));
    const auto& experts = s.planned.prepared.workload.experts[0];
    const double less = speed::distinct_experts(experts.count, experts.used, 8) -
                        speed::distinct_experts(zipf_visits(128, 8, 0.8), 8);
    CHECK(cost(alike, 8).weight_bytes - cost(few, 8).weight_bytes ==
          Approx(experts.bytes * less / experts.count).epsilon(1e-9));
    CHECK(cost(few, 8).seconds < cost(alike, 8).seconds);
    CHECK_THROWS_AS(setup_of("model: qwen2.5-7b, device: rtx-4090, quant: Q4_K_M, context: 4096",
                             "serving: {expert_skew: 0.8}\n"),
                    Error);
    CHECK(run(setup_of(moe, "serving: {expert_skew: 0.8}\n"), {}).all().finished == 2);
}
