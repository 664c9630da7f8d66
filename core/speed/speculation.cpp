#include "core/speed/speculation.h"

#include <cmath>

namespace memwall::speed {
namespace {

// Published tokens a round on one box (SPEED_AND_SIM B.1): code 2.8 to 5.4 per block of 5, German prose 1.25
// to 1.52; chat lies between. The shares are these counts put through expected_tokens() backwards.
constexpr AcceptancePrior kPriors[] = {
    {"chat", 0.40, 0.60, 0.80, "between the published code and prose figures"},
    {"code", 0.65, 0.78, 0.93, "2.8 to 5.4 tokens a block on code"},
    {"prose", 0.20, 0.28, 0.35, "1.25 to 1.52 tokens a block on German prose"},
};

}  // namespace

double expected_tokens(double a, std::int64_t g) {
    const auto n = static_cast<double>(g + 1);
    return a >= 1 ? n : (1 - std::pow(a, n)) / (1 - a);
}

double token_variance(double a, std::int64_t g) {
    // P(N = k) = a^(k-1) (1 - a) for k <= g, P(N = g + 1) = a^g.
    double mean = 0, square = 0, reach = 1;
    for (std::int64_t k = 1; k <= g; ++k) {
        const double p = reach * (1 - a), n = static_cast<double>(k);
        mean += n * p;
        square += n * n * p;
        reach *= a;
    }
    const auto n = static_cast<double>(g + 1);
    mean += n * reach;
    square += n * n * reach;
    return square - mean * mean;
}

const AcceptancePrior& acceptance_prior(std::string_view task) {
    for (const AcceptancePrior& p : kPriors)
        if (p.task == task) return p;
    return kPriors[0];
}

SpeculativeStep speculate(const Interval<Seconds>& plain, Seconds draft, Seconds verify, std::int64_t g,
                          const Interval<double>& acceptance) {
    SpeculativeStep s;
    s.round = static_cast<double>(g) * draft + verify;
    s.tokens_per_round = expected_tokens(acceptance.central, g);
    const double cost = s.round / plain.central;  // of one round in plain steps
    s.speed_up = s.tokens_per_round / cost;
    const auto per_token = [&](Seconds step, double a) { return step * (cost / expected_tokens(a, g)); };
    s.per_token = {per_token(plain.low, acceptance.high), per_token(plain.central, acceptance.central),
                   per_token(plain.high, acceptance.low), plain.level, plain.basis};
    if (cost > static_cast<double>(g + 1)) {
        s.break_even_acceptance = 2;
    } else {
        double low = 0, high = 1;  // E grows with acceptance
        for (int i = 0; i < 60; ++i) {
            const double mid = (low + high) / 2;
            (expected_tokens(mid, g) < cost ? low : high) = mid;
        }
        s.break_even_acceptance = high;
    }
    return s;
}

}  // namespace memwall::speed
