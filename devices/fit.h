// What runs on a device: every model of the catalogue, each in its best configuration.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/plan/decision_options.h"
#include "core/quality/scores.h"
#include "devices/planning.h"

namespace memwall::devices {

/// One model's best configuration under the demands; without one, the closest and what it breaks.
struct Fitted {
    std::string model, family;
    std::int64_t parameters = 0, active_parameters = 0;
    plan::Grid grid;
    plan::Candidate best;
    bool admitted = false;
    std::uint16_t broken = 0;
    std::optional<quality::Score> score;  ///< in the lane asked for, of the unquantized model
    plan::Deployment deployment;          ///< of `best`
};

enum class Rank : std::uint8_t { score, latency, memory, quality, size };
std::optional<Rank> parse_rank(const std::string& name);

/// All text decoders of the catalogue whose id or family holds `search`, on all cores. `base` gives device
/// and options; drafts are not searched. Admitted ones first, in the order of `rank`: score (unknown ones
/// last, by size), job time, memory, tokens kept, parameters. Deterministic.
std::vector<Fitted> fit_catalogue(const plan::Deployment& base, const plan::Demands& demands,
                                  const std::string& search, quality::Lane lane, Rank rank,
                                  const std::function<void(std::size_t, std::size_t)>& progress);

}  // namespace memwall::devices
