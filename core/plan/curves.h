// Plans sampled along one axis: what charts draw. Every point is evaluate()'s.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/plan/advise.h"
#include "core/plan/prepare.h"

namespace memwall::plan {

/// The classes of memory that charts tell apart, in the order in which they are stacked.
enum class Part : std::uint8_t { weights, kv, state, compute, draft, overhead };
inline constexpr std::size_t kParts = 6;
Part part_of(Item item);

/// Bytes by part of a pool's items, together what is needed of them: where a second copy of weights replaces
/// pages of the file, `used` exceeds `needed`, and the weights are shown once.
using Parts = std::array<double, kParts>;
Parts parts_needed(const std::array<double, kItems>& items, double used, double needed);
Parts parts_needed(const PoolUse& pool);  ///< central values

struct ContextPoint {
    std::int64_t context = 0;
    Parts parts{};
    Interval<Bytes> needed;  ///< in the pool asked for
    bool timed = false;
    Interval<PerSecond> decode;
};

/// A context somewhat beyond the largest that fits, so that a linear axis shows the crossing; at most what
/// the model was trained for unless the knobs ask for more.
std::int64_t context_axis_end(const Prepared& prepared, const Knobs& knobs, const Advice& advice);

/// `points` contexts from 256 to `last`, evenly; memory of the pool with that index.
std::vector<ContextPoint> context_curve(const Prepared& prepared, const Knobs& knobs, const Target& target,
                                        std::size_t pool, std::int64_t last, int points = 97);

/// What one more token of one sequence adds to the cache, all layers that keep every token.
Bytes kv_bytes_per_token(const Prepared& prepared, const Knobs& knobs);

struct PromptPoint {
    std::int64_t prompt = 0;
    Interval<Seconds> first_token;
};

/// `points` prompts from `first` to `last` in equal ratios; empty when the processor's prefill rate is
/// unknown.
std::vector<PromptPoint> prompt_curve(const Prepared& prepared, const Knobs& knobs, const Target& target,
                                      std::int64_t first, std::int64_t last, int points = 49);

}  // namespace memwall::plan
