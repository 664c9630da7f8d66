// SPDX-License-Identifier: GPL-3.0-only
// Mouse and keyboard of a plot.
#include <QApplication>
#include <QKeyEvent>
#include <QMouseEvent>
#include <algorithm>
#include <cmath>

#include "gui/charts/plot_view.h"

namespace memwall::gui {
namespace {

constexpr double kReach = 9;  // pixels from the cursor that still take it

}  // namespace

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
