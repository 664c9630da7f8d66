// SPDX-License-Identifier: GPL-3.0-only
// Dots as copies of one picture: thousands of them cost under a millisecond. Private to gui/charts.
#pragma once

#include <QPainter>
#include <vector>

#include "gui/charts/marks.h"

namespace memwall::gui {

/// Pixmaps are of no use in an SVG file.
bool is_vector(const QPainter& painter);
void draw_shape(QPainter& painter, QPointF at, double radius, Shape shape, const QColor& color,
                const QColor& outline);
void draw_copies(QPainter& painter, const std::vector<QPointF>& at, double radius, Shape shape,
                 const QColor& color, const QColor& outline);
/// A letter in a disc.
void draw_badge(QPainter& painter, QPointF at, const QString& text, const QColor& fill, const QColor& ink);

}  // namespace memwall::gui
