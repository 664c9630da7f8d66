// SPDX-License-Identifier: GPL-3.0-only
#include "gui/charts/plot_view.h"

#include <QApplication>
#include <QAreaSeries>
#include <QChart>
#include <QKeyEvent>
#include <QLegend>
#include <QLineSeries>
#include <QMouseEvent>
#include <QPainter>
#include <QValueAxis>
#include <algorithm>
#include <cmath>

#include "gui/charts/shapes.h"
#include "gui/theme/theme.h"

namespace memwall::gui {
namespace {

constexpr double kRight = 14, kTop = 6, kReach = 9;
const QEvent::Type kFlush = static_cast<QEvent::Type>(QEvent::registerEventType());

double interpolated(double x, double x0, double y0, double x1, double y1) {
    return x1 == x0 ? y0 : y0 + (y1 - y0) * (x - x0) / (x1 - x0);
}

}  // namespace

PlotView::PlotView(Plot* plot) : plot_(plot), chart_(new QChart) {
    chart_->setBackgroundVisible(false);
    chart_->setMargins({});
    chart_->legend()->hide();
    chart_->layout();
    axis_x_ = new QValueAxis(chart_);
    axis_y_ = new QValueAxis(chart_);
    for (QValueAxis* axis : {axis_x_, axis_y_}) {
        axis->setVisible(false);
        chart_->addAxis(axis, axis == axis_x_ ? Qt::AlignBottom : Qt::AlignLeft);
    }
    setChart(chart_);
    setRenderHint(QPainter::Antialiasing);
    setFrameShape(QFrame::NoFrame);
    setBackgroundBrush(Qt::NoBrush);
    setStyleSheet(QStringLiteral("background: transparent"));
    viewport()->setMouseTracking(true);
    viewport()->setAutoFillBackground(false);
    setFocusPolicy(Qt::StrongFocus);
    setMinimumSize(120, 90);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
}

// ---------------------------------------------------------------- data to Qt Charts

void PlotView::touch(bool order_changed) {
    dirty_ = true;
    reorder_ = reorder_ || order_changed;
    if (!posted_) {
        posted_ = true;
        QApplication::postEvent(this, new QEvent(kFlush), Qt::HighEventPriority);
    }
    viewport()->update();
}

PlotView::BandSeries PlotView::new_area() {
    auto* area = new QAreaSeries(chart_);
    // An area deletes none of its edges: they belong to it.
    BandSeries s{area, new QLineSeries(area), new QLineSeries(area)};
    area->setUpperSeries(s.high);
    area->setLowerSeries(s.low);
    return s;
}

void PlotView::set_area(const BandSeries& s, const std::vector<Spread>& points, const QColor& fill,
                        bool hatched) {
    // Cut at the edges of the axes: a clip does not reach an SVG file.
    QList<QPointF> low, high;
    const auto add = [&](double x, double a, double b) {
        const double least = scaled(y_, y_.low), most = scaled(y_, y_.high);
        low.append({scaled(x_, x), std::clamp(scaled(y_, a), least, most)});
        high.append({scaled(x_, x), std::clamp(scaled(y_, b), least, most)});
    };
    for (std::size_t i = 0; i < points.size(); ++i) {
        const Spread& b = points[i];
        if (i > 0) {
            const Spread& a = points[i - 1];
            const auto cross = [&](double x) {
                if ((a.x < x) == (b.x < x) || a.x == b.x) return;
                add(x, interpolated(x, a.x, a.low, b.x, b.low), interpolated(x, a.x, a.high, b.x, b.high));
            };
            cross(x_.low);
            // Where an edge leaves the plot: a clamped end alone would bend it.
            std::vector<double> at;
            for (const double edge : {y_.low, y_.high})
                for (const auto& [v, w] : {std::pair(a.low, b.low), std::pair(a.high, b.high)})
                    if ((v < edge) != (w < edge) && v != w) at.push_back(interpolated(edge, v, a.x, w, b.x));
            std::sort(at.begin(), at.end());
            for (const double x : at)
                if (x > a.x && x < b.x && x > x_.low && x < x_.high)
                    add(x, interpolated(x, a.x, a.low, b.x, b.low),
                        interpolated(x, a.x, a.high, b.x, b.high));
            cross(x_.high);
        }
        if (b.x >= x_.low && b.x <= x_.high) add(b.x, b.low, b.high);
    }
    s.low->replace(low);
    s.high->replace(high);
    s.area->setBrush(hatched && fill.alpha() == 0 ? QBrush(Qt::NoBrush) : QBrush(fill));
    s.area->setVisible(!hatched || fill.alpha() > 0);
}

std::vector<Spread> PlotView::layer_spread(std::size_t layer) const {
    std::vector<Spread> out;
    out.reserve(stack_.x.size());
    for (std::size_t i = 0; i < stack_.x.size(); ++i) {
        double under = 0;
        for (std::size_t k = 0; k < layer; ++k) under += stack_.layers[k].heights[i];
        const Spread s{stack_.x[i], under, under + stack_.layers[layer].heights[i]};
        if (stack_.stepped && !out.empty()) out.push_back({s.x, out.back().low, out.back().high});
        out.push_back(s);
    }
    return out;
}

void PlotView::flush() {
    if (!dirty_) return;
    dirty_ = false;
    arrange();
    while (layer_series_.size() < stack_.layers.size()) layer_series_.push_back(new_area());
    for (const auto& [key, band] : bands_)
        if (!band_series_.contains(key)) band_series_[key] = new_area();
    for (const auto& [key, line] : lines_)
        if (!line_series_.contains(key)) line_series_[key] = new QLineSeries(chart_);
    if (reorder_) {
        // Qt Charts draws in the order of adding: layers, bands, lines.
        reorder_ = false;
        for (QAbstractSeries* s : chart_->series()) chart_->removeSeries(s);
        while (layer_series_.size() > stack_.layers.size()) {
            delete layer_series_.back().area;
            layer_series_.pop_back();
        }
        std::erase_if(band_series_, [&](const auto& s) {
            if (bands_.contains(s.first)) return false;
            delete s.second.area;
            return true;
        });
        std::erase_if(line_series_, [&](const auto& s) {
            if (lines_.contains(s.first)) return false;
            delete s.second;
            return true;
        });
        const auto add = [&](QAbstractSeries* s) {
            chart_->addSeries(s);
            s->attachAxis(axis_x_);
            s->attachAxis(axis_y_);
        };
        for (const BandSeries& s : layer_series_) add(s.area);
        for (const auto& [key, s] : band_series_) add(s.area);
        for (const auto& [key, s] : line_series_) add(s);
    }
    axis_x_->setRange(scaled(x_, x_.low), scaled(x_, x_.high));
    axis_y_->setRange(scaled(y_, y_.low), scaled(y_, y_.high));
    for (std::size_t i = 0; i < stack_.layers.size(); ++i) {
        set_area(layer_series_[i], layer_spread(i), stack_.layers[i].fill, false);
        // A hair of the card between layers; steps would be cut to pieces by it.
        layer_series_[i].area->setPen(stack_.stepped ? QPen(Qt::NoPen) : QPen(theme().card, 1));
    }
    for (const auto& [key, band] : bands_) {
        set_area(band_series_[key], band.points, band.hatched ? QColor(0, 0, 0, 0) : band.fill, band.hatched);
        band_series_[key].area->setPen(Qt::NoPen);
    }
    for (const auto& [key, line] : lines_) {
        QList<QPointF> points;
        points.reserve(static_cast<qsizetype>(line.points.size()));
        for (std::size_t i = 0; i < line.points.size(); ++i) {
            const Point b = line.points[i];
            if (i > 0)
                for (const double x : {x_.low, x_.high})
                    if (const Point a = line.points[i - 1]; (a.x < x) != (b.x < x))
                        points.append({scaled(x_, x), scaled(y_, interpolated(x, a.x, a.y, b.x, b.y))});
            if (b.x >= x_.low && b.x <= x_.high) points.append({scaled(x_, b.x), scaled(y_, b.y)});
        }
        QLineSeries* s = line_series_[key];
        s->replace(points);
        s->setPen(pen(line.color, line.width, line.stroke));
    }
}

void PlotView::set_axes(const Axis& x, const Axis& y) {
    full_x_ = x;
    zoom_ = 1;
    x_ = x;
    y_ = y;
    touch(false);
}

// ---------------------------------------------------------------- geometry

QFont PlotView::small_font(bool bold) const {
    QFont f = type(Type::note);
    if (bold) f.setWeight(QFont::DemiBold);
    return f;
}

QRectF PlotView::text_box(const QString& text, bool bold) const {
    const QFontMetricsF metrics(small_font(bold));
    return {0, 0, std::ceil(metrics.horizontalAdvance(text)) + 2, std::ceil(metrics.height())};
}

double PlotView::px(double x) const {
    const double low = scaled(x_, x_.low), high = scaled(x_, x_.high);
    return area_.left() + (scaled(x_, x) - low) / (high - low) * area_.width();
}

double PlotView::py(double y) const {
    const double low = scaled(y_, y_.low), high = scaled(y_, y_.high);
    return area_.bottom() - (scaled(y_, y) - low) / (high - low) * area_.height();
}

Point PlotView::values(QPointF at) const {
    const double w = std::max(area_.width(), 1.0), h = std::max(area_.height(), 1.0);
    const double xl = scaled(x_, x_.low), xh = scaled(x_, x_.high);
    const double yl = scaled(y_, y_.low), yh = scaled(y_, y_.high);
    return {unscaled(x_, xl + (at.x() - area_.left()) / w * (xh - xl)),
            unscaled(y_, yl + (area_.bottom() - at.y()) / h * (yh - yl))};
}

std::vector<PlotView::Tick> PlotView::tick_texts(const Axis& axis, bool horizontal) const {
    const QFontMetricsF metrics(small_font());
    const double room = horizontal ? metrics.averageCharWidth() * 8 : metrics.height() * 2.4;
    const double length = horizontal ? area_.width() : area_.height();
    std::vector<Tick> out;
    double last = -1e9;
    for (const double v : ticks(axis, static_cast<int>(std::clamp(length / room, 2.0, 9.0)))) {
        const QString text = axis.text ? axis.text(v) : tick_text(v);
        const double at = horizontal ? px(v) : py(v);
        const double half = horizontal ? metrics.horizontalAdvance(text) / 2 : metrics.height() / 2;
        const double along = horizontal ? at : -at;
        const bool free = along - half > last + (horizontal ? 6 : 0);
        out.push_back({at, free ? text : QString()});
        if (free) last = along + half;
    }
    return out;
}

void PlotView::arrange() {
    const QFontMetricsF metrics(small_font());
    const double line = std::ceil(metrics.height());
    area_ = QRectF(0, kTop, std::max(width() - kRight, 10.0), std::max(height() - kTop - line - 6, 10.0));
    double widest = 0;
    for (const Tick& t : tick_texts(y_, false)) widest = std::max(widest, metrics.horizontalAdvance(t.text));
    area_.setLeft(std::min(std::ceil(widest) + 12, area_.right() - 10));
    chart_->setPlotArea(area_);
}

// ---------------------------------------------------------------- painting

QPen PlotView::pen(const QColor& color, double width, Stroke stroke) const {
    QPen p(color, width);
    p.setCapStyle(Qt::FlatCap);
    p.setJoinStyle(Qt::RoundJoin);
    if (stroke == Stroke::dashed) p.setDashPattern({5 / std::max(width, 1.0), 3 / std::max(width, 1.0)});
    if (stroke == Stroke::dotted) p.setDashPattern({1.5 / std::max(width, 1.0), 2.5 / std::max(width, 1.0)});
    return p;
}

void PlotView::paintEvent(QPaintEvent* event) {
    flush();
    QChartView::paintEvent(event);
}

void PlotView::resizeEvent(QResizeEvent* event) {
    QChartView::resizeEvent(event);
    touch(false);
}

void PlotView::changeEvent(QEvent* event) {
    QChartView::changeEvent(event);
    if (event->type() == QEvent::FontChange) touch(false);
}

bool PlotView::event(QEvent* event) {
    if (event->type() == kFlush) {
        posted_ = false;
        flush();
        return true;
    }
    // Tab moves on; the plot takes the letters and arrows.
    return QChartView::event(event);
}

void PlotView::drawBackground(QPainter* painter, const QRectF&) {
    QPainter& p = *painter;
    if (!placeholder_.isEmpty()) return;
    p.setRenderHint(QPainter::Antialiasing, false);
    const QFontMetricsF metrics(small_font());
    p.setFont(small_font());
    for (const bool horizontal : {true, false})
        for (const Tick& t : tick_texts(horizontal ? x_ : y_, horizontal)) {
            const double at = std::round(t.pixel) + 0.5;
            p.setPen(QPen(theme().grid, 1));
            if (horizontal)
                p.drawLine(QPointF(at, area_.top()), QPointF(at, area_.bottom() + 3));
            else
                p.drawLine(QPointF(area_.left() - 3, at), QPointF(area_.right(), at));
            if (t.text.isEmpty()) continue;
            p.setPen(theme().second);
            const double w = std::ceil(metrics.horizontalAdvance(t.text)) + 2, h = metrics.height();
            QRectF box = horizontal ? QRectF(t.pixel - w / 2, area_.bottom() + 4, w, h)
                                    : QRectF(area_.left() - 7 - w, t.pixel - h / 2, w, h);
            if (horizontal) box.moveLeft(std::clamp(box.left(), 0.0, std::max(0.0, width() - w)));
            p.drawText(box, Qt::AlignCenter, t.text);
        }
    p.setPen(QPen(theme().border, 1));
    p.drawLine(QPointF(area_.left() + 0.5, area_.top()), QPointF(area_.left() + 0.5, area_.bottom()));
    p.drawLine(QPointF(area_.left(), std::round(area_.bottom()) + 0.5),
               QPointF(area_.right(), std::round(area_.bottom()) + 0.5));
    p.setRenderHint(QPainter::Antialiasing, true);
}

void PlotView::drawForeground(QPainter* painter, const QRectF&) {
    QPainter& p = *painter;
    clipped_.clear();
    p.setRenderHint(QPainter::Antialiasing, true);
    if (!placeholder_.isEmpty()) {
        p.setPen(theme().second);
        p.setFont(plot_->font());
        p.drawText(QRectF(rect()).adjusted(16, 8, -16, -8), Qt::AlignCenter | Qt::TextWordWrap, placeholder_);
    } else {
        std::vector<QRectF> taken;
        draw_hatches(p);
        draw_regions(p);
        draw_dots(p);
        draw_limits(p, taken);
        draw_cursor(p, taken);
        draw_labels(p, taken);
        draw_layer_labels(p, taken);
        draw_badges(p);
        draw_pointer(p);
    }
    if (hasFocus()) {
        p.setBrush(Qt::NoBrush);
        p.setPen(QPen(theme().accent, 2));
        p.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), 4, 4);
    }
}

