// What `verify --trace` replays, and how a replay is compared: the same requests through the engine and
// through the simulator.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/verify.h"
#include "kernels/verify_serve.h"

namespace memwall::kernels {

/// The requests that TraceOptions::source names, first one at 0. Throws Error for what cannot be read and
/// when there are none.
std::vector<sim::TraceRequest> open_workload(const TraceOptions& options);

/// The share of the time that arrivals are moved for; 0 = they stay.
double load_of(const TraceOptions& options);

/// Moves arrivals closer or apart so that work of `busy` seconds fills the share `load` of the time they
/// take.
void spread(std::vector<sim::TraceRequest>& trace, double busy, double load);

/// Seconds that the requests would compute one after the other.
double busy_seconds(const std::vector<sim::TraceRequest>& trace, std::int64_t chunk, PredictedSteps& steps);

/// What is compared; means and a median over the requests of one replay, seconds.
struct ReplayMetrics {
    double tpot = 0, e2e = 0, ttft = 0;
    std::int64_t done = 0, refused = 0;
};
ReplayMetrics metrics_of(const sim::AppResult& requests);

/// Served once and simulated again with the durations of its steps.
struct Replay {
    ReplayMetrics metrics;
    std::int64_t steps = 0, alike = 0;                 ///< alike: see steps_alike()
    std::int64_t peak_blocks = 0, peak_predicted = 0;  ///< in the engine's cache; simulated again
    StepSum decoding, prompting;
    bool clean = false;  ///< every thread had its core
};
Replay replay(const sim::Setup& setup, Engine& engine, PredictedSteps& predicted);

}  // namespace memwall::kernels
