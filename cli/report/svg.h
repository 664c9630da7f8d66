// A small writer of SVG for reports. Colours are class names; report.css gives them their light and dark
// values, so one drawing serves both and prints.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/report/xml.h"

namespace memwall::cli {

enum class Anchor { start, middle, end };

/// A drawing in pixels of its own view box, y downwards.
class Canvas {
  public:
    using Points = std::vector<std::pair<double, double>>;

    /// `description` is what a screen reader says.
    Canvas(double width, double height, std::string title, std::string description);

    void rectangle(double x, double y, double width, double height, std::string_view style,
                   std::string_view hover = {});
    void line(const Points& points, std::string_view style);
    void polygon(const Points& points, std::string_view style);
    void circle(double x, double y, double radius, std::string_view style, std::string_view hover = {});
    void text(double x, double y, std::string_view text, Anchor anchor, std::string_view style = {});
    /// Text turned to read upwards, centred on (x, y).
    void upward_text(double x, double y, std::string_view text, std::string_view style);
    /// Text beside a mark of `radius`, on the first side where it hits no earlier label and stays inside the
    /// canvas; left out when there is none.
    void label(double x, double y, double radius, std::string_view text, std::string_view style = {});

    /// Keeps labels away from a rectangle.
    void occupy(double x, double y, double width, double height);
    /// Keeps labels off a line.
    void occupy(const Points& line);
    double width() const { return width_; }
    double height() const { return height_; }
    /// `style` is a class of the whole drawing; a "bar" is stretched to the height that report.css gives it.
    std::string svg(std::string_view style = {}) const;

  private:
    struct Box {
        double x, y, width, height;
    };
    bool free(const Box& box) const;

    double width_, height_;
    std::string title_, description_, body_, labels_;
    std::vector<Box> taken_;
};

}  // namespace memwall::cli
