// Decisions over searched candidates: what the user demands, what breaks it, the Pareto front in latency,
// memory and quality, and the answer under a priority. Nothing here computes a number of a plan.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/plan/search.h"

namespace memwall::plan {

/// The goals of the triangle. Latency is the time of a job (first token and all others), because with decode
/// speed alone latency and memory are the same number: bytes read.
enum class Goal : std::uint8_t { latency, memory, quality };
inline constexpr std::size_t kGoals = 3;
std::string_view goal_name(Goal goal);

/// Zero = not demanded.
struct Constraints {
    Bytes max_memory{};     ///< of the footprint in all pools
    double min_decode = 0;  ///< tokens/s
    double max_ttft = 0;    ///< seconds to the first token, model loaded
    double max_job = 0;     ///< seconds for prompt and generated tokens
    double max_load = 0;    ///< seconds from cold storage
    double max_energy = 0;  ///< joules a token
    std::int64_t min_context = 0;
    double min_quality = 0;  ///< share of tokens that stay the most likely one, 0..1 (top-1 agreement)
    /// One-sided: the share of cases that must meet a limit; 0.5 compares central values, 0.95 the far end of
    /// the printed 90 % interval.
    double confidence = 0.5;
    bool allow_unknown_quality = false;  ///< admit what quality refuses to estimate
};

/// Why a candidate is not admitted; a set of bits.
enum Broken : std::uint16_t {
    kUnsupported = 1,
    kDoesNotFit = 2,
    kUndecided = 4,  ///< the budget lies inside the interval
    kMemory = 8,
    kDecode = 16,
    kFirstToken = 32,
    kJob = 64,
    kContext = 128,
    kQuality = 256,
    kQualityUnknown = 512,
    kSpeedUnknown = 1024,
    kLoad = 2048,
    kEnergy = 4096,
};
inline constexpr std::size_t kBrokenKinds = 13;
/// "does_not_fit", "decode" ...: stable, for JSON.
std::string_view broken_name(Broken one);
/// In words with the candidate's number and the limit: "decodes 3.1 tokens/s, 5 asked".
std::string broken_text(Broken one, const Candidate& candidate, const Constraints& constraints);

std::uint16_t broken(const Candidate& candidate, const Constraints& constraints);
/// The bits of a set, one by one.
std::vector<Broken> broken_list(std::uint16_t set);

/// The one-sided quantile of an interval, log-normal between its ends: 0.5 = central.
double quantile(double low, double central, double high, double level, double p);

/// What is compared: job seconds (Candidate::latency), footprint bytes, share of other most likely tokens
/// (not below the noise of 0.26 %, QUALITY a.5). Smaller is better in all.
std::array<double, kGoals> goals(const Candidate& candidate);

struct Decision {
    std::vector<std::uint32_t> admitted;  ///< indices of candidates
    std::vector<std::uint32_t>
        front;  ///< those of them that no other beats in one goal and matches in the rest
    std::array<std::int64_t, kGoals> best{-1, -1,
                                          -1};  ///< the answer under each priority; -1 = none admitted
    std::vector<std::uint16_t> broken;          ///< by candidate
};

Decision decide(std::span<const Candidate> candidates, const Constraints& constraints);

/// The candidate that breaks least (fewest demands, of those the smallest footprint), of one recipe or of all
/// (-1); -1 if there is none.
std::int64_t closest(std::span<const Candidate> candidates, const Decision& decision, int recipe = -1);

/// Where a plan is strong: log-min-max merits over the admitted (1 = best of them, 0 also for unknown), and
/// their softmax with beta 3.2, which is the point's place in the balance triangle. Merits sum to nothing in
/// particular, balance to 1.
struct Merits {
    std::array<double, kGoals> merit{}, balance{};
};
std::vector<Merits> merits(std::span<const Candidate> candidates, std::span<const std::uint32_t> admitted);

/// The ends between which merits are measured.
struct MeritScale {
    std::array<double, kGoals> low{}, high{};
};
MeritScale merit_scale(std::span<const std::array<double, kGoals>> goals,
                       std::span<const std::uint32_t> among);

/// As merits() for what lies on the scale; what lies beyond is put at its ends, an unknown at 0.
Merits merits_on(const MeritScale& scale, const std::array<double, kGoals>& goals);

/// The usual shapes of use.
struct Preset {
    std::string_view name, about;
    Constraints constraints;
    Goal priority;
    std::int64_t prompt, generate;
};
std::span<const Preset> presets();
/// nullptr if there is none.
const Preset* find_preset(std::string_view name);

}  // namespace memwall::plan
