// SPDX-License-Identifier: GPL-3.0-only
#include "gui/app/find_box.h"

#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QVBoxLayout>
#include <algorithm>

#include "gui/theme/theme.h"

namespace memwall::gui {
namespace {

constexpr int kMostRows = 60;

/// All words are in the text; a hit at its beginning ranks before one inside it. -1 = no hit.
int rank(const QString& text, const QStringList& words) {
    int sum = 0;
    for (const QString& word : words) {
        const qsizetype at = text.indexOf(word, 0, Qt::CaseInsensitive);
        if (at < 0) return -1;
        sum += at == 0 ? 0 : text[at - 1].isLetterOrNumber() ? 20 : 10;
    }
    return sum;
}

}  // namespace

FindBox::FindBox(QWidget* window) : QFrame(window), field_(new QLineEdit), list_(new QListWidget) {
    set_role(this, "card");
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(10, 10, 10, 10);
    field_->setPlaceholderText(tr("Find a model, a device, an action or a ledger line"));
    field_->setAccessibleName(tr("Find"));
    field_->installEventFilter(this);
    list_->setFocusPolicy(Qt::NoFocus);
    list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    column->addWidget(field_);
    column->addWidget(list_, 1);
    connect(field_, &QLineEdit::textChanged, this, &FindBox::filter);
    connect(list_, &QListWidget::itemClicked, this, &FindBox::act);
    hide();
}

void FindBox::open(std::vector<FindEntry> entries) {
    entries_ = std::move(entries);
    const QSize room = parentWidget()->size();
    const int width = std::min(620, room.width() - 40);
    setGeometry((room.width() - width) / 2, 60, width, std::min(440, room.height() - 100));
    field_->clear();
    filter({});
    show();
    raise();
    field_->setFocus();
}

void FindBox::filter(const QString& text) {
    const QStringList words = text.split(' ', Qt::SkipEmptyParts);
    std::vector<std::pair<int, std::size_t>> hits;
    for (std::size_t i = 0; i < entries_.size(); ++i)
        if (const int r = rank(entries_[i].words + ' ' + entries_[i].kind, words); r >= 0)
            hits.push_back({r, i});
    std::stable_sort(hits.begin(), hits.end());
    list_->clear();
    for (const auto& [r, i] : hits) {
        if (list_->count() == kMostRows) break;
        auto* item = new QListWidgetItem(entries_[i].words + QStringLiteral("   ") + entries_[i].kind, list_);
        item->setData(Qt::UserRole, static_cast<int>(i));
    }
    list_->setCurrentRow(0);
}

void FindBox::act() {
    const QListWidgetItem* item = list_->currentItem();
    if (!item) return;
    const auto action = entries_[item->data(Qt::UserRole).toUInt()].act;
    hide();
    parentWidget()->setFocus();
    action();
}

bool FindBox::eventFilter(QObject* object, QEvent* event) {
    if (object == field_ && event->type() == QEvent::FocusOut && isVisible()) hide();
    if (object == field_ && event->type() == QEvent::KeyPress) {
        switch (static_cast<QKeyEvent*>(event)->key()) {
            case Qt::Key_Down:
                list_->setCurrentRow(std::min(list_->currentRow() + 1, list_->count() - 1));
                return true;
            case Qt::Key_Up:
                list_->setCurrentRow(std::max(list_->currentRow() - 1, 0));
                return true;
            case Qt::Key_Return:
            case Qt::Key_Enter:
                act();
                return true;
            case Qt::Key_Escape:
                hide();
                return true;
        }
    }
    return QFrame::eventFilter(object, event);
}

}  // namespace memwall::gui
