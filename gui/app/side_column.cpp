// SPDX-License-Identifier: GPL-3.0-only
#include "gui/app/side_column.h"

#include <QFrame>
#include <QLabel>
#include <QScrollArea>
#include <QVBoxLayout>

#include "gui/theme/theme.h"

namespace memwall::gui {

QVBoxLayout* make_side_column(QScrollArea& area) {
    set_role(&area, "panel");
    area.setWidgetResizable(true);
    area.setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    auto* inside = new QWidget;
    set_role(inside, "panel");
    area.setWidget(inside);
    auto* column = new QVBoxLayout(inside);
    column->setContentsMargins(14, 12, 14, 12);
    column->setSpacing(5);
    return column;
}

QLabel* add_side_text(QVBoxLayout& column, const QString& text, const char* role, QWidget* buddy) {
    auto* label = new QLabel(text);
    label->setWordWrap(true);
    label->setMinimumWidth(1);
    if (*role) set_role(label, role);
    if (buddy) label->setBuddy(buddy);
    column.addWidget(label);
    return label;
}

QFrame* side_line() {
    auto* line = new QFrame;
    set_role(line, "line");
    line->setFixedHeight(1);
    return line;
}

}  // namespace memwall::gui