void PlotView::draw_regions(QPainter& p) {
    QColor veil = theme().card;
    veil.setAlphaF(0.62F);
    for (const Region& r : regions_) {
        const bool across = r.across == Qt::Horizontal;
        const Axis& axis = across ? x_ : y_;
        const double from = std::clamp(r.from, axis.low, axis.high),
                     to = std::clamp(r.to, axis.low, axis.high);
        if (!(to > from)) continue;
        const QRectF box = across ? QRectF(QPointF(px(from), area_.top()), QPointF(px(to), area_.bottom()))
                                  : QRectF(QPointF(area_.left(), py(to)), QPointF(area_.right(), py(from)));
        p.fillRect(box, veil);
        p.setPen(pen(theme().second, 1.4, Stroke::dashed));
        if (r.edge && r.from > axis.low)
            p.drawLine(across ? QLineF(box.topLeft(), box.bottomLeft())
                              : QLineF(box.bottomLeft(), box.bottomRight()));
        if (r.edge && r.to < axis.high)
            p.drawLine(across ? QLineF(box.topRight(), box.bottomRight())
                              : QLineF(box.topLeft(), box.topRight()));
        const QRectF size = text_box(r.text, true);
        if (r.text.isEmpty()) continue;
        if (size.width() + 8 <= box.width())
            write(p, QRectF(box.left() + 5, area_.bottom() - size.height() - 3, size.width(), size.height()),
                  r.text, r.text_color.isValid() ? r.text_color : theme().second, true, false, nullptr);
    }
}

