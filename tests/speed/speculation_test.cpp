#include "core/speed/speculation.h"

#include <cmath>
#include <random>

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
