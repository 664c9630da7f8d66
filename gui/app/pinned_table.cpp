// SPDX-License-Identifier: GPL-3.0-only
#include "gui/app/pinned_table.h"

#include <QHeaderView>
#include <QKeyEvent>
#include <QPainter>
#include <algorithm>

#include "gui/model/numbers.h"
#include "gui/theme/theme.h"

namespace memwall::gui {
namespace {

QColor tone_color(const QString& tone) {
    const Theme& t = theme();
    return tone == "good" ? t.good : tone == "bad" ? t.bad : tone == "accent" ? t.accent : t.text;
}

QFont cell_font(bool bold) {
    QFont f = type(Type::control);
    if (bold) f.setWeight(QFont::DemiBold);
    return f;
}

}  // namespace

void PinnedDelegate::paint(QPainter* p, const QStyleOptionViewItem& option, const QModelIndex& index) const {
    p->save();
    if (option.state & QStyle::State_Selected) p->fillRect(option.rect, theme().selection);
    QRect box = option.rect.adjusted(6, 0, -4, 0);
    const QString tone = index.data(PinnedModel::tone_role).toString();
    const bool best = index.data(PinnedModel::best_role).toBool();
    const QFont font = cell_font(best);
    const QString value = shown(index.data().toString());
    p->setFont(font);
    p->setPen(index.column() == PinnedModel::letter ? theme().text : tone_color(tone));
    const QFontMetrics metrics(font);
    p->drawText(box, Qt::AlignLeft | Qt::AlignVCenter,
                metrics.elidedText(value, Qt::ElideRight, box.width()));
    const QString difference = shown(index.data(PinnedModel::difference_role).toString());
    const QFont small = type(Type::note);
    box.adjust(metrics.horizontalAdvance(value) + 8, 0, 0, 0);
    p->setFont(small);
    if (!difference.isEmpty() && QFontMetrics(small).horizontalAdvance(difference) <= box.width())
        p->drawText(box, Qt::AlignLeft | Qt::AlignVCenter, difference);
    p->restore();
}

QSize PinnedDelegate::sizeHint(const QStyleOptionViewItem&, const QModelIndex& index) const {
    const QFontMetrics metrics(cell_font(true));
    const QString difference = shown(index.data(PinnedModel::difference_role).toString());
    return {metrics.horizontalAdvance(shown(index.data().toString())) + 14 +
                (difference.isEmpty() ? 0 : QFontMetrics(type(Type::note)).horizontalAdvance(difference) + 8),
            metrics.height() + 5};
}

PinnedTable::PinnedTable(PinnedModel& model, QWidget* parent) : QTableView(parent) {
    setModel(&model);
    setItemDelegate(new PinnedDelegate(this));
    setShowGrid(false);
    setFrameShape(QFrame::NoFrame);
    setSelectionBehavior(QAbstractItemView::SelectRows);
    setSelectionMode(QAbstractItemView::SingleSelection);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setAccessibleName(tr("Pinned configurations"));
    verticalHeader()->hide();
    verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    verticalHeader()->setMinimumSectionSize(10);
    verticalHeader()->setDefaultSectionSize(QFontMetrics(type(Type::control)).height() + 7);
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    horizontalHeader()->setHighlightSections(false);
    horizontalHeader()->setFixedHeight(QFontMetrics(type(Type::note)).height() + 10);
    horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    horizontalHeader()->setMinimumSectionSize(24);
    connect(&model, &QAbstractItemModel::modelReset, this, &PinnedTable::fit);
    connect(this, &QTableView::doubleClicked, this,
            [this](const QModelIndex& i) { Q_EMIT opened(static_cast<std::size_t>(i.row())); });
}

/// Each column what it needs, the rest of the width shared out. In a narrow window the differences go first;
/// colours still say which is better.
void PinnedTable::fit() {
    const QFontMetrics header(type(Type::note)), bold(cell_font(true));
    std::vector<int> widths;
    int sum = 0;
    const auto measure = [&](bool differences) {
        widths.clear();
        sum = 0;
        for (int c = 0; c < model()->columnCount(); ++c) {
            int w = header.horizontalAdvance(model()->headerData(c, Qt::Horizontal).toString()) + 18;
            for (int r = 0; r < model()->rowCount(); ++r) {
                const QModelIndex i = model()->index(r, c);
                w = std::max(w, differences ? itemDelegate()->sizeHint({}, i).width()
                                            : bold.horizontalAdvance(shown(i.data().toString())) + 14);
            }
            widths.push_back(w);
            sum += w;
        }
    };
    measure(true);
    if (sum > viewport()->width()) measure(false);
    const int extra = std::max(0, viewport()->width() - sum) / std::max(1, model()->columnCount() - 1);
    for (int c = 0; c < model()->columnCount(); ++c)
        setColumnWidth(c, widths[static_cast<std::size_t>(c)] + (c == 0 ? 0 : extra));
}

QSize PinnedTable::sizeHint() const {
    const int rows = std::max(1, model()->rowCount());
    return {400, rows * verticalHeader()->defaultSectionSize() + horizontalHeader()->height() + 4};
}

void PinnedTable::resizeEvent(QResizeEvent* event) {
    QTableView::resizeEvent(event);
    fit();
}

void PinnedTable::keyPressEvent(QKeyEvent* event) {
    const auto row = static_cast<std::size_t>(std::max(currentIndex().row(), 0));
    if (currentIndex().isValid() && event->key() == Qt::Key_Delete) {
        Q_EMIT unpinned(row);
        return;
    }
    if (currentIndex().isValid() &&
        (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter || event->key() == Qt::Key_Space)) {
        Q_EMIT opened(row);
        return;
    }
    QTableView::keyPressEvent(event);
}

}  // namespace memwall::gui