void PlotView::draw_hatch(QPainter& p, const std::vector<Spread>& band, const QColor& color) {
    if (band.size() < 2) return;
    // Diagonals, cut by hand where they leave the band: neither patterns (device pixels) nor clips (lost in
    // SVG) will do. The band's edges by pixel column first.
    const int first = static_cast<int>(std::floor(area_.left())),
              last = static_cast<int>(std::ceil(area_.right()));
    std::vector<std::pair<double, double>> column(static_cast<std::size_t>(last - first + 1), {1, 0});
    for (std::size_t i = 1; i < band.size(); ++i) {
        const double a = px(band[i - 1].x), b = px(band[i].x);
        for (int c = std::max(first, static_cast<int>(std::ceil(a))); c <= b && c <= last; ++c) {
            const double low = interpolated(c, a, py(band[i - 1].low), b, py(band[i].low));
            const double high = interpolated(c, a, py(band[i - 1].high), b, py(band[i].high));
            column[static_cast<std::size_t>(c - first)] = {std::max(high, area_.top()),
                                                           std::min(low, area_.bottom())};
        }
    }
    QList<QLineF> cuts;
    constexpr int kSpacing = 6;
    const int span = static_cast<int>(area_.height());
    for (int start = first - span - kSpacing; start <= last; start += kSpacing) {
        // The diagonal through (start, bottom) going up to the right; runs of columns inside the band.
        int from = -1;
        for (int c = std::max(start, first); c <= last + 1; ++c) {
            const double y = area_.bottom() - (c - start);
            const bool in = c <= last && y >= column[static_cast<std::size_t>(c - first)].first - 0.5 &&
                            y <= column[static_cast<std::size_t>(c - first)].second + 0.5;
            if (in && from < 0) from = c;
            if (!in && from >= 0) {
                const double to = c - 1 + (c - 1 == from ? 0.8 : 0);
                cuts.append({QPointF(from, area_.bottom() - (from - start)),
                             QPointF(to, area_.bottom() - (to - start))});
                from = -1;
            }
            if (y < area_.top()) break;
        }
    }
    p.setPen(QPen(color, 1));
    p.drawLines(cuts);
}

