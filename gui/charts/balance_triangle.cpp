// SPDX-License-Identifier: GPL-3.0-only
#include "gui/charts/balance_triangle.h"

#include <QAccessible>
#include <QApplication>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "gui/charts/shapes.h"
#include "gui/theme/theme.h"

namespace memwall::gui {
namespace {

constexpr double kHandle = 8, kReach = 12;

QFont note_font(bool bold) {
    QFont f = type(Type::note);
    if (bold) f.setWeight(QFont::DemiBold);
    return f;
}

}  // namespace

BalanceTriangle::BalanceTriangle(const QString& title, const QString& note, QWidget* parent)
    : QFrame(parent) {
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    set_title(title, note);
}

void BalanceTriangle::set_title(const QString& title, const QString& note) {
    title_ = title;
    note_ = note;
    setAccessibleName(title);
    update();
}

void BalanceTriangle::set_corners(const std::array<Corner, 3>& corners) {
    corners_ = corners;
    update();
}
void BalanceTriangle::set_dots(std::vector<ShareDots> dots) {
    dots_ = std::move(dots);
    hovered_ = {-1, -1};
    update();
}
void BalanceTriangle::set_badges(std::vector<Mark> badges) {
    badges_ = std::move(badges);
    update();
}
void BalanceTriangle::set_wanted(const Shares& wanted) {
    wanted_ = wanted;
    update();
}
void BalanceTriangle::set_chosen(const Shares& at, const QString& name) {
    chosen_ = at;
    chosen_name_ = name;
    update();
}
void BalanceTriangle::set_ring(const Shares& at, bool shown) {
    ring_ = at;
    ring_shown_ = shown;
    update();
}
void BalanceTriangle::set_remark(const QString& words) {
    remark_ = words;
    update();
}
void BalanceTriangle::set_description(const QString& words) {
    setAccessibleDescription(words);
    if (QAccessible::isActive()) {
        QAccessibleEvent event(this, QAccessible::DescriptionChanged);
        QAccessible::updateAccessibility(&event);
    }
}

std::array<QPointF, 3> BalanceTriangle::corners_px() const {
    const double line = QFontMetricsF(note_font(false)).height();
    const double top = 14 + line + 2.4 * line + 8,
                 bottom = height() - 2.2 * line - 14 - (remark_.isEmpty() ? 0 : line);
    const double tall = std::max(60.0, std::min(bottom - top, (width() - 70.0) * std::sqrt(3) / 2));
    const double half = tall / std::sqrt(3), centre = width() / 2.0;
    const double y = top + std::max(0.0, (bottom - top - tall) / 2);
    return {QPointF(centre - half, y + tall), QPointF(centre + half, y + tall), QPointF(centre, y)};
}

QPointF BalanceTriangle::to_pixels(const Shares& s) const {
    const auto c = corners_px();
    return c[0] * s[0] + c[1] * s[1] + c[2] * s[2];
}

Shares BalanceTriangle::to_shares(QPointF at) const {
    const auto c = corners_px();
    const double area =
        (c[1].x() - c[0].x()) * (c[2].y() - c[0].y()) - (c[2].x() - c[0].x()) * (c[1].y() - c[0].y());
    const auto part = [&](QPointF a, QPointF b) {
        return ((a.x() - at.x()) * (b.y() - at.y()) - (b.x() - at.x()) * (a.y() - at.y())) / area;
    };
    Shares s{part(c[1], c[2]), part(c[2], c[0]), part(c[0], c[1])};
    double sum = 0;
    for (double& x : s) sum += x = std::max(x, 0.0);
    for (double& x : s) x /= sum;
    return s;
}

void BalanceTriangle::paintEvent(QPaintEvent*) {
    QPainter p(this);
    p.setRenderHint(QPainter::Antialiasing);
    clipped_.clear();
    const Theme& t = theme();
    p.setPen(QPen(t.border, 1));
    p.setBrush(t.card);
    p.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 7, 7);

    const QFont title = type(Type::title);
    const QFontMetricsF title_size(title), small(note_font(false)), strong(note_font(true));
    p.setFont(title);
    p.setPen(t.text);
    p.drawText(QPointF(12, 10 + title_size.ascent()), title_);
    p.setFont(note_font(false));
    p.setPen(t.second);
    const double after = 12 + title_size.horizontalAdvance(title_) + 9;
    p.drawText(QPointF(after, 10 + title_size.ascent()),
               small.elidedText(note_, Qt::ElideRight, width() - after - 12));

    const auto c = corners_px();
    p.setPen(QPen(t.grid, 1));
    for (const double share : {0.2, 0.4, 0.6, 0.8})
        for (int k = 0; k < 3; ++k) {
            Shares a{}, b{};
            const auto i = static_cast<std::size_t>(k);
            a[i] = b[i] = share;
            a[(i + 1) % 3] = b[(i + 2) % 3] = 1 - share;
            p.drawLine(to_pixels(a), to_pixels(b));
        }
    p.setPen(QPen(t.border, 1.4));
    p.setBrush(Qt::NoBrush);
    p.drawPolygon(c.data(), 3);

