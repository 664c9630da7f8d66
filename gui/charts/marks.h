// SPDX-License-Identifier: GPL-3.0-only
// What a plot can show: plain data in the units of its axes. A mark is known by its `key`; showing another of
// the same key replaces it.
#pragma once

#include <QColor>
#include <QString>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

namespace memwall::gui {

struct Point {
    double x = 0, y = 0;
};
struct Spread {
    double x = 0, low = 0, high = 0;
};

enum class Stroke : std::uint8_t { solid, dashed, dotted };

struct Line {
    QString key{}, name{};  ///< the name heads its column in the table; empty = not in the table
    std::vector<Point> points{};
    QColor color{};
    double width = 2;
    Stroke stroke = Stroke::solid;
};

/// Between two curves.
struct Band {
    QString key{}, name{};
    std::vector<Spread> points{};
    QColor fill{};
    bool hatched = false;  ///< diagonal lines instead of a fill: what is uncertain
};

/// One layer on another, from the bottom; all layers have the same x.
struct Layer {
    QString name{};
    std::vector<double> heights{};
    QColor fill{};
    bool hatched = false;  ///< lines over the fill
    QString label{};       ///< written into the layer where it is thick enough
};
struct Stack {
    std::vector<double> x{};
    std::vector<Layer> layers{};
    bool stepped = false;  ///< a height holds until the next x
};

enum class Shape : std::uint8_t { disc, ring, cross, diamond, square };

/// Any number of points, drawn as copies of one picture.
struct Dots {
    QString key{}, name{};
    std::vector<Point> points{};
    QColor color{};
    double radius = 3;
    std::vector<double> radii{};   ///< by point; empty = all `radius`
    std::vector<QColor> colors{};  ///< by point; empty = all `color`
    Shape shape = Shape::disc;
    QColor outline{};  ///< invalid = none
    bool hoverable = true;
    int order = 0;  ///< higher ones are drawn later
};

/// A letter in a disc: a pinned candidate.
struct Badge {
    Point at{};
    QString text{};
    QColor fill{}, ink{};
};

/// Text at a place; it is moved inside the plot where it would leave it, and off other labels.
struct Label {
    Point at{};
    QString text{};
    QColor color{};
    Qt::Alignment side = Qt::AlignRight | Qt::AlignVCenter;  ///< of the point where the text stands
    double gap = 8;                                          ///< pixels from the point
    bool bold = false;
    bool plate = false;  ///< on a plate of card colour
};

/// A line across the plot at one value.
struct Limit {
    QString key{};
    Qt::Orientation orientation = Qt::Horizontal;
    double value = 0;
    QString label{};
    QColor color{};
    double width = 2;
    Stroke stroke = Stroke::solid;
    bool draggable = false;  ///< shows a grip; limit_moved() follows it
    /// Where the label stands along the line: 0 = left or top, 1 = right or bottom.
    double label_at = 0;
    bool label_below = false;
    QString hint{};  ///< for a screen reader, when draggable
};

/// A part of the plot that does not apply: faded, with its reason in words.
struct Region {
    double from = -std::numeric_limits<double>::infinity(), to = std::numeric_limits<double>::infinity();
    Qt::Orientation across = Qt::Horizontal;  ///< the axis that `from` and `to` are on
    QString text{};
    QColor text_color{};
    bool edge = true;  ///< a dashed line where it begins
};

/// The vertical line that the user drags.
struct Cursor {
    double x = 0;
    std::vector<double> stops{};  ///< of Left and Right; empty = a twentieth of the axis
    bool snap = false;            ///< dragging stays on the stops
    QString label{};
    double label_y = std::numeric_limits<double>::quiet_NaN();  ///< NaN = above the grip
    bool grip = true;
    QColor color{};  ///< invalid = the accent
};

}  // namespace memwall::gui
