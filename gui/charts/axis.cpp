// SPDX-License-Identifier: GPL-3.0-only
#include "gui/charts/axis.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace memwall::gui {
namespace {

double nice_step(double raw, Ticks kind) {
    if (kind != Ticks::decimal) return std::exp2(std::round(std::log2(raw)));
    const double power = std::pow(10, std::floor(std::log10(raw)));
    for (const double m : {1.0, 2.0, 5.0})
        if (raw <= m * power * 1.0001) return m * power;
    return 10 * power;
}

std::vector<double> linear_ticks(const Axis& axis, int wanted) {
    // A step that is round matters more than their number: a finer one is taken where it gives few too many.
    double step = nice_step((axis.high - axis.low) / wanted, axis.ticks);
    if (const double finer = nice_step(step * 0.4, axis.ticks);
        (axis.high - axis.low) / step < wanted * 0.75 && (axis.high - axis.low) / finer < wanted * 1.8)
        step = finer;
    std::vector<double> out;
    for (double k = std::ceil(axis.low / step - 1e-9); k * step <= axis.high + step * 1e-9; ++k)
        out.push_back(k * step);
    return out;
}

/// Multiples of each decade or powers of two, the finest set that has not many more than wanted.
std::vector<double> log_ticks(const Axis& axis, int wanted) {
    const double base = axis.ticks == Ticks::decimal ? 10 : 2;
    const double from = std::log(axis.low) / std::log(base), to = std::log(axis.high) / std::log(base);
    std::vector<double> multiples{1};
    int stride = 1;
    if (base == 10 && (to - from) * 3 <= wanted + 1)
        multiples = {1, 2, 5};
    else if (base == 10 && (to - from) * 2 <= wanted + 1)
        multiples = {1, 3};
    else
        stride = std::max(1, static_cast<int>(std::ceil((to - from) / (wanted + 0.7) - 0.05)));
    std::vector<double> out;
    for (int k = static_cast<int>(std::floor(from)); k <= to + 1e-9; ++k) {
        if (k % stride != 0) continue;
        for (const double m : multiples)
            if (const double v = m * std::pow(base, k);
                v >= axis.low * (1 - 1e-9) && v <= axis.high * (1 + 1e-9))
                out.push_back(v);
    }
    return out;
}

}  // namespace

double scaled(const Axis& axis, double value) {
    if (axis.scale == Scale::linear) return value;
    return std::log10(value > 0 ? value : axis.low / 10);
}

double unscaled(const Axis& axis, double place) {
    return axis.scale == Scale::linear ? place : std::pow(10, place);
}

std::vector<double> ticks(const Axis& axis, int wanted) {
    if (!(axis.high > axis.low)) return {axis.low};
    if (!axis.at.empty()) {
        std::vector<double> inside;
        std::copy_if(axis.at.begin(), axis.at.end(), std::back_inserter(inside),
                     [&](double v) { return v >= axis.low && v <= axis.high; });
        return inside;
    }
    wanted = std::max(wanted, 2);
    if (axis.scale == Scale::linear) return linear_ticks(axis, wanted);
    std::vector<double> out = log_ticks(axis, wanted);
    return out.size() >= 2 ? out : linear_ticks(axis, std::min(wanted, 3));
}

QString tick_text(double value) {
    const double size = std::abs(value);
    if (size >= 1e6) return QString::number(value / 1e6, 'g', 3) + QStringLiteral("M");
    if (size >= 1e4) return QString::number(value / 1e3, 'g', 3) + QStringLiteral("K");
    return QString::number(value, 'g', size >= 1000 ? 4 : 3);
}

QString token_text(double tokens) {
    const auto n = std::llround(tokens);
    if (n >= 1 << 20 && n % (1 << 18) == 0)
        return QString::number(tokens / (1 << 20), 'g', 3) + QStringLiteral("M");
    if (n >= 1024 && n % 512 == 0) return QString::number(tokens / 1024, 'g', 4) + QStringLiteral("K");
    return QString::number(n);
}

}  // namespace memwall::gui