    const auto text = [&](QPointF at, Qt::Alignment side, const QString& words, bool bold,
                          const QColor& color, bool plate = false) {
        const QFontMetricsF& m = bold ? strong : small;
        QRectF box(0, 0, std::ceil(m.horizontalAdvance(words)) + 2, std::ceil(m.height()));
        box.moveCenter(at);
        if (side & Qt::AlignLeft) box.moveLeft(at.x());
        if (side & Qt::AlignRight) box.moveRight(at.x());
        if (box.width() > width() - 12) clipped_.append(words);
        box.moveLeft(std::clamp(box.left(), 6.0, std::max(6.0, width() - 6 - box.width())));
        if (plate) {
            QColor ground = t.card;
            ground.setAlphaF(0.85F);
            p.setPen(Qt::NoPen);
            p.setBrush(ground);
            p.drawRoundedRect(box.adjusted(-3, 0, 3, 0), 3, 3);
        }
        p.setFont(note_font(bold));
        p.setPen(color);
        p.drawText(box, Qt::AlignCenter, words);
        return box;
    };
    const double line = small.height();
    text({c[2].x(), c[2].y() - 1.7 * line - 4}, Qt::AlignHCenter, corners_[2].name, true, t.text);
    text({c[2].x(), c[2].y() - 0.7 * line - 4}, Qt::AlignHCenter, corners_[2].about, false, t.second);
    for (const int k : {0, 1}) {
        const auto& corner = corners_[static_cast<std::size_t>(k)];
        const QPointF at = c[static_cast<std::size_t>(k)];
        const Qt::Alignment side = k == 0 ? Qt::AlignLeft : Qt::AlignRight;
        const double x = k == 0 ? at.x() - 8 : at.x() + 8;
        text({x, at.y() + 0.6 * line + 5}, side, corner.name, true, t.text);
        text({x, at.y() + 1.55 * line + 5}, side, corner.about, false, t.second);
    }
    if (!remark_.isEmpty())
        text({width() / 2.0, height() - 0.7 * line - 4}, Qt::AlignHCenter, remark_, false, t.warning);

    for (const ShareDots& d : dots_) {
        std::vector<QPointF> at;
        at.reserve(d.points.size());
        for (const Shares& s : d.points) at.push_back(to_pixels(s));
        draw_copies(p, at, d.radius, d.shape, d.color, d.outline);
    }

    // The wanted balance with its three shares, and the plan it selects.
    const QPointF handle = to_pixels(wanted_);
    QPen dashed(t.warning, 1.3);
    dashed.setDashPattern({4, 3});
    p.setPen(dashed);
    for (std::size_t k = 0; k < 3; ++k) {
        Shares foot = wanted_;
        const double rest = foot[k];
        foot[k] = 0;
        const double others = foot[(k + 1) % 3] + foot[(k + 2) % 3];
        if (others <= 0) continue;
        // Perpendicular to the side opposite of the corner: each neighbour gains half.
        foot[(k + 1) % 3] += rest / 2;
        foot[(k + 2) % 3] += rest / 2;
        p.drawLine(handle, to_pixels(foot));
    }
    if (!chosen_name_.isEmpty()) {
        const QPointF at = to_pixels(chosen_);
        p.setBrush(Qt::NoBrush);
        p.setPen(QPen(t.warning, 2));
        p.drawEllipse(at, 8, 8);
        const bool right = at.x() < width() * 0.62;
        const bool beside = std::abs(at.y() - handle.y()) < line && std::abs(at.x() - handle.x()) < 60;
        text({at.x() + (right ? 13 : -13), at.y() + (beside ? line : 0)},
             right ? Qt::AlignLeft : Qt::AlignRight, chosen_name_, true, t.warning, true);
    }
    for (const Mark& b : badges_) draw_badge(p, to_pixels(b.at), b.text, b.fill, b.ink);
    if (ring_shown_) {
        p.setBrush(Qt::NoBrush);
        p.setPen(QPen(t.text, 1.6));
        p.drawEllipse(to_pixels(ring_), 7, 7);
    }
    draw_shape(p, handle, dragging_ ? kHandle + 2 : kHandle, gui::Shape::diamond, t.warning, t.card);
    const QString shares = tr("wanted %1/%2/%3")
                               .arg(std::lround(100 * wanted_[0]))
                               .arg(std::lround(100 * wanted_[1]))
                               .arg(std::lround(100 * wanted_[2]));
    text({handle.x() - 13, handle.y()}, Qt::AlignRight, shares, true, t.warning, true);

    if (hasFocus()) {
        p.setBrush(Qt::NoBrush);
        p.setPen(QPen(t.accent, 2));
        p.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), 7, 7);
    }
}

