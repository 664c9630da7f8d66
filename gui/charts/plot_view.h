// SPDX-License-Identifier: GPL-3.0-only
// The drawing of a Plot over a QChartView. Private to gui/charts.
//
// Qt Charts draws lines and areas, in scaled coordinates on two hidden axes (a logarithm is taken here,
// because QLogValueAxis drops a whole series for one value of zero). Grid, tick texts, dots, limits, labels
// and the cursor are painted here: text on Qt's axes is elided and clipped, and thousands of dots are fastest
// as copies of one pixmap.
#pragma once

#include <QChartView>
#include <map>

#include "gui/charts/plot.h"

class QAreaSeries;
class QLineSeries;
class QValueAxis;

namespace memwall::gui {

class PlotView : public QChartView {
    Q_OBJECT
  public:
    explicit PlotView(Plot* plot);

    Plot* plot_;
    Axis x_, y_;
    std::map<QString, Line> lines_;
    std::map<QString, Band> bands_;
    Stack stack_;
    std::vector<Dots> dots_;
    std::vector<Limit> limits_;
    std::vector<Label> labels_;
    std::vector<Region> regions_;
    std::vector<Badge> badges_;
    std::optional<Cursor> cursor_;
    std::function<QString(double)> hover_text_;
    QString placeholder_;
    QStringList clipped_;

    /// Data or axes changed: the next paint, or the next turn of the event loop, hands them to Qt Charts.
    void touch(bool order_changed);
    void flush();
    QRectF area() const { return area_; }
    double px(double x) const;
    double py(double y) const;
    Point values(QPointF at) const;
    void arrange();  ///< margins from the tick texts

  protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void drawBackground(QPainter* painter, const QRectF& rect) override;
    void drawForeground(QPainter* painter, const QRectF& rect) override;
    bool event(QEvent* event) override;
    void changeEvent(QEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void leaveEvent(QEvent* event) override;
    bool viewportEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

  private:
    struct Tick {
        double pixel;
        QString text;
    };
    struct BandSeries {
        QAreaSeries* area;
        QLineSeries *low, *high;
    };

    BandSeries new_area();
    void set_area(const BandSeries& s, const std::vector<Spread>& points, const QColor& fill, bool hatched);
    std::vector<Spread> layer_spread(std::size_t layer) const;
    std::vector<Tick> tick_texts(const Axis& axis, bool horizontal) const;
    void draw_regions(QPainter& p);
    void draw_hatches(QPainter& p);
    void draw_hatch(QPainter& p, const std::vector<Spread>& band, const QColor& color);
    void draw_dots(QPainter& p);
    void draw_limits(QPainter& p, std::vector<QRectF>& taken);
    void draw_layer_labels(QPainter& p, std::vector<QRectF>& taken);
    bool covers_dot(const QRectF& box) const;
    void draw_labels(QPainter& p, std::vector<QRectF>& taken);
    void draw_badges(QPainter& p);
    void draw_cursor(QPainter& p, std::vector<QRectF>& taken);
    void draw_pointer(QPainter& p);
    /// Writes `text` with its box at `box` moved inside the plot.
    void write(QPainter& p, QRectF box, const QString& text, const QColor& color, bool bold, bool plate,
               std::vector<QRectF>* taken);
    QFont small_font(bool bold = false) const;
    QRectF text_box(const QString& text, bool bold) const;
    QPen pen(const QColor& color, double width, Stroke stroke) const;

    int limit_at(QPointF at) const;
    QRectF grip_of(const Limit& limit) const;
    QRectF cursor_grip() const;
    std::pair<int, int> dot_at(QPointF at) const;  ///< series and index; -1 = none
    void move_cursor(double x, bool fine, bool finished);
    void move_limit(std::size_t i, double value, bool finished);
    void step_cursor(int direction, bool fine);
    void zoom(double factor);

    QChart* chart_;
    QValueAxis *axis_x_, *axis_y_;
    std::map<QString, QLineSeries*> line_series_;
    std::map<QString, BandSeries> band_series_;
    std::vector<BandSeries> layer_series_;
    QRectF area_;
    bool dirty_ = true, reorder_ = true, posted_ = false;
    Axis full_x_;
    double zoom_ = 1;

    enum class Drag : std::uint8_t { none, cursor, limit };
    Drag drag_ = Drag::none;
    int dragged_limit_ = -1, active_limit_ = -1, hot_limit_ = -1;
    bool hot_cursor_ = false;
    std::optional<QPointF> pointer_;
    std::pair<int, int> hovered_{-1, -1};
    QPointF pressed_;

  public:
    void set_axes(const Axis& x, const Axis& y);
};

}  // namespace memwall::gui
