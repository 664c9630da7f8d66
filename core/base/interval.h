// Every quantity is an interval: exact ones have equal ends and the basis "exact" (DESIGN, idea 3).
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "core/base/units.h"

namespace memwall {

/// A string that lives as long as the program, so that intervals stay trivially copyable.
std::string_view intern(const std::string& text);

inline constexpr std::string_view kExact = "exact";

template <class T>
struct Interval {
    T low{}, central{}, high{};
    double level = 1.0;               ///< share of cases the interval is meant to hold, 0..1
    std::string_view basis = kExact;  ///< where it comes from: kExact, a literal, or intern()ed

    static Interval exact(T v) { return {v, v, v, 1.0, kExact}; }
    bool is_exact() const { return low == high; }
};

/// The sum of quantities whose errors may all go the same way: ends add. The basis is that of the operand
/// that contributes the wider range.
template <class T>
Interval<T> operator+(const Interval<T>& a, const Interval<T>& b) {
    const bool b_wider = (b.high - b.low) > (a.high - a.low);
    return {a.low + b.low, a.central + b.central, a.high + b.high, std::min(a.level, b.level),
            b_wider ? b.basis : a.basis};
}

template <class T>
Interval<T>& operator+=(Interval<T>& a, const Interval<T>& b) {
    return a = a + b;
}

/// `a` less an exact or uncertain `b`: low ends meet high ends.
template <class T>
Interval<T> operator-(const Interval<T>& a, const Interval<T>& b) {
    const bool b_wider = (b.high - b.low) > (a.high - a.low);
    return {a.low - b.high, a.central - b.central, a.high - b.low, std::min(a.level, b.level),
            b_wider ? b.basis : a.basis};
}

}  // namespace memwall