std::pair<int, int> BalanceTriangle::dot_at(QPointF at) const {
    std::pair<int, int> best{-1, -1};
    double least = kReach * kReach;
    for (std::size_t s = 0; s < dots_.size(); ++s)
        for (std::size_t i = 0; i < dots_[s].points.size(); ++i) {
            const QPointF d = to_pixels(dots_[s].points[i]) - at;
            if (const double square = d.x() * d.x() + d.y() * d.y(); square <= least) {
                least = square;
                best = {static_cast<int>(s), static_cast<int>(i)};
            }
        }
    return best;
}

void BalanceTriangle::mousePressEvent(QMouseEvent* event) {
    pressed_ = event->position();
    if (event->button() != Qt::LeftButton) return;
    const QPointF d = event->position() - to_pixels(wanted_);
    dragging_ = std::hypot(d.x(), d.y()) <= kReach;
    if (!dragging_ && dot_at(event->position()).first < 0) {
        // Anywhere inside takes the handle there.
        const Shares s = to_shares(event->position());
        const QPointF back = to_pixels(s) - event->position();
        if (std::hypot(back.x(), back.y()) < 2) {
            dragging_ = true;
            wanted_ = s;
            Q_EMIT wanted_moved(wanted_, false);
        }
    }
    update();
}

void BalanceTriangle::mouseMoveEvent(QMouseEvent* event) {
    if (dragging_) {
        wanted_ = to_shares(event->position());
        update();
        Q_EMIT wanted_moved(wanted_, false);
        return;
    }
    const auto dot = dot_at(event->position());
    const QPointF d = event->position() - to_pixels(wanted_);
    setCursor(std::hypot(d.x(), d.y()) <= kReach ? Qt::SizeAllCursor : Qt::ArrowCursor);
    if (dot == hovered_) return;
    hovered_ = dot;
    if (dot.first >= 0) {
        const QString key = dots_[static_cast<std::size_t>(dot.first)].key;
        Q_EMIT hovered(key, dot.second);
    } else {
        Q_EMIT hovered({}, -1);
    }
}

void BalanceTriangle::mouseReleaseEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton) return;
    if (dragging_) {
        dragging_ = false;
        update();
        Q_EMIT wanted_moved(wanted_, true);
        return;
    }
    if ((event->position() - pressed_).manhattanLength() > QApplication::startDragDistance()) return;
    if (const auto dot = dot_at(event->position()); dot.first >= 0) {
        const QString key = dots_[static_cast<std::size_t>(dot.first)].key;
        Q_EMIT clicked(key, dot.second);
    }
}

void BalanceTriangle::leaveEvent(QEvent* event) {
    QFrame::leaveEvent(event);
    if (hovered_.first >= 0) {
        hovered_ = {-1, -1};
        Q_EMIT hovered({}, -1);
    }
}

/// Towards or away from a corner, at the cost of the other two in their proportion.
void BalanceTriangle::nudge(int corner, double by) {
    const auto k = static_cast<std::size_t>(corner);
    const double before = wanted_[k], after = std::clamp(before + by, 0.0, 1.0);
    const double rest = 1 - before;
    for (std::size_t i = 0; i < 3; ++i)
        if (i != k) wanted_[i] = rest > 1e-9 ? wanted_[i] * (1 - after) / rest : (1 - after) / 2;
    wanted_[k] = after;
    update();
    Q_EMIT wanted_moved(wanted_, true);
}

void BalanceTriangle::keyPressEvent(QKeyEvent* event) {
    if (event->modifiers() & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier)) {
        event->ignore();
        return;
    }
    const double step = event->modifiers() & Qt::ShiftModifier ? 0.01 : 0.05;
    switch (event->key()) {
        case Qt::Key_Left:
            return nudge(0, step);
        case Qt::Key_Right:
            return nudge(1, step);
        case Qt::Key_Up:
            return nudge(2, step);
        case Qt::Key_Down:
            return nudge(2, -step);
        case Qt::Key_0:
            wanted_ = {1.0 / 3, 1.0 / 3, 1.0 / 3};
            update();
            Q_EMIT wanted_moved(wanted_, true);
            return;
        case Qt::Key_Return:
        case Qt::Key_Enter:
            Q_EMIT activated();
            return;
        case Qt::Key_Space:
            Q_EMIT opened();
            return;
        case Qt::Key_Escape:
            Q_EMIT left();
            return;
        default:
            break;
    }
    if (!event->text().isEmpty() && event->text().front().isLetter()) {
        Q_EMIT key_pressed(event->key());
        return;
    }
    QFrame::keyPressEvent(event);
}

void BalanceTriangle::focusInEvent(QFocusEvent* event) {
    QFrame::focusInEvent(event);
    update();
}
void BalanceTriangle::focusOutEvent(QFocusEvent* event) {
    QFrame::focusOutEvent(event);
    update();
}

}  // namespace memwall::gui