void PlotView::draw_hatches(QPainter& p) {
    for (std::size_t i = 0; i < stack_.layers.size(); ++i)
        if (stack_.layers[i].hatched) draw_hatch(p, layer_spread(i), theme().second);
    for (const auto& [key, band] : bands_)
        if (band.hatched) draw_hatch(p, band.points, band.fill);
}

void PlotView::draw_dots(QPainter& p) {
    std::vector<const Dots*> order;
    for (const Dots& d : dots_) order.push_back(&d);
    std::stable_sort(order.begin(), order.end(),
                     [](const Dots* a, const Dots* b) { return a->order < b->order; });
    const QRectF reach = area_.adjusted(-4, -4, 4, 4);
    for (const Dots* d : order) {
        const bool own = !d->radii.empty() || !d->colors.empty();
        if (own) {
            for (std::size_t i = 0; i < d->points.size(); ++i) {
                const QPointF at(px(d->points[i].x), py(d->points[i].y));
                if (!reach.contains(at)) continue;
                draw_shape(p, at, d->radii.empty() ? d->radius : d->radii[i], d->shape,
                           d->colors.empty() ? d->color : d->colors[i], d->outline);
            }
            continue;
        }
        std::vector<QPointF> places;
        places.reserve(d->points.size());
        for (const Point& v : d->points)
            if (const QPointF at(px(v.x), py(v.y)); reach.contains(at)) places.push_back(at);
        draw_copies(p, places, d->radius, d->shape, d->color, d->outline);
    }
}

void PlotView::write(QPainter& p, QRectF box, const QString& text, const QColor& color, bool bold, bool plate,
                     std::vector<QRectF>* taken) {
    const QRectF inside = QRectF(0, 0, width(), area_.bottom());
    if (box.width() > inside.width()) clipped_.append(text);
    box.moveLeft(
        std::clamp(box.left(), inside.left(), std::max(inside.left(), inside.right() - box.width())));
    box.moveTop(std::clamp(box.top(), inside.top(), std::max(inside.top(), inside.bottom() - box.height())));
    if (plate) {
        QColor c = theme().card;
        c.setAlphaF(0.88F);
        p.setPen(Qt::NoPen);
        p.setBrush(c);
        p.drawRoundedRect(box.adjusted(-3, 0, 3, 0), 3, 3);
    }
    p.setFont(small_font(bold));
    p.setPen(color);
    p.drawText(box, Qt::AlignCenter, text);
    if (taken != nullptr) taken->push_back(box);
}

