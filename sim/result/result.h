// What a run gives, and the one table of metrics with their definitions: text, JSON, CSV and the search read
// it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/result/histogram.h"
#include "sim/schedule/scheduler.h"

namespace memwall::sim {

/// Bytes by what they are for.
struct MemoryClasses {
    std::int64_t weights = 0, kv = 0, scratch = 0, others = 0, system = 0;
    std::int64_t ours() const { return weights + kv + scratch; }
    std::int64_t total() const { return ours() + others + system; }
};

struct AppResult {
    std::string name;
    std::int64_t arrived = 0, finished = 0, cut_short = 0, refused = 0, unfinished = 0;
    std::int64_t prompt_tokens = 0, output_tokens = 0;
    std::int64_t good = 0;                  ///< finished within every objective
    Histogram queue, ttft, tpot, itl, e2e;  ///< seconds
    Histogram pending;  ///< seconds that requests without a first token had waited at the end
};

/// A slice of a request for the trace viewer.
struct TraceSlice {
    std::uint32_t app = 0;
    std::uint64_t request = 0;
    std::string_view what;  ///< "queued", "prompt", "decode", "load", "model killed", "other app killed"
    Nanoseconds from = 0, to = 0;
};

struct TimelinePoint {
    double seconds = 0;
    MemoryClasses memory;  ///< at the largest total of the interval that ends here
    double temperature = 0, speed = 1, battery = 1;
    std::int64_t running = 0, waiting = 0;
};

struct RunResult {
    double seconds = 0;  ///< simulated
    bool interrupted = false;
    std::vector<AppResult> apps;
    SchedulerCounts scheduler;
    std::int64_t steps = 0, decode_rows = 0;
    std::int64_t pool_tokens = 0;
    double busy_seconds = 0, batch_integral = 0, occupancy_integral = 0, waste_integral = 0,
           cached_integral = 0, unusable_integral = 0, free_integral = 0;
    double in_system_integral = 0;  ///< request-seconds
    std::int64_t evicted_tokens = 0, copied_tokens = 0;
    std::int64_t sessions_kept = 0, sessions_evicted = 0;
    std::string prefix_note;  ///< why hits are not used; empty = they are

    MemoryClasses peak;
    double peak_seconds = 0;
    std::string peak_owner;
    MemoryClasses mean;  ///< time-weighted
    std::vector<TimelinePoint> timeline;

    double swapped_bytes = 0, fault_bytes = 0, paging_seconds = 0;
    std::int64_t kills = 0, own_kills = 0, loads = 0, card_refusals = 0;
    double loading_seconds = 0, card_wait_seconds = 0, load_cached_bytes = 0;
    double joules = 0, battery_end = 1, off_seconds = 0;
    double battery_joules = 0;  ///< capacity; 0 = runs from the wall
    bool battery = false, thermal = false, memory = false, card = false, objectives = false;
    /// Seconds of computing by the speed that the governor granted: the i-th of up to i + 1 tenths, the last
    /// of full speed.
    std::array<double, 11> speed_seconds{};
    double throttled_seconds = 0, first_throttle_seconds = -1, cut_off_seconds = 0, hottest = 0, slowest = 1;

    std::vector<TraceSlice> slices;
    std::int64_t slices_left_out = 0;

    /// Over all apps.
    AppResult all() const;
};

enum class MetricUnit : std::uint8_t { count, tokens, seconds, per_second, share, bytes, joules, celsius };

struct Metric {
    std::string_view name;  ///< of JSON, without its unit
    MetricUnit unit;
    std::string_view definition;
    double (*value)(const RunResult&, const AppResult& all);
    /// Whether it says anything of this run.
    bool (*applies)(const RunResult&) = nullptr;
};
std::span<const Metric> metrics();
/// nullptr if there is none.
const Metric* find_metric(std::string_view name);
/// "_seconds", "_bytes" ...: what JSON names end in.
std::string_view unit_suffix(MetricUnit unit);

/// Mean over replications with the half width of its 95 % interval (Student's t); half 0 for one replication.
struct Estimate {
    double mean = 0, half = 0;
};
Estimate estimate(std::span<const double> values);

}  // namespace memwall::sim
