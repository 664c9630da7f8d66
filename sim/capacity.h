// Questions of capacity, answered by search over runs.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/run.h"

namespace memwall::sim {

/// Throws Error when the scenario asks for nothing that could hold or not.
void need_objectives(const Scenario& scenario);

/// Whether the objectives hold over all runs together. Requests without a first token that have waited longer
/// than allowed, and refused ones, count as too late.
bool holds(const Objectives& objectives, const std::vector<RunResult>& runs);

struct CapacityPoint {
    std::int64_t value = 0;  ///< users, or tokens of the pool
    bool holds = false;
    double ttft_p95 = 0, ttft_p99 = 0, tpot_p95 = 0, e2e_p95 = 0;
};

struct CapacityAnswer {
    std::string question;  ///< "users", "pool" or "throttle"
    /// The most users, or the smallest pool in tokens, for which the objectives hold; 0 = none does. Of heat:
    /// whole seconds until the first run is slowed.
    std::int64_t best = 0;
    double users = 1;      ///< users: of the scenario as it stands, which `best` multiplies
    bool bounded = true;   ///< false: they still hold at the end of the search; no run is slowed
    std::int64_t now = 0;  ///< pool: tokens of the scenario's own
    double margin = 0;     ///< pool: share of the own pool that could go before the cliff
    double token_bytes = 0;
    /// throttle: seconds of those runs that were slowed, and how many they are of how many.
    Estimate seconds;
    std::int64_t throttled = 0, runs = 0;
    double simulated = 0;               ///< seconds of a run
    std::vector<CapacityPoint> points;  ///< everything tried, by value
};

using Progress = std::function<void(std::size_t, std::size_t)>;

/// The largest number of users of every app (`users` times so many) up to `most`, by doubling and bisection.
/// Throws Error without objectives or for apps that replay a trace.
CapacityAnswer find_users(const Scenario& scenario, const RunOptions& options, std::int64_t most = 1 << 20);

/// The KV cliff: the smallest pool, in blocks, between one block and the scenario's own. Bisection, then a
/// look at the sizes just below, since preemption makes the edge ragged.
CapacityAnswer find_pool(const Scenario& scenario, const RunOptions& options);

/// How long until the governor slows the chip. Throws Error where heat is not simulated.
CapacityAnswer find_throttle(const Scenario& scenario, const RunOptions& options);

}  // namespace memwall::sim
