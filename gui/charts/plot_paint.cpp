// SPDX-License-Identifier: GPL-3.0-only
// What a plot paints itself: grid, texts, dots, limits, labels, cursor.
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "gui/charts/plot_view.h"
#include "gui/charts/shapes.h"
#include "gui/theme/theme.h"

namespace memwall::gui {

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
            // Beside the cursor, not under it.
            constexpr double kClear = 6;
            if (cursor_ && box.left() - kClear < px(cursor_->x) && px(cursor_->x) < box.right() + kClear) {
                const double at_cursor = px(cursor_->x);
                if (at_cursor + kClear + box.width() <= area_.right())
                    box.moveLeft(at_cursor + kClear);
                else if (at_cursor - kClear - box.width() >= area_.left())
                    box.moveRight(at_cursor - kClear);
            }
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

/// Of sized dots, which are few; clouds are for looking through.
bool PlotView::covers_dot(const QRectF& box) const {
    for (const Dots& d : dots_)
        for (std::size_t i = 0; i < d.radii.size() && i < d.points.size(); ++i) {
            const double r = d.radii[i];
            if (box.intersects({px(d.points[i].x) - r, py(d.points[i].y) - r, 2 * r, 2 * r})) return true;
        }
    return false;
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
        // Not over other dots where that is possible; not over other words in any case.
        for (const bool off_dots : {true, false})
            for (const Qt::Alignment side :
                 {l.side, Qt::Alignment(Qt::AlignRight | Qt::AlignVCenter),
                  Qt::Alignment(Qt::AlignLeft | Qt::AlignVCenter), Qt::Alignment(Qt::AlignTop),
                  Qt::Alignment(Qt::AlignBottom), Qt::Alignment(Qt::AlignRight | Qt::AlignTop),
                  Qt::Alignment(Qt::AlignRight | Qt::AlignBottom),
                  Qt::Alignment(Qt::AlignLeft | Qt::AlignTop),
                  Qt::Alignment(Qt::AlignLeft | Qt::AlignBottom)}) {
                const QRectF candidate = placed(side);
                if (!inside.contains(candidate)) continue;
                if (std::any_of(taken.begin(), taken.end(),
                                [&](const QRectF& t) { return t.intersects(candidate); }))
                    continue;
                if (found || (off_dots && covers_dot(candidate))) continue;
                box = candidate;
                found = true;
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

}  // namespace memwall::gui
