#include "cli/report/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/view/text_table.h"

namespace memwall::cli {
namespace {

constexpr double kLetter = 6.3, kLine = 14;  // of the 11.5 px text that report.css sets, rounded up

std::string path(const Canvas::Points& points) {
    std::string out;
    for (const auto& [x, y] : points) out += fmt::format("{}{:.1f},{:.1f}", out.empty() ? "" : " ", x, y);
    return out;
}

std::string_view anchor_name(Anchor a) {
    return a == Anchor::start ? "start" : a == Anchor::middle ? "middle" : "end";
}

/// Closes an element, with the text that hovering shows inside.
std::string closed(std::string_view element, std::string_view hover) {
    if (hover.empty()) return "/>\n";
    return fmt::format("><title>{}</title></{}>\n", escaped(hover), element);
}

}  // namespace

Canvas::Canvas(double width, double height, std::string title, std::string description)
    : width_(width), height_(height), title_(std::move(title)), description_(std::move(description)) {}

void Canvas::rectangle(double x, double y, double width, double height, std::string_view style,
                       std::string_view hover) {
    body_ += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" class=\"{}\"", x,
                         y, std::max(width, 0.0), std::max(height, 0.0), style) +
             closed("rect", hover);
}

void Canvas::line(const Points& points, std::string_view style) {
    if (points.size() > 1)
        body_ += fmt::format("<polyline points=\"{}\" class=\"line {}\"/>\n", path(points), style);
}

void Canvas::polygon(const Points& points, std::string_view style) {
    if (points.size() > 2)
        body_ += fmt::format("<polygon points=\"{}\" class=\"{}\"/>\n", path(points), style);
}

void Canvas::circle(double x, double y, double radius, std::string_view style, std::string_view hover) {
    body_ +=
        fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" class=\"{}\"", x, y, radius, style) +
        closed("circle", hover);
}

void Canvas::text(double x, double y, std::string_view text, Anchor anchor, std::string_view style) {
    labels_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" class=\"{}\">{}</text>\n", x,
                           y, anchor_name(anchor), style, escaped(text));
}

void Canvas::upward_text(double x, double y, std::string_view text, std::string_view style) {
    labels_ += fmt::format(
        "<text transform=\"translate({:.1f} {:.1f}) rotate(-90)\" text-anchor=\"middle\" "
        "class=\"{}\">{}</text>\n",
        x, y, style, escaped(text));
}

bool Canvas::free(const Box& b) const {
    if (b.x < 0 || b.y < 0 || b.x + b.width > width_ || b.y + b.height > height_) return false;
    return std::none_of(taken_.begin(), taken_.end(), [&](const Box& o) {
        return b.x < o.x + o.width && o.x < b.x + b.width && b.y < o.y + o.height && o.y < b.y + b.height;
    });
}

void Canvas::occupy(double x, double y, double width, double height) {
    taken_.push_back({x, y, width, height});
}

void Canvas::label(double x, double y, double radius, std::string_view words, std::string_view style) {
    const double width = kLetter * static_cast<double>(view::columns(words)), gap = radius + 4;
    struct Side {
        double x, y;
        Anchor anchor;
    };
    const Side sides[] = {{x + gap, y + 4, Anchor::start},       {x - gap, y + 4, Anchor::end},
                          {x, y - gap - 1, Anchor::middle},      {x, y + gap + 10, Anchor::middle},
                          {x + gap, y - gap - 4, Anchor::start}, {x + gap, y + gap + 12, Anchor::start},
                          {x - gap, y - gap - 4, Anchor::end},   {x - gap, y + gap + 12, Anchor::end}};
    for (const Side& s : sides) {
        const double left = s.anchor == Anchor::start ? s.x
                            : s.anchor == Anchor::end ? s.x - width
                                                      : s.x - width / 2;
        const Box box{left, s.y - kLine + 3, width, kLine};
        if (!free(box)) continue;
        taken_.push_back(box);
        text(s.x, s.y, words, s.anchor, style);
        return;
    }
}

void Canvas::occupy(const Points& line) {
    constexpr double kStep = 4;
    for (std::size_t i = 1; i < line.size(); ++i) {
        const auto [x0, y0] = line[i - 1];
        const auto [x1, y1] = line[i];
        const int steps = 1 + static_cast<int>(std::hypot(x1 - x0, y1 - y0) / kStep);
        for (int k = 0; k <= steps; ++k)
            occupy(x0 + (x1 - x0) * k / steps - 1, y0 + (y1 - y0) * k / steps - 1, 2, 2);
    }
}

std::string Canvas::svg(std::string_view style) const {
    return fmt::format(
        "<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"{}: {}\"{} "
        "xmlns=\"http://www.w3.org/2000/svg\">\n{}{}</svg>\n",
        width_, height_, escaped(title_), escaped(description_),
        style.empty() ? "" : fmt::format(" class=\"{}\" preserveAspectRatio=\"none\"", style), body_,
        labels_);
}

}  // namespace memwall::cli
