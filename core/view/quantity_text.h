// Intervals as people read them: "4.36 GiB", "2.2 tokens/s (1.6 - 2.9)".
#pragma once

#include <string>

#include "core/base/interval.h"

namespace memwall::view {

std::string text(
    const Interval<Bytes>& bytes);  ///< the central value; "26-40 MiB" style when ends differ by over 2 %
std::string range_text(const Interval<Bytes>& bytes);  ///< "" for exact values, else "low - high"
std::string text(const Interval<PerSecond>& rate);     ///< "2.24", three significant digits
std::string range_text(const Interval<PerSecond>& rate);
std::string text(const Interval<Seconds>& time);
std::string range_text(const Interval<Seconds>& time);
/// Signed differences of central values: "+0.76 GiB", "-0.21"; "0" where both
/// print alike.
std::string change_text(const Interval<Bytes>& from, const Interval<Bytes>& to);
std::string change_text(const Interval<PerSecond>& from, const Interval<PerSecond>& to);
/// Three significant digits: 0.0123, 1.23, 12.3, 1,234.
std::string number_text(double value);
/// "7.6 B", "494 M".
std::string parameters_text(std::int64_t count);

}  // namespace memwall::view
