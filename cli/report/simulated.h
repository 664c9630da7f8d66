// What a report shows of a simulation: memory by class with the moment and owner of its peak, heat, charge,
// and how long people waited.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace memwall::cli {

/// Classes of the timeline, in the order in which they are stacked; a style of report.css each.
inline constexpr std::size_t kTimelineClasses = 5;
struct TimelineWords {
    std::string_view key;  ///< of the document
    std::string_view style, name;
};
inline constexpr std::array<TimelineWords, kTimelineClasses> kTimelineWords{
    {{"system_bytes", "overhead", "system"},
     {"weights_bytes", "weights", "weights"},
     {"scratch_bytes", "compute", "buffers"},
     {"kv_bytes", "kv", "KV cache"},
     {"other_apps_bytes", "draft", "other apps"}}};
inline constexpr std::size_t kOurs[] = {1, 2, 3};  ///< classes of the model's process

struct Moment {
    double seconds = 0;
    std::array<double, kTimelineClasses> bytes{};
    double temperature = 0, speed = 1, battery = 0;  ///< degrees Celsius; shares
    double total() const;
};

struct WaitBucket {
    double low = 0, high = 0;  ///< seconds
    std::int64_t count = 0;
};

struct SimulatedMetric {
    std::string name, value, interval, definition;
};

struct Simulated {
    std::string name, about, owner;
    double seconds = 0;  ///< simulated
    bool interrupted = false, thermal = false, battery = false;
    std::vector<Moment> timeline;
    Moment peak;                 ///< of the model's process; `seconds` = when
    double peak_bytes = 0;       ///< of the process alone
    double ram = 0, budget = 0;  ///< 0 = unknown or no limit
    std::vector<WaitBucket> ttft, tpot;
    std::array<double, 2> ttft_quantiles{}, tpot_quantiles{};  ///< p50 and p95
    std::vector<SimulatedMetric> metrics;
};

std::string timeline_chart(const Simulated& s);
std::string temperature_chart(const Simulated& s);
std::string battery_chart(const Simulated& s);
std::string ttft_chart(const Simulated& s);
std::string tpot_chart(const Simulated& s);

}  // namespace memwall::cli
