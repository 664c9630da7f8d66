// SPDX-License-Identifier: GPL-3.0-only
#include "gui/app/card.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>

#include "gui/theme/theme.h"

namespace memwall::gui {

Card::Card(const QString& title, const QString& remark, QWidget* parent)
    : QFrame(parent), title_(new QLabel(title)), remark_(new QLabel(remark)), line_(new QHBoxLayout) {
    set_role(this, "card");
    set_role(title_, "title");
    set_role(remark_, "note");
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(12, 8, 12, 8);
    column->setSpacing(4);
    line_->setSpacing(8);
    line_->addWidget(title_, 0, Qt::AlignBaseline);
    line_->addWidget(remark_, 1, Qt::AlignBaseline);
    // A remark too long for the card is cut rather than widening the page.
    remark_->setMinimumWidth(1);
    column->addLayout(line_);
    setAccessibleName(title);
}

void Card::set_content(QWidget* content, int stretch) {
    static_cast<QVBoxLayout*>(layout())->addWidget(content, stretch);
}

void Card::set_title(const QString& title) {
    title_->setText(title);
    setAccessibleName(title);
}

void Card::set_remark(const QString& remark) {
    remark_->setText(remark);
}

void Card::add_to_title(QWidget* widget) {
    line_->addWidget(widget, 0, Qt::AlignVCenter);
}

}  // namespace memwall::gui
