// Simulated time: whole nanoseconds, so that sums never depend on their order.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace memwall::sim {

using Nanoseconds = std::int64_t;  ///< since the start of the run; 292 years fit
inline constexpr Nanoseconds kNever = std::numeric_limits<Nanoseconds>::max();
inline constexpr double kPerSecond = 1e9;

inline double seconds_of(Nanoseconds t) {
    return static_cast<double>(t) / kPerSecond;
}
/// Rounded to the nearest; what does not fit is never.
inline Nanoseconds nanoseconds_of(double seconds) {
    const double ns = seconds * kPerSecond;
    return ns < 9.2e18 ? std::llround(ns) : kNever;
}
/// `now` + `delay`, never if that is beyond what fits.
inline Nanoseconds after(Nanoseconds now, Nanoseconds delay) {
    return delay >= kNever - now ? kNever : now + delay;
}

/// Adds up durations without losing the fractions of a nanosecond: a thousand steps of 1.4 ns end at 1,400.
class Carry {
  public:
    Nanoseconds round(double seconds) {
        const double exact = seconds * kPerSecond + rest_;
        if (!(exact < 9.2e18)) return kNever;
        const Nanoseconds whole = std::llround(exact);
        rest_ = exact - static_cast<double>(whole);
        return whole;
    }

  private:
    double rest_ = 0;
};

}  // namespace memwall::sim
