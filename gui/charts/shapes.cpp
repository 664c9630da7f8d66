// SPDX-License-Identifier: GPL-3.0-only
#include "gui/charts/shapes.h"

#include <QPaintEngine>
#include <QPixmapCache>
#include <cmath>

#include "gui/theme/theme.h"

namespace memwall::gui {

bool is_vector(const QPainter& p) {
    return p.paintEngine() != nullptr && p.paintEngine()->type() == QPaintEngine::SVG;
}

void draw_shape(QPainter& p, QPointF at, double r, Shape shape, const QColor& color, const QColor& outline) {
    p.setBrush(color);
    p.setPen(outline.isValid() ? QPen(outline, 1) : QPen(Qt::NoPen));
    switch (shape) {
        case Shape::disc:
            p.drawEllipse(at, r, r);
            break;
        case Shape::ring:
            p.setBrush(Qt::NoBrush);
            p.setPen(QPen(color, 1));
            p.drawEllipse(at, r - 0.5, r - 0.5);
            break;
        case Shape::cross:
            p.setPen(QPen(color, 1.8, Qt::SolidLine, Qt::RoundCap));
            p.drawLine(at + QPointF(-r, -r), at + QPointF(r, r));
            p.drawLine(at + QPointF(-r, r), at + QPointF(r, -r));
            break;
        case Shape::diamond: {
            const QPointF corners[] = {at + QPointF(0, -r), at + QPointF(r, 0), at + QPointF(0, r),
                                       at + QPointF(-r, 0)};
            p.drawConvexPolygon(corners, 4);
            break;
        }
        case Shape::square:
            p.drawRect(QRectF(at.x() - r, at.y() - r, 2 * r, 2 * r));
            break;
    }
}

void draw_copies(QPainter& p, const std::vector<QPointF>& at, double radius, Shape shape, const QColor& color,
                 const QColor& outline) {
    if (is_vector(p) || at.size() < 8) {
        for (const QPointF& place : at) draw_shape(p, place, radius, shape, color, outline);
        return;
    }
    const double ratio = p.device()->devicePixelRatioF();
    const double side = std::ceil(2 * radius + 4);
    const QString key = QStringLiteral("memwall/dot/%1/%2/%3/%4/%5")
                            .arg(color.rgba())
                            .arg(outline.isValid() ? outline.rgba() : 0)
                            .arg(radius)
                            .arg(static_cast<int>(shape))
                            .arg(ratio);
    QPixmap mark;
    if (!QPixmapCache::find(key, &mark)) {
        mark = QPixmap((QSizeF(side, side) * ratio).toSize());
        mark.setDevicePixelRatio(ratio);
        mark.fill(Qt::transparent);
        QPainter q(&mark);
        q.setRenderHint(QPainter::Antialiasing);
        draw_shape(q, QPointF(side / 2, side / 2), radius, shape, color, outline);
        q.end();
        QPixmapCache::insert(key, mark);
    }
    std::vector<QPainter::PixmapFragment> copies;
    copies.reserve(at.size());
    const QRectF whole(0, 0, mark.width(), mark.height());
    for (const QPointF& place : at)
        copies.push_back(QPainter::PixmapFragment::create(place, whole, 1 / ratio, 1 / ratio));
    p.drawPixmapFragments(copies.data(), static_cast<int>(copies.size()), mark);
}

void draw_badge(QPainter& p, QPointF at, const QString& text, const QColor& fill, const QColor& ink) {
    p.setPen(QPen(ink, 1));
    p.setBrush(fill);
    p.drawEllipse(at, 9, 9);
    QFont font = type(Type::note);
    font.setWeight(QFont::DemiBold);
    p.setFont(font);
    p.drawText(QRectF(at.x() - 9, at.y() - 9, 18, 18), Qt::AlignCenter, text);
}

}  // namespace memwall::gui
