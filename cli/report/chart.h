// Axes, bands, lines, stacks and dots over a Canvas.
#pragma once

#include <string>
#include <vector>

#include "cli/report/svg.h"

namespace memwall::cli {

struct Axis {
    std::string label;
    double low = 0, high = 1;  ///< of the data; ticks may widen them
    bool logarithmic = false;  ///< low must be above 0
    bool binary = false;       ///< ticks at multiples of powers of two, ends as given
    std::string (*tick_text)(double) = nullptr;
};

/// The same three digits everywhere: 0.05, 1.5, 12, 1,200, 25k and 3.2M beyond.
std::string tick_number(double value);

struct Place {
    double x = 0, y = 0;
};
struct Spread {
    double x = 0, low = 0, high = 0;
};

class Chart {
  public:
    Chart(std::string title, std::string description, Axis x, Axis y, double width = 460,
          double height = 310);

    void band(const std::vector<Spread>& spreads, std::string_view style);
    /// Labels keep off it.
    void line(const std::vector<Place>& places, std::string_view style);
    /// Across the whole width, with its label above that end.
    void level(double y, std::string_view style, std::string_view label, Anchor end);
    void dot(Place at, double radius, std::string_view style, std::string_view hover = {});
    void label(Place at, double radius, std::string_view text, std::string_view style = {});
    std::string svg() const { return canvas_.svg(); }

  private:
    double px(double x) const;
    double py(double y) const;

    Axis x_, y_;
    double left_, right_, top_, bottom_;
    Canvas canvas_;
};

}  // namespace memwall::cli
