// Distinct unit types: a count of bytes cannot be passed where a rate is wanted.
#pragma once

#include <compare>
#include <cstdint>

namespace memwall {

/// A number of bytes; signed so that headroom may be negative.
struct Bytes {
    std::int64_t value = 0;
    constexpr Bytes() = default;
    constexpr explicit Bytes(std::int64_t v) : value(v) {}
    constexpr auto operator<=>(const Bytes&) const = default;
    constexpr Bytes& operator+=(Bytes o) {
        value += o.value;
        return *this;
    }
    constexpr Bytes& operator-=(Bytes o) {
        value -= o.value;
        return *this;
    }
    friend constexpr Bytes operator+(Bytes a, Bytes b) { return Bytes(a.value + b.value); }
    friend constexpr Bytes operator-(Bytes a, Bytes b) { return Bytes(a.value - b.value); }
    friend constexpr Bytes operator-(Bytes a) { return Bytes(-a.value); }
    friend constexpr Bytes operator*(Bytes a, std::int64_t n) { return Bytes(a.value * n); }
    friend constexpr Bytes operator*(std::int64_t n, Bytes a) { return Bytes(a.value * n); }
    constexpr double as_double() const { return static_cast<double>(value); }
};

inline constexpr std::int64_t kKiB = std::int64_t{1} << 10;
inline constexpr std::int64_t kMiB = std::int64_t{1} << 20;
inline constexpr std::int64_t kGiB = std::int64_t{1} << 30;

namespace detail {
/// A physical quantity held as a double, distinct for each Tag.
template <class Tag>
struct Real {
    double value = 0;
    constexpr Real() = default;
    constexpr explicit Real(double v) : value(v) {}
    constexpr auto operator<=>(const Real&) const = default;
    constexpr Real& operator+=(Real o) {
        value += o.value;
        return *this;
    }
    friend constexpr Real operator+(Real a, Real b) { return Real(a.value + b.value); }
    friend constexpr Real operator-(Real a, Real b) { return Real(a.value - b.value); }
    friend constexpr Real operator*(Real a, double k) { return Real(a.value * k); }
    friend constexpr Real operator*(double k, Real a) { return Real(a.value * k); }
    friend constexpr Real operator/(Real a, double k) { return Real(a.value / k); }
    friend constexpr double operator/(Real a, Real b) { return a.value / b.value; }
};
}  // namespace detail

using Seconds = detail::Real<struct SecondsTag>;
using BytesPerSecond = detail::Real<struct BytesPerSecondTag>;
using OpsPerSecond = detail::Real<struct OpsPerSecondTag>;
using PerSecond = detail::Real<struct PerSecondTag>;  ///< tokens per second and the like
using Joules = detail::Real<struct JoulesTag>;
using Watts = detail::Real<struct WattsTag>;

constexpr Seconds operator/(Bytes b, BytesPerSecond r) {
    return Seconds(b.as_double() / r.value);
}

}  // namespace memwall
