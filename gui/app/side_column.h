// SPDX-License-Identifier: GPL-3.0-only
// The column at a page's left that scrolls: texts, fields and lines between them.
#pragma once

class QFrame;
class QLabel;
class QScrollArea;
class QString;
class QVBoxLayout;
class QWidget;

namespace memwall::gui {

/// Makes `area` such a column and returns its layout.
QVBoxLayout* make_side_column(QScrollArea& area);
/// A text that wraps; `buddy` gets the focus of its mnemonic. `role` as in the theme, "" = running text.
QLabel* add_side_text(QVBoxLayout& column, const QString& text, const char* role, QWidget* buddy = nullptr);
QFrame* side_line();

}  // namespace memwall::gui
