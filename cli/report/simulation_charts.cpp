#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "cli/report/chart.h"
#include "cli/report/simulated.h"
#include "core/base/size_text.h"

namespace memwall::cli {
namespace {

constexpr double kGiB = 1024.0 * 1024 * 1024;

/// Time in the unit that suits the length of the run.
struct TimeUnit {
    double seconds;
    std::string_view name;
};
TimeUnit unit_of(double seconds) {
    constexpr std::array<TimeUnit, 3> kUnits{{{86400, "days"}, {3600, "hours"}, {60, "minutes"}}};
    for (const TimeUnit& u : kUnits)
        if (seconds > 2 * u.seconds) return u;
    return {1, "seconds"};
}

Axis time_axis(const Simulated& s) {
    const TimeUnit u = unit_of(s.seconds);
    Axis a;
    a.label = fmt::format("{} from the start", u.name);
    a.high = s.seconds / u.seconds;
    a.binary = u.seconds == 3600;  // 0, 4, 8 ... 24 hours
    return a;
}

std::string wait_tick(double seconds) {
    return seconds_text(Seconds(seconds));
}

std::string peak_text(const Simulated& s) {
    return bytes_text(Bytes(static_cast<std::int64_t>(std::clamp(s.peak_bytes, 0.0, 9e18))));
}

/// At most `most` moments: of each run of them the one with the largest total, so that no peak is lost.
std::vector<Moment> thinned(const std::vector<Moment>& all, std::size_t most) {
    std::vector<Moment> few;
    const std::size_t width = (all.size() + most - 1) / std::max<std::size_t>(most, 1);
    for (std::size_t i = 0; i < all.size(); i += std::max<std::size_t>(width, 1)) {
        const auto end = all.begin() + static_cast<std::ptrdiff_t>(std::min(i + width, all.size()));
        few.push_back(
            *std::max_element(all.begin() + static_cast<std::ptrdiff_t>(i), end,
                              [](const Moment& a, const Moment& b) { return a.total() < b.total(); }));
    }
    return few;
}

/// A histogram: a column a bucket, and where half and 95 % of the values lie.
std::string histogram(const std::vector<WaitBucket>& buckets, const std::array<double, 2>& quantiles,
                      const char* title, const char* label) {
    if (buckets.empty()) return "";
    std::int64_t most = 0;
    double all = 0;
    for (const WaitBucket& b : buckets) most = std::max(most, b.count), all += static_cast<double>(b.count);
    Axis x{label, 0, buckets.back().high * 1.2, true, false, wait_tick};
    const double first = buckets.front().low > 0 ? buckets.front().low
                         : buckets.size() > 1    ? buckets[1].low / 1.2
                                                 : buckets.front().high / 1.2;
    x.low = first;
    Axis y{"requests", 0, static_cast<double>(most) * 1.12, false, false, nullptr};
    Chart chart(title,
                fmt::format("{} requests, half within {}, 95 % within {}",
                            count_text(static_cast<std::int64_t>(std::min(all, 9e18))),
                            wait_tick(quantiles[0]), wait_tick(quantiles[1])),
                x, y);
    for (const WaitBucket& b : buckets) {
        if (b.count == 0) continue;
        const double low = std::max(b.low, first), high = std::max(low, b.high * 0.995);
        const auto top = static_cast<double>(b.count);
        chart.band({{low, 0, top}, {high, 0, top}}, "column");
    }
    constexpr std::array<const char*, 2> kNames{"half", "95 %"};
    for (std::size_t i = 0; i < quantiles.size(); ++i) {
        if (quantiles[i] <= 0) continue;
        const double top = static_cast<double>(most) * (i == 0 ? 1.1 : 1.04);
        chart.line({{quantiles[i], 0}, {quantiles[i], top}}, "limit");
        chart.label({quantiles[i], top * 0.97}, 3, fmt::format("{}: {}", kNames[i], wait_tick(quantiles[i])),
                    "strong");
    }
    return chart.svg();
}

}  // namespace

double Moment::total() const {
    return std::accumulate(bytes.begin(), bytes.end(), 0.0);
}

std::string timeline_chart(const Simulated& s) {
    if (s.timeline.size() < 2) return "";
    const std::vector<Moment> moments = thinned(s.timeline, 300);
    const TimeUnit unit = unit_of(s.seconds);
    double most = std::max(s.peak.total(), s.ram);
    for (const Moment& m : moments) most = std::max(most, m.total());
    // The budget is the process's alone: it says something only where nothing else is in the picture.
    const bool alone = s.ram == 0 && s.budget > 0 && s.budget < 4 * most;
    if (alone) most = std::max(most, s.budget);
    Chart chart(
        "Memory over time",
        fmt::format("largest at {:.3g} {}: {}", s.peak.seconds / unit.seconds, unit.name, peak_text(s)),
        time_axis(s), {"GiB", 0, most * 1.08 / kGiB, false, false, nullptr});
    for (std::size_t c = 0; c < kTimelineClasses; ++c) {
        std::vector<Spread> area;
        bool any = false;
        double before = 0;
        for (const Moment& m : moments) {
            double under = 0;
            for (std::size_t k = 0; k < c; ++k) under += m.bytes[k];
            const Spread at{0, under / kGiB, (under + m.bytes[c]) / kGiB};
            area.push_back({before, at.low, at.high});
            before = m.seconds / unit.seconds;
            area.push_back({before, at.low, at.high});
            any = any || m.bytes[c] > 0;
        }
        if (any) chart.band(area, fmt::format("fill-{}", kTimelineWords[c].style));
    }
    if (s.ram > 0)
        chart.level(s.ram / kGiB, "budget", "memory of the device", Anchor::start);
    else if (alone)
        chart.level(s.budget / kGiB, "budget", "budget", Anchor::start);
    // On top of the process, below the other apps.
    const Place peak{s.peak.seconds / unit.seconds, (s.peak.bytes.front() + s.peak_bytes) / kGiB};
    const std::string owner = s.owner.empty() ? "" : ", " + s.owner;
    chart.dot(peak, 5, "mark", fmt::format("peak of the model's process: {}{}", peak_text(s), owner));
    chart.label(peak, 7, fmt::format("peak {}{}", peak_text(s), owner), "strong");
    return chart.svg();
}

std::string temperature_chart(const Simulated& s) {
    if (!s.thermal || s.timeline.size() < 2) return "";
    const std::vector<Moment> moments = s.timeline;
    const TimeUnit unit = unit_of(s.seconds);
    Axis y{"degrees Celsius", 1e9, -1e9, false, false, nullptr};
    for (const Moment& m : moments)
        y.low = std::min(y.low, m.temperature), y.high = std::max(y.high, m.temperature);
    const auto slow = static_cast<double>(
        std::count_if(moments.begin(), moments.end(), [](const Moment& m) { return m.speed < 1; }));
    const double low = y.low, high = std::max(y.high, low + 1);
    y.high = high;
    Chart chart(
        "Temperature over time",
        fmt::format("slowed in {:.0f} % of the time", 100 * slow / static_cast<double>(moments.size())),
        time_axis(s), y);
    // A band from below wherever the governor slows the chip.
    double from = -1;
    for (std::size_t i = 0; i <= moments.size(); ++i) {
        const bool slowed = i < moments.size() && moments[i].speed < 1;
        const double at = (i == 0 ? 0 : moments[i - 1].seconds) / unit.seconds;
        if (slowed && from < 0) from = at;
        if (!slowed && from >= 0) {
            chart.band({{from, -1e9, 1e9}, {at, -1e9, 1e9}}, "slowed");
            from = -1;
        }
    }
    std::vector<Place> line;
    for (const Moment& m : moments) line.push_back({m.seconds / unit.seconds, m.temperature});
    chart.line(line, "heat");
    const auto hottest =
        std::max_element(line.begin(), line.end(), [](const Place& a, const Place& b) { return a.y < b.y; });
    chart.dot(*hottest, 4, "mark", fmt::format("{:.1f} degrees", hottest->y));
    chart.label(*hottest, 6, fmt::format("{:.1f} \u00b0C", hottest->y), "strong");
    return chart.svg();
}

std::string battery_chart(const Simulated& s) {
    if (!s.battery || s.timeline.size() < 2) return "";
    const TimeUnit unit = unit_of(s.seconds);
    Chart chart("Battery over time", fmt::format("{:.0f} % at the end", 100 * s.timeline.back().battery),
                time_axis(s), {"charge, %", 0, 100, false, false, nullptr});
    std::vector<Place> line;
    for (const Moment& m : s.timeline) line.push_back({m.seconds / unit.seconds, 100 * m.battery});
    chart.line(line, "rate");
    const auto least =
        std::min_element(line.begin(), line.end(), [](const Place& a, const Place& b) { return a.y < b.y; });
    chart.dot(*least, 4, "mark", fmt::format("{:.0f} %", least->y));
    chart.label(*least, 6, fmt::format("{:.0f} %", least->y), "strong");
    return chart.svg();
}

std::string ttft_chart(const Simulated& s) {
    return histogram(s.ttft, s.ttft_quantiles, "Time to the first token", "from arrival to the first token");
}

std::string tpot_chart(const Simulated& s) {
    return histogram(s.tpot, s.tpot_quantiles, "Time per output token", "per token after the first");
}

}  // namespace memwall::cli
