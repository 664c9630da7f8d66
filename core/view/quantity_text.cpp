#include "core/view/quantity_text.h"

#include <fmt/format.h>

#include <cmath>

#include "core/base/size_text.h"

namespace memwall::view {

std::string number_text(double v) {
    const double a = std::abs(v);
    if (a >= 999.5) return count_text(std::llround(v));
    if (a >= 99.95) return fmt::format("{:.0f}", v);
    if (a >= 9.995) return fmt::format("{:.1f}", v);
    if (a >= 0.9995) return fmt::format("{:.2f}", v);
    return fmt::format("{:.3g}", v);
}

std::string text(const Interval<Bytes>& b) {
    return bytes_text(b.central);
}
std::string range_text(const Interval<Bytes>& b) {
    return b.is_exact() ? "" : fmt::format("{} - {}", bytes_text(b.low), bytes_text(b.high));
}
std::string text(const Interval<PerSecond>& r) {
    return number_text(r.central.value);
}
std::string range_text(const Interval<PerSecond>& r) {
    return r.is_exact() ? "" : fmt::format("{} - {}", number_text(r.low.value), number_text(r.high.value));
}
std::string text(const Interval<Seconds>& t) {
    return seconds_text(t.central);
}
std::string range_text(const Interval<Seconds>& t) {
    return t.is_exact() ? "" : fmt::format("{} - {}", seconds_text(t.low), seconds_text(t.high));
}

std::string change_text(const Interval<Bytes>& from, const Interval<Bytes>& to) {
    const Bytes by = to.central - from.central;
    if (by.value == 0) return "0";
    return (by.value < 0 ? "-" : "+") + bytes_text(by.value < 0 ? -by : by);
}

std::string change_text(const Interval<PerSecond>& from, const Interval<PerSecond>& to) {
    const double by = to.central.value - from.central.value;
    if (number_text(from.central.value) == number_text(to.central.value)) return "0";
    return (by < 0 ? "-" : "+") + number_text(std::abs(by));
}

std::string parameters_text(std::int64_t count) {
    const auto n = static_cast<double>(count);
    return count >= 995'000'000 ? fmt::format("{:.1f} B", n / 1e9) : fmt::format("{:.0f} M", n / 1e6);
}

}  // namespace memwall::view
