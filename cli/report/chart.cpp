#include "cli/report/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/size_text.h"

namespace memwall::cli {
namespace {

/// 1, 2 or 5 times a power of ten: the smallest step with at most `most` of them in `span`.
double nice_step(double span, int most) {
    const double power = std::pow(10, std::floor(std::log10(span / most)));
    for (const double f : {1.0, 2.0, 5.0, 10.0})
        if (span / (f * power) <= most) return f * power;
    return 10 * power;
}

std::vector<double> multiples(double low, double high, double step) {
    std::vector<double> all;
    for (double v = std::ceil(low / step - 1e-9) * step; v <= high + step * 1e-9; v += step)
        all.push_back(std::abs(v) < step / 1e6 ? 0 : v);
    return all;
}

/// 1, 2 and 5 of every decade, fewer or more of them so that at most `most` or at least two are shown.
std::vector<double> logarithmic_ticks(const Axis& a, int most) {
    const double decades = std::log10(a.high / a.low);
    std::vector<double> ticks;
    if (decades < 0.7) return multiples(a.low, a.high, nice_step(a.high - a.low, most));
    const int stride = decades > most ? 3 : 1;
    for (double e = std::floor(std::log10(a.low)); e <= std::ceil(std::log10(a.high)); e += stride)
        for (const double f : {1.0, 2.0, 5.0}) {
            const double v = f * std::pow(10, e);
            if ((f == 1 || decades * 3 <= most) && v >= a.low * 0.999 && v <= a.high * 1.001)
                ticks.push_back(v);
        }
    return ticks;
}

/// Ticks; a plain axis is widened to the first and last of them.
std::vector<double> ticks_of(Axis& a, int most) {
    if (a.logarithmic) return logarithmic_ticks(a, most);
    if (a.binary) {
        double step = 1;
        while ((a.high - a.low) / step > most) step *= 2;
        return multiples(a.low, a.high, step);
    }
    const double step = nice_step(a.high - a.low, most);
    a.low = std::floor(a.low / step + 1e-9) * step;
    a.high = std::ceil(a.high / step - 1e-9) * step;
    return multiples(a.low, a.high, step);
}

/// A range that can be drawn, whatever the data.
void repair(Axis& a) {
    if (!std::isfinite(a.low) || !std::isfinite(a.high)) a.low = a.logarithmic ? 1 : 0, a.high = 1;
    if (a.logarithmic) {
        a.low = std::max(a.low, 1e-12);
        if (a.high <= a.low * 1.02) a.low /= 1.5, a.high = std::max(a.high, a.low) * 1.5 * 1.5;
    } else if (a.high - a.low <= 1e-6 * std::abs(a.low)) {
        // Ticks closer than that would be lost in rounding.
        a.high = a.low + std::max(std::abs(a.low) * 0.1, 1.0);
    }
    if (!a.tick_text) a.tick_text = tick_number;
}

}  // namespace

std::string tick_number(double v) {
    const double size = std::abs(v);
    if (size >= 1e6) return fmt::format("{:.3g}M", v / 1e6);
    if (size >= 10'000) return fmt::format("{:.4g}k", v / 1e3);
    if (size >= 1000) return count_text(std::llround(v));
    return fmt::format("{:.3g}", v);
}

Chart::Chart(std::string title, std::string description, Axis x, Axis y, double width, double height)
    : x_(std::move(x)),
      y_(std::move(y)),
      left_(58),
      right_(width - 16),
      top_(14),
      bottom_(height - 44),
      canvas_(width, height, std::move(title), std::move(description)) {
    repair(x_);
    repair(y_);
    const std::vector<double> columns = ticks_of(x_, 6), rows = ticks_of(y_, 6);
    for (const double v : rows) {
        canvas_.line({{left_, py(v)}, {right_, py(v)}}, "grid");
        canvas_.text(left_ - 7, py(v) + 4, y_.tick_text(v), Anchor::end, "tick");
    }
    for (const double v : columns) {
        canvas_.line({{px(v), bottom_}, {px(v), bottom_ + 4}}, "grid");
        canvas_.text(px(v), bottom_ + 17, x_.tick_text(v), Anchor::middle, "tick");
    }
    canvas_.line({{left_, bottom_}, {right_, bottom_}}, "axis");
    canvas_.text((left_ + right_) / 2, height - 8, x_.label, Anchor::middle, "name");
    canvas_.upward_text(12, (top_ + bottom_) / 2, y_.label, "name");
    canvas_.occupy(0, bottom_, width, height - bottom_);
    canvas_.occupy(0, 0, left_ - 2, height);
}

double Chart::px(double x) const {
    const double share = x_.logarithmic ? std::log(std::max(x, x_.low) / x_.low) / std::log(x_.high / x_.low)
                                        : (x - x_.low) / (x_.high - x_.low);
    return left_ + std::clamp(share, 0.0, 1.0) * (right_ - left_);
}

double Chart::py(double y) const {
    const double share = y_.logarithmic ? std::log(std::max(y, y_.low) / y_.low) / std::log(y_.high / y_.low)
                                        : (y - y_.low) / (y_.high - y_.low);
    return bottom_ - std::clamp(share, 0.0, 1.0) * (bottom_ - top_);
}

void Chart::band(const std::vector<Spread>& spreads, std::string_view style) {
    Canvas::Points points;
    for (const Spread& s : spreads) points.emplace_back(px(s.x), py(s.high));
    for (auto s = spreads.rbegin(); s != spreads.rend(); ++s) points.emplace_back(px(s->x), py(s->low));
    canvas_.polygon(points, style);
}

void Chart::line(const std::vector<Place>& places, std::string_view style) {
    Canvas::Points points;
    for (const Place& p : places) points.emplace_back(px(p.x), py(p.y));
    canvas_.line(points, style);
    canvas_.occupy(points);
}

void Chart::level(double y, std::string_view style, std::string_view label, Anchor end) {
    canvas_.line({{left_, py(y)}, {right_, py(y)}}, style);
    const double width = 7 * static_cast<double>(label.size());
    const bool right = end == Anchor::end;
    canvas_.text(right ? right_ - 2 : left_ + 3, py(y) - 5, label, end, "strong");
    canvas_.occupy(right ? right_ - width : left_, py(y) - 17, width, 18);
    canvas_.occupy(left_, py(y) - 2, right_ - left_, 4);
}

void Chart::dot(Place at, double radius, std::string_view style, std::string_view hover) {
    canvas_.circle(px(at.x), py(at.y), radius, style, hover);
}

void Chart::label(Place at, double radius, std::string_view text, std::string_view style) {
    canvas_.label(px(at.x), py(at.y), radius, text, style);
}

}  // namespace memwall::cli
