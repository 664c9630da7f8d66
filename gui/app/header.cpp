// SPDX-License-Identifier: GPL-3.0-only
#include "gui/app/header.h"

#include <QAction>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QPushButton>

#include "gui/theme/theme.h"

namespace memwall::gui {

Header::Header(QWidget* parent) : QFrame(parent), tabs_(new QHBoxLayout), buttons_(new QHBoxLayout) {
    set_role(this, "header");
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(14, 0, 14, 0);
    row->setSpacing(8);
    auto* brand = new QLabel(QStringLiteral("<b>memwall</b> explorer"));
    set_role(brand, "brand");
    row->addWidget(brand);
    row->addSpacing(14);
    tabs_->setSpacing(0);
    row->addLayout(tabs_);
    row->addStretch(1);
    buttons_->setSpacing(6);
    row->addLayout(buttons_);
}

void Header::add_page(const QString& title) {
    auto* tab = new QPushButton(title);
    set_role(tab, "tab");
    tab->setCheckable(true);
    tab->setAutoExclusive(true);
    // The chosen one is semibold: room for that from the start, so that nothing moves.
    tab->setMinimumWidth(QFontMetrics(type(Type::title)).horizontalAdvance(title) + 36);
    tab->setFocusPolicy(Qt::TabFocus);
    const int index = static_cast<int>(pages_.size());
    tab->setToolTip(QStringLiteral("Ctrl+%1").arg(index + 1));
    pages_ << tab;
    tabs_->addWidget(tab);
    connect(tab, &QPushButton::clicked, this, [this, index] { Q_EMIT page_chosen(index); });
}

void Header::add_action(QAction* action, const QString& text, QMenu* menu) {
    auto* button = new QPushButton(text);
    button->setFocusPolicy(Qt::TabFocus);
    button->setToolTip(QString(action->text()).remove('&') + QStringLiteral("  ") +
                       action->shortcut().toString(QKeySequence::NativeText));
    button->setEnabled(action->isEnabled());
    buttons_->addWidget(button);
    connect(action, &QAction::changed, button, [action, button] { button->setEnabled(action->isEnabled()); });
    if (menu) {
        button->setProperty("menu", true);
        button->setMenu(menu);
    } else {
        connect(button, &QPushButton::clicked, action, &QAction::trigger);
    }
}

void Header::set_page(int index) {
    if (index >= 0 && index < pages_.size()) pages_[index]->setChecked(true);
}

}  // namespace memwall::gui
