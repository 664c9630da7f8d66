// SPDX-License-Identifier: GPL-3.0-only
// Texts of a window that do not fit where they stand, as lines for a person to read; empty = all fit.
#pragma once

#include <QStringList>

class QWidget;

namespace memwall::gui::tests {

QStringList clipped_texts(const QWidget& window);

}  // namespace memwall::gui::tests