QRectF PlotView::grip_of(const Limit& limit) const {
    if (limit.orientation == Qt::Vertical) return {px(limit.value) - 5, area_.top() + 4, 10, 18};
    return {area_.right() - 24, py(limit.value) - 5, 18, 10};
}

namespace {

void draw_grip(QPainter& p, const QRectF& box, const QColor& color, const QColor& card, bool hot) {
    p.setPen(QPen(hot ? card : color, hot ? 2 : 1));
    p.setBrush(color);
    const QRectF b = hot ? box.adjusted(-2, -2, 2, 2) : box;
    p.drawRoundedRect(b, 4, 4);
    p.setPen(QPen(card, 1));
    const bool tall = b.height() > b.width();
    for (const int k : {-1, 0, 1}) {
        const QPointF c = b.center() + (tall ? QPointF(0, 3 * k) : QPointF(3 * k, 0));
        const QPointF half = tall ? QPointF(2.5, 0) : QPointF(0, 2.5);
        p.drawLine(c - half, c + half);
    }
}

}  // namespace

void PlotView::draw_limits(QPainter& p, std::vector<QRectF>& taken) {
    const auto inside = [this](const Limit& l) {
        const Axis& axis = l.orientation == Qt::Vertical ? x_ : y_;
        return l.value >= axis.low * (1 - 1e-12) && l.value <= axis.high * (1 + 1e-12);
    };
    // All lines first: a label must not be struck through by the next line.
    for (std::size_t i = 0; i < limits_.size(); ++i) {
        const Limit& l = limits_[i];
        if (!inside(l)) continue;
        p.setPen(pen(l.color, l.width, l.stroke));
        if (l.orientation == Qt::Vertical)
            p.drawLine(QPointF(px(l.value), area_.top()), QPointF(px(l.value), area_.bottom()));
        else
            p.drawLine(QPointF(area_.left(), py(l.value)), QPointF(area_.right(), py(l.value)));
        const bool hot = static_cast<int>(i) == hot_limit_ || static_cast<int>(i) == active_limit_;
        if (l.draggable) draw_grip(p, grip_of(l), l.color, theme().card, hot);
    }
    for (const Limit& l : limits_) {
        if (!inside(l) || l.label.isEmpty()) continue;
        const bool upright = l.orientation == Qt::Vertical;
        const double at = upright ? px(l.value) : py(l.value);
        QRectF box = text_box(l.label, l.width > 1.5);
        if (upright) {
            const double room = area_.height() - box.height() - 4;
            box.moveTopLeft({at + 5, area_.top() + 2 + l.label_at * room});
            if (box.right() > width() - 2) box.moveRight(at - 5);
        } else {
            const double room = area_.width() - box.width() - 10;
            box.moveLeft(area_.left() + 6 + l.label_at * room);
            const bool below = l.label_below || at - box.height() - 1 < 0;
            box.moveTop(below ? at + 2 : at - box.height() - 1);
        }
        for (const QRectF& other : taken)
            if (other.intersects(box)) {
                if (upright)
                    box.moveTop(other.bottom() + 1);
                else
                    box.moveTop(box.top() < at ? at + 2 : at - box.height() - 1);
            }
        write(p, box, l.label, l.color, l.width > 1.5, upright || l.stroke != Stroke::solid, &taken);
    }
}

void PlotView::draw_layer_labels(QPainter& p, std::vector<QRectF>& taken) {
    for (std::size_t i = 0; i < stack_.layers.size(); ++i) {
        const Layer& layer = stack_.layers[i];
        if (layer.label.isEmpty()) continue;
        const std::vector<Spread> spread = layer_spread(i);
        QRectF box = text_box(layer.label, false);
        // The middle of the thickest place, outside faded parts and other texts.
        double best = box.height() + 3;
        QPointF where;
        for (const Spread& s : spread) {
            const double x = px(s.x), top = py(std::min(s.high, y_.high)),
                         bottom = py(std::max(s.low, y_.low));
            const QRectF place(x - box.width() / 2, (top + bottom - box.height()) / 2, box.width(),
                               box.height());
            if (place.left() < area_.left() + 4 || place.right() > area_.right() - 4) continue;
            if (std::any_of(taken.begin(), taken.end(), [&](const QRectF& t) { return t.intersects(place); }))
                continue;
            if (std::any_of(regions_.begin(), regions_.end(), [&](const Region& r) {
                    return r.across == Qt::Horizontal && place.right() + 4 > px(std::max(r.from, x_.low)) &&
                           place.left() - 4 < px(std::min(r.to, x_.high));
                }))
                continue;
            if (cursor_ && std::abs(px(cursor_->x) - x) < box.width() / 2 + 4) continue;
            // The layer must be thick enough under the whole text.
            double thinnest = bottom - top;
            for (const Spread& t : spread)
                if (const double tx = px(t.x); tx >= place.left() && tx <= place.right())
                    thinnest = std::min(thinnest, std::min(py(t.low), bottom) - std::max(py(t.high), top));
            if (thinnest > best) best = thinnest, where = place.topLeft();
        }
        if (where.isNull()) continue;
        box.moveTopLeft(where);
        write(p, box, layer.label, Theme::text_on(layer.fill), false, false, &taken);
    }
}

