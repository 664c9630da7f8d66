// Decode and prefill estimates against closed forms of made-up models and machines.
#include "core/speed/decode.h"

#include <cmath>
#include <random>

#include "core/speed/calibrate.h"
#include "tests/catch.h"
#include "tests/speed/small_models.h"

using namespace memwall;
using namespace memwall::speed;

namespace {

constexpr double kLayer = 1024 * 1024 * 2 + 1024 * 256 * 2 + 1024 * 2048 * 2;  // weights
constexpr double kHead = 1024 * 4096;

}  // namespace

TEST_CASE("touched weights leave out an untied input table and read a tied one", "[speed]") {
    model::Model m = test::dense();
    const Workload untied = prepare_workload(m, {});
    CHECK(untied.touched_bytes(1) == 2 * (2 * kLayer + kHead) + 2 * 1024);
    CHECK(untied.step(1, 1).ops == 2 * (2 * kLayer + kHead));
    CHECK(untied.stored_bytes == 2 * (2 * kLayer + 2 * kHead));

    m.tensors.erase(m.tensors.begin() + 1);  // no head: the input table is it
    const Workload tied = prepare_workload(m, {});
    CHECK(tied.touched_bytes(1) == untied.touched_bytes(1));
    CHECK(tied.step(1, 1).ops == untied.step(1, 1).ops);
}

TEST_CASE("distinct experts for a batch", "[speed]") {
    // Closed form at its ends; a draw by hand in between (SPEED_AND_SIM A.5: 128 experts, 8 a token, 16
    // tokens: 82).
    CHECK(distinct_experts(32, 4, 1) == Approx(4));
    CHECK(distinct_experts(32, 32, 5) == Approx(32));
    CHECK(distinct_experts(128, 8, 16) == Approx(82).margin(0.5));
    const std::uint32_t seed = 7;
    INFO("seed " << seed);
    std::mt19937 random(seed);
    double sum = 0;
    const int draws = 4000;
    for (int d = 0; d < draws; ++d) {
        std::array<bool, 128> seen{};
        for (int token = 0; token < 16; ++token)
            for (int k = 0; k < 8;) {  // without replacement within a token
                static std::array<int, 8> picked;
                const int e = static_cast<int>(random() % 128);
                if (std::find(picked.begin(), picked.begin() + k, e) != picked.begin() + k) continue;
                picked[static_cast<std::size_t>(k++)] = e;
                seen[static_cast<std::size_t>(e)] = true;
            }
        sum += static_cast<double>(std::count(seen.begin(), seen.end(), true));
    }
    CHECK(sum / draws == Approx(distinct_experts(128, 8, 16)).epsilon(0.01));
}

TEST_CASE("a mixture of experts reads what its tokens visit", "[speed]") {
    const Workload w = prepare_workload(test::mixture(16, 2), {});
    const double experts = 2.0 * 16 * 2 * 1024 * 512;  // weights of all, two layers
    const double rest = 2 * (1024.0 * 1024 * 2 + 1024 * 256 * 2 + 1024 * 16) + kHead;
    CHECK(w.touched_bytes(1) == Approx(2 * (rest + experts * 2 / 16) + 2 * 1024));
    CHECK(w.touched_bytes(8) ==
          Approx(2 * (rest + experts * distinct_experts(16, 2, 8) / 16) + 8 * 2 * 1024));
    CHECK(w.step(1, 1).ops == Approx(2 * (rest + experts * 2 / 16)));
    CHECK(w.expert_layers == 2);
}

TEST_CASE("a decode step adds weights, cache and overhead", "[speed]") {
    const model::Model model = test::dense();
    const Workload w = prepare_workload(model, {});
    const KvTraffic kv = plain_traffic(model);
    CHECK(kv_bytes_read(kv, 1000) == 1000.0 * 2 * 2 * (128 + 128) * 2);

    Machine m = test::machine();
    TimeTerms t = decode_step(w, m, kv, {.context = 1000});
    CHECK(t.weights.value == Approx(w.touched_bytes(1) / 50e9));
    CHECK(t.kv.value == Approx(kv_bytes_read(kv, 1000) / 25e9));
    CHECK(t.overhead.value == Approx(2e-4));
    CHECK(t.total.central.value == Approx(t.weights.value + t.kv.value + t.overhead.value));
    CHECK(t.total.low.value < t.total.central.value);
    CHECK(t.total.central.value * t.total.central.value == Approx(t.total.low.value * t.total.high.value));

    m.served = true;
    CHECK(decode_step(w, m, kv, {.context = 1000}).total.central.value ==
          Approx(t.total.central.value + 1e-3));
}

TEST_CASE("unpacking binds where it is slower than streaming, half floats have none", "[speed]") {
    const Machine m = test::machine();
    const KvTraffic kv;
    const Workload half = prepare_workload(test::dense("F16"), {});
    CHECK(decode_step(half, m, kv, {}).dequantization.value == 0);
    const Workload packed = prepare_workload(test::dense("Q4_K"), {});
    const TimeTerms t = decode_step(packed, m, kv, {.context = 0});
    CHECK(t.dequantization.value == Approx((2 * kLayer + kHead) / 20e9));
    CHECK(t.bound == Bound::dequantization);
    CHECK(t.total.central.value == Approx(t.dequantization.value + t.overhead.value));
    // Values in two bit fields cost more by the machine's factor.
    Machine split = m;
    split.split_field_cost = 2;
    const Workload q6 = prepare_workload(test::dense("Q6_K"), {});
    CHECK(decode_step(q6, split, kv, {}).dequantization.value == Approx(2 * (2 * kLayer + kHead) / 20e9));
}

