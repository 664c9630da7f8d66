// SPDX-License-Identifier: GPL-3.0-only
// One axis of a plot: its range, its scale and where its ticks stand. Pure numbers, no widget.
#pragma once

#include <QString>
#include <functional>
#include <vector>

namespace memwall::gui {

enum class Scale : std::uint8_t { linear, logarithmic };
enum class Ticks : std::uint8_t {
    decimal,  ///< 1, 2, 5 times a power of ten
    binary,   ///< multiples of a power of two: contexts
    doubling  ///< 1, 2, 4 ... of a logarithmic axis
};

struct Axis {
    QString name{};  ///< for tables and screen readers: "context, tokens"
    double low = 0, high = 1;
    Scale scale = Scale::linear;
    Ticks ticks = Ticks::decimal;
    std::function<QString(double)> text{};  ///< of a tick; empty = the shortest number
    std::vector<double> at{};               ///< own ticks instead
};

/// Where a value lies on the scale: itself, or its decimal logarithm. Values a logarithm has no place for are
/// put a decade below the axis.
double scaled(const Axis& axis, double value);
double unscaled(const Axis& axis, double place);

/// On the line through two points.
inline double interpolated(double x, double x0, double y0, double x1, double y1) {
    return x1 == x0 ? y0 : y0 + (y1 - y0) * (x - x0) / (x1 - x0);
}

/// About `wanted` ticks inside the range, ascending.
std::vector<double> ticks(const Axis& axis, int wanted);

/// "0.25", "12", "1 200", "25K", "3.2M".
QString tick_text(double value);
/// "512", "8K", "1M": tokens, in powers of two where they are whole.
QString token_text(double tokens);

}  // namespace memwall::gui
