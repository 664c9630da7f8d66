// SPDX-License-Identifier: GPL-3.0-only
// What is on screen as a file.
#pragma once

#include <QString>

class QAbstractItemModel;
class QWidget;

namespace memwall::gui {

/// By the ending of `path`: .svg or .png (twice the screen's pixels). False with one line in `error`.
bool export_picture(QWidget& widget, const QString& path, QString* error);

/// Comma-separated values, quoted where needed; the header first.
bool export_table(const QAbstractItemModel& model, const QString& path, QString* error);
QString table_as_csv(const QAbstractItemModel& model);

}  // namespace memwall::gui
