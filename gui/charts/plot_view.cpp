// SPDX-License-Identifier: GPL-3.0-only
#include "gui/charts/plot_view.h"

#include <QApplication>
#include <QAreaSeries>
#include <QChart>
#include <QLegend>
#include <QLineSeries>
#include <QPainter>
#include <QValueAxis>
#include <algorithm>
#include <cmath>

#include "gui/theme/theme.h"

namespace memwall::gui {
namespace {

constexpr double kRight = 14, kTop = 6;  // pixels around the plot
const QEvent::Type kFlush = static_cast<QEvent::Type>(QEvent::registerEventType());

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

}  // namespace memwall::gui
