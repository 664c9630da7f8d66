// Decisions drawn from evaluate(): the largest context, and the smallest single changes that make a plan fit.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/plan/prepare.h"

namespace memwall::plan {

struct Suggestion {
    std::string option;  ///< as typed: "--context", "--kv"
    std::string from, to;
    std::string effect;  ///< "needs 5.2 GiB of 6.0 GiB"
};

struct Warning {
    std::string code;  ///< stable: "truncated_file", "context_beyond_training" ...
    std::string text;
};

struct Advice {
    std::int64_t max_context_tokens = 0;  ///< per sequence, at most the trained context; 0 = none fits
    bool max_context_is_trained = false;  ///< the model's training ends it, not the memory
    std::int64_t kv_exceeds_weights_at_tokens = 0;  ///< per sequence; 0 = never (below 2^31 tokens)
    std::vector<Suggestion> suggestions;            ///< smallest change first; empty when the plan fits
    std::vector<Warning> warnings;
    std::string reason;   ///< the verdict in words, one line
    Bytes weights_limit;  ///< weights above this cannot fit whatever else stays as it is
};

/// Largest context per sequence whose verdict is `fits`, up to `limit` tokens; the verdict is monotone in it.
std::int64_t max_context_tokens(const Prepared& prepared, const Knobs& knobs, const Target& target,
                                std::int64_t limit);

/// The smallest context at which cache and state outgrow the weights; 0 if that never happens.
std::int64_t kv_exceeds_weights_at_tokens(const Prepared& prepared, const Knobs& knobs);

std::string reason_text(const Prepared& prepared, const Knobs& knobs, const Target& target, const Plan& plan);

/// Everything above for one plan. `prepared` is prepared anew for other recipes through its own deployment.
Advice advise(const Prepared& prepared, const Knobs& knobs, const Target& target, const Plan& plan);

}  // namespace memwall::plan
