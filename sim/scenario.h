// A scenario: who uses which model on which device, and how it is served. `schema: memwall/scenario/1`;
// docs/simulate.md explains every key.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/embedded.h"
#include "core/base/error.h"
#include "core/plan/deployment.h"
#include "sim/device/battery.h"
#include "sim/device/pressure.h"
#include "sim/device/thermal.h"
#include "sim/kv/store.h"
#include "sim/schedule/planned_steps.h"
#include "sim/schedule/scheduler.h"
#include "sim/workload/app.h"

namespace memwall::sim {

/// What becomes of a session's keys and values between two turns.
enum class Between : std::uint8_t {
    drop,      ///< given up; a paged prefix cache may still find them
    keep,      ///< stay where they are until somebody else needs the room
    compress,  ///< stay, smaller; unpacked before the next turn
    swap       ///< moved to the swap space; fetched before the next turn
};
std::string_view between_name(Between between);

struct KvScenario {
    KvLayout layout = KvLayout::paged;
    std::int64_t pool_bytes =
        0;  ///< 0 = what the plan's budget leaves, at most `max_sequences` full contexts
    std::int64_t block_tokens = 16;
    bool prefix_cache = true;
    Fit fit = Fit::first;
    Between between = Between::drop;
    double compressed_share = 0.5;  ///< of the bytes that remain when compressed
    double compress_rate = 2e9;     ///< bytes/s of packing and unpacking
    double swap_bandwidth = 0;      ///< bytes/s; 0 = the storage of the device
    double swap_latency = 100e-6;
    std::int64_t swap_bytes = std::int64_t{1} << 50;
};

struct LoadScenario {
    bool warm = true;         ///< loaded at the start
    double unload_after = 0;  ///< seconds without a request; 0 = never
    double fixed = 0;         ///< seconds of a load beside reading: compiling, repacking
    double first = 0;         ///< more of the first one: what is compiled once and kept
};

/// Simulated seconds of a run.
inline constexpr double kShortestRun = 1e-3, kLongestRun = 3e9;

/// What must hold; 0 = not asked.
struct Objectives {
    double ttft_p95 = 0, ttft_p99 = 0, tpot_p95 = 0, e2e_p95 = 0;  ///< seconds
    bool any() const { return ttft_p95 > 0 || ttft_p99 > 0 || tpot_p95 > 0 || e2e_p95 > 0; }
};

struct Scenario {
    std::string name, about, file;
    double seconds = 3600;  ///< simulated
    double start_hour = 0;  ///< time of day at the start
    std::uint64_t seed = 1;
    std::int64_t replications = 1;
    plan::Deployment deployment;
    SchedulerSettings scheduler;  ///< context 0 = the deployment's; max_sequences 0 = its sequences
    KvScenario kv;
    std::vector<App> apps;
    PressureSettings pressure;
    LoadScenario load;
    ThermalSettings thermal;
    BatterySettings battery;
    double idle_watts = 0;
    double active_watts = 0;    ///< more while computing at full speed; 0 = by the device's data
    StepConditions conditions;  ///< what else decides how long a step takes
    Objectives objectives;
    /// Where a key stands: "kv.pool" -> "box.yaml:7". Empty for a deployment's key that was set elsewhere.
    std::map<std::string, std::string> places;
};

/// An error about a key of the scenario, or an option of its deployment, with the place in the file; others
/// as they are.
Error placed(const Scenario& scenario, const Error& error);

/// Throws Error naming line and what was expected. Traces are looked for beside `file`.
Scenario read_scenario(const std::string& text, const std::string& file);

/// The shipped ones.
EmbeddedGroup scenario_presets();
/// A preset's name, or a file. Throws Error.
Scenario open_scenario(const std::string& argument);

}  // namespace memwall::sim