void PlotView::draw_labels(QPainter& p, std::vector<QRectF>& taken) {
    for (const Label& l : labels_) {
        const QPointF at(px(l.at.x), py(l.at.y));
        if (!area_.adjusted(-2, -2, 2, 2).contains(at)) continue;
        const QRectF size = text_box(l.text, l.bold);
        const auto placed = [&](Qt::Alignment side) {
            QRectF box = size;
            box.moveCenter(at);
            if (side & Qt::AlignRight) box.moveLeft(at.x() + l.gap);
            if (side & Qt::AlignLeft) box.moveRight(at.x() - l.gap);
            if (side & Qt::AlignTop)
                box.moveBottom(at.y() - l.gap * (side & (Qt::AlignLeft | Qt::AlignRight) ? 0.3 : 1));
            if (side & Qt::AlignBottom)
                box.moveTop(at.y() + l.gap * (side & (Qt::AlignLeft | Qt::AlignRight) ? 0.3 : 1));
            return box;
        };
        const QRectF inside(area_.left() + 2, 0, width() - area_.left() - 4, area_.bottom());
        QRectF box = placed(l.side);
        bool found = false;
        for (const Qt::Alignment side :
             {l.side, Qt::Alignment(Qt::AlignRight | Qt::AlignVCenter),
              Qt::Alignment(Qt::AlignLeft | Qt::AlignVCenter), Qt::Alignment(Qt::AlignTop),
              Qt::Alignment(Qt::AlignBottom), Qt::Alignment(Qt::AlignRight | Qt::AlignTop),
              Qt::Alignment(Qt::AlignRight | Qt::AlignBottom), Qt::Alignment(Qt::AlignLeft | Qt::AlignTop),
              Qt::Alignment(Qt::AlignLeft | Qt::AlignBottom)}) {
            const QRectF candidate = placed(side);
            if (!inside.contains(candidate)) continue;
            if (std::any_of(taken.begin(), taken.end(),
                            [&](const QRectF& t) { return t.intersects(candidate); }))
                continue;
            box = candidate;
            found = true;
            break;
        }
        if (!found) clipped_.append(l.text);
        write(p, box, l.text, l.color, l.bold, l.plate, &taken);
    }
}

void PlotView::draw_badges(QPainter& p) {
    for (const Badge& b : badges_) {
        const QPointF at(px(b.at.x), py(b.at.y));
        if (area_.adjusted(-8, -8, 8, 8).contains(at)) draw_badge(p, at, b.text, b.fill, b.ink);
    }
}

QRectF PlotView::cursor_grip() const {
    return {px(cursor_->x) - 6, area_.bottom() - 26, 12, 18};
}

void PlotView::draw_cursor(QPainter& p, std::vector<QRectF>& taken) {
    if (!cursor_ || cursor_->x < x_.low || cursor_->x > x_.high) return;
    const QColor color = cursor_->color.isValid() ? cursor_->color : theme().accent;
    const double x = px(cursor_->x);
    p.setPen(QPen(color, hot_cursor_ || drag_ == Drag::cursor ? 2.4 : 1.8));
    p.drawLine(QPointF(x, area_.top()), QPointF(x, area_.bottom()));
    if (cursor_->grip) draw_grip(p, cursor_grip(), color, theme().card, hot_cursor_ || drag_ == Drag::cursor);
    if (!std::isnan(cursor_->label_y)) {
        p.setPen(QPen(theme().card, 1.5));
        p.setBrush(color);
        p.drawEllipse(QPointF(x, py(cursor_->label_y)), 5, 5);
    }
    if (cursor_->label.isEmpty()) return;
    QRectF box = text_box(cursor_->label, true);
    const double y = std::isnan(cursor_->label_y) ? cursor_grip().top() - box.height() / 2 - 2
                                                  : py(cursor_->label_y) - box.height() * 0.9;
    box.moveTopLeft({x + 10, y - box.height() / 2});
    if (box.right() > width() - 4) box.moveRight(x - 10);
    write(p, box, cursor_->label, color, true, true, &taken);
}

void PlotView::draw_pointer(QPainter& p) {
    if (!pointer_ || !hover_text_ || drag_ != Drag::none || !area_.contains(*pointer_)) return;
    const QString text = hover_text_(values(*pointer_).x);
    if (text.isEmpty()) return;
    p.setPen(pen(theme().second, 1, Stroke::dotted));
    p.drawLine(QPointF(pointer_->x(), area_.top()), QPointF(pointer_->x(), area_.bottom()));
    QRectF box = text_box(text, false);
    box.moveTopLeft({pointer_->x() + 8, area_.top() + 2});
    if (box.right() > area_.right()) box.moveRight(pointer_->x() - 8);
    write(p, box, text, theme().text, false, true, nullptr);
}

// ---------------------------------------------------------------- hands

