// Speculative decoding: a draft proposes g tokens, the target verifies g + 1 in one pass.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/base/interval.h"
#include "core/base/units.h"

namespace memwall::speed {

/// Expected tokens a round yields when each drafted token is accepted with probability `a`, independently,
/// and the first rejection ends the round: E = (1 - a^(g+1)) / (1 - a), the bonus token included (Leviathan
/// et al. 2023, arXiv 2211.17192, equation 1). a = 1 gives g + 1.
double expected_tokens(double acceptance, std::int64_t draft_tokens);

/// Variance of the tokens of one round: truncated geometric distribution.
double token_variance(double acceptance, std::int64_t draft_tokens);

/// What acceptance to expect where nobody measured it: a range, never a promise.
struct AcceptancePrior {
    std::string_view task;
    double low, central, high;
    std::string_view source;
};
/// Derived from published tokens a round by inverting expected_tokens(); see speculation.cpp.
const AcceptancePrior& acceptance_prior(std::string_view task = "chat");

struct SpeculativeStep {
    Interval<Seconds> per_token;       ///< round time / expected tokens
    Seconds round;                     ///< g draft steps and one verification, central values
    double tokens_per_round = 1;       ///< at the central acceptance
    double speed_up = 1;               ///< over plain decoding, central values
    double break_even_acceptance = 1;  ///< below this it is slower than plain decoding; above 1 = never pays
};

/// `plain`: a decode step of the target; `draft`: one of the draft; `verify`: the target over g + 1 tokens.
/// `acceptance` carries the uncertainty of the content, the times that of the machine (which cancels in the
/// ratio of two passes on one processor, so only the plain step's range and the acceptance's widen the
/// result).
SpeculativeStep speculate(const Interval<Seconds>& plain, Seconds draft, Seconds verify,
                          std::int64_t draft_tokens, const Interval<double>& acceptance);

}  // namespace memwall::speed