TEST_CASE("a faster machine is never slower", "[speed]") {
    const std::uint32_t seed = 20261129;
    INFO("seed " << seed);
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> exponent(-3, 3);
    const model::Model model = test::mixture(16, 2);
    const Workload w = prepare_workload(model, {});
    const KvTraffic kv = plain_traffic(model);
    for (int i = 0; i < 2000; ++i) {
        Machine m = test::machine();
        for (double& r : m.rates.central) r *= std::exp(exponent(random));
        SpeedSettings s{.context = 1 + static_cast<std::int64_t>(random() % 100000),
                        .sequences = 1 + static_cast<std::int64_t>(random() % 64),
                        .prompt = 1 + static_cast<std::int64_t>(random() % 5000)};
        const double step = decode_step(w, m, kv, s).total.central.value;
        const double prompt = prefill(w, m, kv, s).total.central.value;
        for (const Rate r : {weight_stream, dequantization, kv_stream, matrix_rate, attention_rate}) {
            Machine faster = m;
            faster.rates.central[r] *= 1.5;
            CHECK(decode_step(w, faster, kv, s).total.central.value <= step);
            CHECK(prefill(w, faster, kv, s).total.central.value <= prompt);
        }
        SpeedSettings longer = s;
        longer.context += 100;
        CHECK(decode_step(w, m, kv, longer).total.central.value >= step);
    }
}

TEST_CASE("a prompt is bound by arithmetic and padded to compiled lengths", "[speed]") {
    const model::Model model = test::dense();
    const Workload w = prepare_workload(model, {});
    Machine m = test::machine();
    const TimeTerms t = prefill(w, m, {}, {.prompt = 512});
    const double matrix = (2 * 2 * kLayer * 512 + 2 * kHead) / 1e12;
    const double attention = 2 * 2 * 8 * 256.0 * (512.0 * 513 / 2) / 1e12;
    CHECK(t.total.central.value == Approx(matrix + attention));
    CHECK(t.bound == Bound::compute);
    // A cached prefix is not computed again, but still attended to.
    const TimeTerms cached = prefill(w, m, {}, {.prompt = 512, .cached_prompt = 256});
    CHECK(cached.total.central.value ==
          Approx((2 * 2 * kLayer * 256 + 2 * kHead) / 1e12 +
                 2 * 2 * 8 * 256.0 * (512.0 * 513 / 2 - 256.0 * 257 / 2) / 1e12));
    m.prompt_chunk = 128;
    CHECK(prefill(w, m, {}, {.prompt = 130}).total.central.value ==
          prefill(w, m, {}, {.prompt = 256}).total.central.value);
}

TEST_CASE("without a cache every token costs the whole prompt", "[speed]") {
    const model::Model model = test::dense();
    const Workload w = prepare_workload(model, {});
    const Machine m = test::machine();
    const double once = decode_without_cache(w, m, {}, {.context = 1023}).total.central.value;
    CHECK(once == prefill(w, m, {}, {.prompt = 1024}).total.central.value);
    const double twice = decode_without_cache(w, m, {}, {.context = 2047}).total.central.value;
    CHECK(twice > 2 * once);  // attention grows with the square
}

TEST_CASE("windows bound what a query sees", "[speed]") {
    CHECK(seen_cells(1, 99, 0) == 100);
    CHECK(seen_cells(1, 99, 32) == 32);
    double sum = 0;
    for (int i = 1; i <= 50; ++i) sum += std::min(20 + i, 32);
    CHECK(seen_cells(50, 20, 32) == sum);
}

TEST_CASE("the slowdown over context shares the machine", "[speed]") {
    const model::Model model = test::dense();
    const Workload w = prepare_workload(model, {});
    const KvTraffic kv = plain_traffic(model);
    const Machine m = test::machine();
    const Interval<double> s = context_slowdown(w, m, kv, {}, 1000, 10000);
    const auto at = [&](std::int64_t n) { return decode_step(w, m, kv, {.context = n}).total.central.value; };
    CHECK(s.central == Approx(at(10000) / at(1000)));
    CHECK(s.low > 1);  // more cache is never faster, whatever the rates
    CHECK(context_slowdown(w, m, kv, {}, 1000, 1000).high == Approx(1));
}

TEST_CASE("saturation of cores", "[speed]") {
    // llama.cpp PR 11390, Llama-3.2-1B Q4_0: tokens/s at 1, 2, 4, 6, 8, 10 threads.
    const double measured[] = {47.84, 87.31, 157.63, 188.15, 237.4, 243.65};
    const int threads[] = {1, 2, 4, 6, 8, 10};
    for (int i = 0; i < 6; ++i)
        CHECK(core_saturation(threads[i], 10) == Approx(measured[i] / measured[5]).epsilon(0.08));
    CHECK(core_saturation(0, 8) == 1);
    CHECK(core_saturation(12, 8) == 1);
}