int PlotView::limit_at(QPointF at) const {
    for (std::size_t i = 0; i < limits_.size(); ++i) {
        const Limit& l = limits_[i];
        if (!l.draggable) continue;
        const bool upright = l.orientation == Qt::Vertical;
        const double distance = upright ? std::abs(at.x() - px(l.value)) : std::abs(at.y() - py(l.value));
        if (grip_of(l).adjusted(-5, -5, 5, 5).contains(at) || (area_.contains(at) && distance <= 4))
            return static_cast<int>(i);
    }
    return -1;
}

std::pair<int, int> PlotView::dot_at(QPointF at) const {
    std::pair<int, int> best{-1, -1};
    double least = 12 * 12;
    for (std::size_t s = 0; s < dots_.size(); ++s) {
        const Dots& d = dots_[s];
        if (!d.hoverable) continue;
        for (std::size_t i = 0; i < d.points.size(); ++i) {
            const double dx = px(d.points[i].x) - at.x(), dy = py(d.points[i].y) - at.y();
            if (const double square = dx * dx + dy * dy;
                square < least ||
                (square == least &&
                 d.order > dots_[static_cast<std::size_t>(std::max(best.first, 0))].order)) {
                least = square;
                best = {static_cast<int>(s), static_cast<int>(i)};
            }
        }
    }
    return best;
}

void PlotView::move_cursor(double x, bool fine, bool finished) {
    if (!cursor_) return;
    x = std::clamp(x, x_.low, x_.high);
    if (cursor_->snap && !fine && !cursor_->stops.empty())
        x = *std::min_element(cursor_->stops.begin(), cursor_->stops.end(), [&](double a, double b) {
            return std::abs(px(a) - px(x)) < std::abs(px(b) - px(x));
        });
    cursor_->x = x;
    viewport()->update();
    Q_EMIT plot_->cursor_moved(x, finished);
}

void PlotView::move_limit(std::size_t i, double value, bool finished) {
    Limit& l = limits_[i];
    const Axis& axis = l.orientation == Qt::Vertical ? x_ : y_;
    l.value = std::clamp(value, axis.low, axis.high);
    viewport()->update();
    const QString key = l.key;
    Q_EMIT plot_->limit_moved(key, l.value, finished);
}

void PlotView::mousePressEvent(QMouseEvent* event) {
    const QPointF at = event->position();
    pressed_ = at;
    if (event->button() != Qt::LeftButton) return;
    dragged_limit_ = limit_at(at);
    if (dragged_limit_ >= 0) {
        drag_ = Drag::limit;
        return;
    }
    if (cursor_ && area_.adjusted(-kReach, 0, kReach, 0).contains(at) && dot_at(at).first < 0) {
        drag_ = Drag::cursor;
        if (std::abs(at.x() - px(cursor_->x)) > kReach)
            move_cursor(values(at).x, event->modifiers() & Qt::ShiftModifier, false);
        return;
    }
}

void PlotView::mouseMoveEvent(QMouseEvent* event) {
    const QPointF at = event->position();
    pointer_ = at;
    if (drag_ == Drag::limit) {
        const Point v = values(at);
        const auto i = static_cast<std::size_t>(dragged_limit_);
        if (i < limits_.size()) move_limit(i, limits_[i].orientation == Qt::Vertical ? v.x : v.y, false);
        return;
    }
    if (drag_ == Drag::cursor) {
        move_cursor(values(at).x, event->modifiers() & Qt::ShiftModifier, false);
        return;
    }
    const int limit = limit_at(at);
    const bool on_cursor = cursor_ && std::abs(at.x() - px(cursor_->x)) <= kReach && area_.contains(at);
    if (limit != hot_limit_ || on_cursor != hot_cursor_ || hover_text_) viewport()->update();
    hot_limit_ = limit;
    hot_cursor_ = on_cursor;
    viewport()->setCursor(limit >= 0  ? (limits_[static_cast<std::size_t>(limit)].orientation == Qt::Vertical
                                             ? Qt::SizeHorCursor
                                             : Qt::SizeVerCursor)
                          : on_cursor ? Qt::SizeHorCursor
                                      : Qt::ArrowCursor);
    const auto dot = limit >= 0 ? std::pair(-1, -1) : dot_at(at);
    if (dot != hovered_) {
        hovered_ = dot;
        if (dot.first >= 0) {
            const QString key = dots_[static_cast<std::size_t>(dot.first)].key;
            Q_EMIT plot_->hovered(key, dot.second);
        } else {
            Q_EMIT plot_->hovered({}, -1);
        }
    }
}

void PlotView::mouseReleaseEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    const Drag was = drag_;
    drag_ = Drag::none;
    const QPointF at = event->position();
    if (was == Drag::limit && static_cast<std::size_t>(dragged_limit_) < limits_.size()) {
        const Limit& l = limits_[static_cast<std::size_t>(dragged_limit_)];
        move_limit(static_cast<std::size_t>(dragged_limit_), l.value, true);
        return;
    }
    if (was == Drag::cursor && cursor_) {
        move_cursor(cursor_->x, true, true);
        return;
    }
    if ((at - pressed_).manhattanLength() > QApplication::startDragDistance()) return;
    if (const auto dot = dot_at(at); dot.first >= 0) {
        const QString key = dots_[static_cast<std::size_t>(dot.first)].key;
        Q_EMIT plot_->clicked(key, dot.second);
    } else if (area_.contains(at)) {
        const Point v = values(at);
        Q_EMIT plot_->clicked_at(v.x, v.y);
    }
}

