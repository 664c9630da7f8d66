// SPDX-License-Identifier: GPL-3.0-only
#include "gui/app/footer.h"

#include <QClipboard>
#include <QFrame>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QLocale>
#include <QPushButton>
#include <QVBoxLayout>

#include "gui/app/elided_label.h"
#include "gui/theme/theme.h"

namespace memwall::gui {

Footer::Footer(QWidget* parent)
    : QFrame(parent),
      command_(new ElidedLabel),
      warnings_button_(new QPushButton),
      copy_(new QPushButton(tr("Copy"))),
      time_(new QLabel) {
    set_role(this, "footer");
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(14, 3, 14, 3);
    row->setSpacing(12);
    set_role(command_, "mono");
    command_->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Preferred);
    command_->setAccessibleName(tr("Equivalent command"));
    set_role(copy_, "link");
    copy_->setToolTip(QStringLiteral("Ctrl+Shift+C"));
    copy_->setCursor(Qt::PointingHandCursor);
    set_role(warnings_button_, "link");
    warnings_button_->setCursor(Qt::PointingHandCursor);
    set_role(time_, "note");
    row->addWidget(command_, 0);
    row->addWidget(copy_);
    row->addStretch(1);
    row->addWidget(warnings_button_);
    row->addWidget(time_);
    connect(copy_, &QPushButton::clicked, this, &Footer::copy_command);
    connect(warnings_button_, &QPushButton::clicked, this, &Footer::show_warnings);
}

void Footer::set_command(const QString& command) {
    command_->set_text(command);
    command_->setAccessibleDescription(command);
    command_->updateGeometry();
}

QString Footer::command() const {
    return command_->full_text();
}

void Footer::copy_command() {
    QGuiApplication::clipboard()->setText(command_->full_text());
}

void Footer::set_warnings(const QStringList& warnings) {
    warnings_ = warnings;
    warnings_button_->setVisible(!warnings.isEmpty());
    warnings_button_->setText(tr("%n warning(s)", nullptr, static_cast<int>(warnings.size())));
}

void Footer::set_milliseconds(double ms) {
    time_->setText(tr("planned in %1 ms").arg(QLocale().toString(ms, 'f', ms < 10 ? 1 : 0)));
}

void Footer::show_warnings() {
    auto* popup = new QFrame(this, Qt::Popup);
    popup->setAttribute(Qt::WA_DeleteOnClose);
    set_role(popup, "card");
    auto* column = new QVBoxLayout(popup);
    for (const QString& w : warnings_) {
        auto* label = new QLabel(QStringLiteral("• ") + w);
        label->setWordWrap(true);
        label->setTextFormat(Qt::PlainText);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse);
        column->addWidget(label);
    }
    popup->setFixedWidth(460);
    popup->adjustSize();
    popup->move(mapToGlobal(QPoint(width() - popup->width() - 10, -popup->height() - 4)));
    popup->show();
}

}  // namespace memwall::gui
