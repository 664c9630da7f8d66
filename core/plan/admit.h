// Why a candidate is not admitted, and the smallest change that would admit it: of its options, or of the
// limits.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/plan/decide.h"

namespace memwall::plan {

/// One option that has to change: `--quant` from Q6_K to Q4_K_M.
struct OptionChange {
    std::string option, from, to;
    friend bool operator==(const OptionChange&, const OptionChange&) = default;
};

/// How one candidate of a grid differs from another, in the order of the axes.
std::vector<OptionChange> changes(const Grid& grid, const Candidate& from, const Candidate& to);

struct SmallestChange {
    /// Admitted under the limits as they are, with the fewest options changed; of those the one nearest in
    /// footprint, job and tokens kept. -1 = none is admitted.
    std::int64_t candidate = -1;
    std::vector<OptionChange> options;
    /// The limits moved just as far as the candidate itself needs, and which of them; empty where moving
    /// limits cannot help: it is unsupported, does not fit the device, or a number is unknown.
    Constraints limits;
    std::vector<Broken> moved;
};

/// Of candidate `index` of one grid. `decision` is decide()'s over the same candidates under `limits`.
SmallestChange smallest_change(const Grid& grid, std::span<const Candidate> candidates,
                               const Decision& decision, const Constraints& limits, std::size_t index);

/// `limits` moved until `candidate` breaks none of them; what moved is added to `moved`. Kept where a limit
/// cannot be moved.
Constraints relaxed(const Candidate& candidate, const Constraints& limits, std::vector<Broken>& moved);

}  // namespace memwall::plan