void PlotView::leaveEvent(QEvent* event) {
    QChartView::leaveEvent(event);
    pointer_.reset();
    hot_limit_ = -1;
    hot_cursor_ = false;
    if (hovered_.first >= 0) {
        hovered_ = {-1, -1};
        Q_EMIT plot_->hovered({}, -1);
    }
    viewport()->update();
}

bool PlotView::viewportEvent(QEvent* event) {
    if (event->type() == QEvent::Leave) leaveEvent(event);
    return QChartView::viewportEvent(event);
}

void PlotView::wheelEvent(QWheelEvent* event) {
    event->ignore();  // the page may scroll; + and - zoom
}

void PlotView::zoom(double factor) {
    zoom_ = factor == 0 ? 1 : std::clamp(zoom_ * factor, 1.0, 64.0);
    const double low = scaled(full_x_, full_x_.low), high = scaled(full_x_, full_x_.high);
    const double centre = cursor_ ? scaled(full_x_, cursor_->x) : (low + high) / 2;
    const double span = (high - low) / zoom_;
    const double from = std::clamp(centre - span / 2, low, high - span);
    x_.low = unscaled(full_x_, from);
    x_.high = unscaled(full_x_, from + span);
    touch(false);
}

void PlotView::step_cursor(int direction, bool fine) {
    const double x = cursor_->x;
    if (fine || cursor_->stops.empty()) {
        const double step = (scaled(x_, x_.high) - scaled(x_, x_.low)) / (fine ? 200 : 20);
        move_cursor(unscaled(x_, scaled(x_, x) + direction * step), true, true);
        return;
    }
    std::vector<double> stops = cursor_->stops;
    std::sort(stops.begin(), stops.end());
    const double little = std::abs(x) * 1e-9;
    if (direction > 0) {
        const auto next = std::upper_bound(stops.begin(), stops.end(), x + little);
        if (next != stops.end()) move_cursor(*next, true, true);
    } else {
        const auto next = std::lower_bound(stops.begin(), stops.end(), x - little);
        if (next != stops.begin()) move_cursor(*std::prev(next), true, true);
    }
}

void PlotView::keyPressEvent(QKeyEvent* event) {
    const bool fine = event->modifiers() & Qt::ShiftModifier;
    if (event->modifiers() & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier)) {
        event->ignore();
        return;
    }
    if (active_limit_ >= static_cast<int>(limits_.size())) active_limit_ = -1;
    const int key = event->key();
    const auto arrow = [&](int direction, bool along_x) {
        if (active_limit_ >= 0) {
            Limit& l = limits_[static_cast<std::size_t>(active_limit_)];
            const bool upright = l.orientation == Qt::Vertical;
            const Axis& axis = upright ? x_ : y_;
            const double step = (scaled(axis, axis.high) - scaled(axis, axis.low)) / (fine ? 400 : 40);
            move_limit(static_cast<std::size_t>(active_limit_),
                       unscaled(axis, scaled(axis, l.value) + direction * step), true);
        } else if (along_x && cursor_) {
            step_cursor(direction, fine);
        } else {
            Q_EMIT plot_->stepped(along_x ? direction : -direction);
        }
    };
    switch (key) {
        case Qt::Key_Left:
            return arrow(-1, true);
        case Qt::Key_Right:
            return arrow(1, true);
        case Qt::Key_Up:
            return arrow(1, false);
        case Qt::Key_Down:
            return arrow(-1, false);
        case Qt::Key_Return:
        case Qt::Key_Enter:
            Q_EMIT plot_->activated();
            return;
        case Qt::Key_Space:
            Q_EMIT plot_->opened();
            return;
        case Qt::Key_Escape:
            if (active_limit_ >= 0) {
                active_limit_ = -1;
                viewport()->update();
            } else {
                Q_EMIT plot_->left();
            }
            return;
        case Qt::Key_Plus:
        case Qt::Key_Equal:
            return zoom(1.5);
        case Qt::Key_Minus:
            return zoom(1 / 1.5);
        case Qt::Key_0:
            return zoom(0);
        case Qt::Key_C: {
            // Each press takes the next limit in hand.
            int next = active_limit_ + 1;
            while (next < static_cast<int>(limits_.size()) &&
                   !limits_[static_cast<std::size_t>(next)].draggable)
                ++next;
            active_limit_ = next < static_cast<int>(limits_.size()) ? next : -1;
            if (active_limit_ >= 0)
                plot_->set_description(limits_[static_cast<std::size_t>(active_limit_)].hint);
            viewport()->update();
            return;
        }
        default:
            break;
    }
    if (!event->text().isEmpty() && event->text().front().isLetter()) {
        Q_EMIT plot_->key_pressed(key);
        return;
    }
    QChartView::keyPressEvent(event);
}

void PlotView::focusInEvent(QFocusEvent* event) {
    QChartView::focusInEvent(event);
    viewport()->update();
}

void PlotView::focusOutEvent(QFocusEvent* event) {
    QChartView::focusOutEvent(event);
    active_limit_ = -1;
    viewport()->update();
}

}  // namespace memwall::gui
