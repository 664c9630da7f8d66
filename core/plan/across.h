// Deciding between models. Within one model quality is what quantization keeps; between models it is a named
// benchmark's published score of the unquantized model (core/quality/scores.h), which is never shifted by
// what quantization loses. So four things are compared: job time, footprint, score, and tokens kept. A small
// recipe of a good model and a large one of a lesser model then both stand, and nothing is claimed that was
// not measured.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/plan/decide.h"

namespace memwall::plan {

/// Of a model without a published score: shown, never ranked.
inline constexpr double kNoScore = -1;

struct AcrossDecision {
    std::vector<std::uint16_t> broken;    ///< by candidate, as decide()
    std::vector<bool> below_score;        ///< by candidate: its score misses `min_score`
    std::vector<std::uint32_t> admitted;  ///< indices; scored or not
    std::vector<std::uint32_t> front;     ///< of the scored
};

/// `scores` in percent by candidate, kNoScore for none. A score limit above 0 excludes what has none.
AcrossDecision decide_across(std::span<const Candidate> candidates, std::span<const double> scores,
                             const Constraints& limits, double min_score);

/// Smaller is better: job seconds, footprint bytes, percent of questions that the model gets wrong; infinite
/// without a score.
std::array<double, kGoals> goals_across(const Candidate& candidate, double score);

/// Index into `among` of the one whose balance is nearest to the wanted one (shares that sum to 1); -1
/// without any.
std::int64_t nearest_balance(std::span<const Merits> merits, std::span<const std::uint32_t> among,
                             const std::array<double, kGoals>& wanted);

/// How far two goals say the same over these merits: Pearson's correlation, 0 for fewer than three.
double agreement(std::span<const Merits> merits, std::span<const std::uint32_t> among, Goal a, Goal b);

}  // namespace memwall::plan
