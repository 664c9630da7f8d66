#include "core/speed/speculation.h"

#include <cmath>
#include <random>

#include "core/model/catalog.h"
#include "core/quant/recipe.h"
#include "core/speed/decode.h"
#include "devices/catalog.h"
#include "tests/catch.h"

using namespace memwall;
using namespace memwall::speed;

TEST_CASE("tokens of a round follow the truncated geometric law", "[speed]") {
    CHECK(expected_tokens(0, 4) == 1);
    CHECK(expected_tokens(1, 4) == 5);
    CHECK(expected_tokens(0.5, 1) == 1.5);
    CHECK(token_variance(0, 4) == Approx(0));
    CHECK(token_variance(1, 4) == Approx(0));
    const unsigned seed = 7;
    INFO("seed " << seed);
    std::mt19937 random(seed);
    for (const double a : {0.3, 0.6, 0.9}) {
        std::bernoulli_distribution accepted(a);
        constexpr int kRounds = 200000;
        double sum = 0, squares = 0;
        for (int i = 0; i < kRounds; ++i) {
            int n = 1;
            while (n <= 4 && accepted(random)) ++n;
            sum += n;
            squares += n * n;
        }
        const double mean = sum / kRounds;
        CHECK(mean == Approx(expected_tokens(a, 4)).epsilon(0.01));
        CHECK(squares / kRounds - mean * mean == Approx(token_variance(a, 4)).epsilon(0.02));
    }
}

TEST_CASE("break-even is where a round pays for itself", "[speed]") {
    const auto plain = Interval<Seconds>::exact(Seconds(1));
    const auto at = [&](double a) {
        return speculate(plain, Seconds(0.1), Seconds(1.1), 4, Interval<double>::exact(a));
    };
    const double even = at(0.5).break_even_acceptance;
    CHECK(at(even).speed_up == Approx(1).epsilon(1e-6));
    CHECK(at(even + 0.1).speed_up > 1);
    CHECK(at(even - 0.1).speed_up < 1);
    CHECK(at(0.8).per_token.central.value == Approx(1.5 / expected_tokens(0.8, 4)));
    // A draft as slow as its target never pays.
    CHECK(speculate(plain, Seconds(1), Seconds(1.5), 4, Interval<double>::exact(0.9)).break_even_acceptance >
          1);
}

TEST_CASE("published tokens a block lie inside the acceptance priors", "[speed]") {
    const auto& code = acceptance_prior("code");
    CHECK(expected_tokens(code.low, 5) <= 2.8);
    CHECK(expected_tokens(code.high, 5) >= 5.0);
    const auto& prose = acceptance_prior("prose");
    CHECK(expected_tokens(prose.low, 5) <= 1.26);
    CHECK(expected_tokens(prose.high, 5) >= 1.52);
}

TEST_CASE("a published multi-token-prediction sweep comes out within 20 % for one and two drafted tokens",
          "[speed]") {
    // Qwen3.5-4B Q4_K_S with its own prediction block on a Radeon 890M (report spd-890m-qwen35-4b-mtp):
    // tokens/s and acceptance by drafted tokens; 29.61 tokens/s without. At 4 and more the engine leaves its
    // path for few tokens and the gain collapses (0.29x at 6), which no model of bytes and operations shows:
    // memwall warns there instead.
    const struct {
        int drafted;
        double per_second, acceptance;
    } rows[] = {{1, 38.41, 0.78}, {2, 39.84, 0.65}, {3, 39.31, 0.57}};
    const model::Model model = *model::load_catalog_model("qwen3.5-4b");
    const Workload work = prepare_workload(model, quant::assign(quant::parse_recipe("Q4_K_S"), model));
    const Machine machine =
        machine_for(devices::resolve_device("amd-hx-370:32GiB"), device::ProcessorKind::gpu);
    SpeedSettings settings;
    settings.context = 256;
    const KvTraffic kv = plain_traffic(model);
    const TimeTerms plain = decode_step(work, machine, kv, settings);
    // The block is one layer and reads the head as the model does.
    const double share = (work.head.bytes + work.body.bytes / static_cast<double>(model.layers.size())) /
                         work.touched_bytes(1);
    for (const auto& row : rows) {
        const TimeTerms verify = verification_step(work, machine, kv, settings, row.drafted + 1);
        const auto s = speculate(plain.total, plain.total.central * share, verify.total.central, row.drafted,
                                 Interval<double>::exact(0.5));
        const double tokens =
            1 + row.acceptance * row.drafted;  // acceptance is counted over all drafted tokens
        const double predicted = tokens / (s.round / plain.total.central);
        INFO(row.drafted << " drafted: " << predicted << "x, measured " << row.per_second / 29.61 << "x");
        // At three the engine's kernels for few tokens already cost more than bytes say: 21 % off.
        CHECK(predicted == Approx(row.per_second / 29.61).epsilon(row.drafted < 3 ? 0.20 : 0.25));
    }
}
