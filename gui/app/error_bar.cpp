// SPDX-License-Identifier: GPL-3.0-only
#include "gui/app/error_bar.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>

#include "gui/theme/theme.h"

namespace memwall::gui {

ErrorBar::ErrorBar(QWidget* parent)
    : QFrame(parent), text_(new QLabel), another_(new QPushButton(tr("Choose another…"))) {
    set_role(this, "error");
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(14, 5, 10, 5);
    text_->setProperty("tone", "bad");
    text_->setWordWrap(true);
    text_->setTextFormat(Qt::PlainText);
    text_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    auto* copy = new QPushButton(tr("Copy"));
    auto* close = new QPushButton(tr("Close"));
    row->addWidget(text_, 1);
    for (QPushButton* b : {copy, another_, close}) row->addWidget(b);
    connect(copy, &QPushButton::clicked, this,
            [this] { QGuiApplication::clipboard()->setText(text_->text()); });
    connect(another_, &QPushButton::clicked, this, &ErrorBar::choose_another);
    connect(close, &QPushButton::clicked, this, &QWidget::hide);
    hide();
}

void ErrorBar::show_message(const QString& message, bool about_a_file) {
    text_->setText(message);
    another_->setVisible(about_a_file);
    setAccessibleName(tr("Error"));
    setAccessibleDescription(message);
    show();
}

QString ErrorBar::message() const {
    return text_->text();
}

}  // namespace memwall::gui
