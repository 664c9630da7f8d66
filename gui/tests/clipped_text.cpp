// SPDX-License-Identifier: GPL-3.0-only
#include "gui/tests/clipped_text.h"

#include <QCheckBox>
#include <QComboBox>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QRegularExpression>
#include <QScrollArea>
#include <QStyle>
#include <QStyleOptionButton>
#include <QTableView>
#include <QTextDocument>
#include <QTreeView>
#include <QWidget>
#include <algorithm>

#include "gui/app/elided_label.h"
#include "gui/app/memory_bar.h"
#include "gui/app/pinned_table.h"
#include "gui/charts/balance_triangle.h"
#include "gui/charts/paired_bars.h"
#include "gui/charts/plot.h"

namespace memwall::gui::tests {
namespace {

/// Whether the widget is inside a scroll area's content: what is outside its viewport can be scrolled to.
bool inside_window(const QWidget& w, const QWidget& window) {
    const QRect all = window.rect();
    const QRect at(w.mapTo(&window, QPoint(0, 0)), w.size());
    for (const QWidget* up = w.parentWidget(); up && up != &window; up = up->parentWidget())
        if (qobject_cast<const QAbstractScrollArea*>(up)) return true;
    return all.contains(at);
}

void check_label(const QLabel& label, QStringList& out, const QString& place) {
    QString text = label.text();
    if (label.buddy()) text.remove('&');
    if (text.isEmpty()) return;
    if (label.textFormat() == Qt::RichText ||
        (label.textFormat() == Qt::AutoText && Qt::mightBeRichText(text))) {
        if (!label.wordWrap() && label.sizeHint().width() > label.width() + 1) out << place + "cut: " + text;
        if (label.wordWrap() && label.heightForWidth(label.width()) > label.height() + 2)
            out << place + "cut in height: " + text;
        return;
    }
    const QRect room = label.contentsRect();
    if (label.wordWrap()) {
        const QRect need =
            label.fontMetrics().boundingRect(QRect(0, 0, room.width(), 100000), Qt::TextWordWrap, text);
        if (need.height() > room.height() + 2) out << place + "cut in height: " + text;
        // A word wider than the label cannot wrap; Chinese wraps between any two characters.
        if (std::any_of(text.begin(), text.end(), [](QChar c) { return c.script() == QChar::Script_Han; }))
            return;
        static const QRegularExpression ends(QStringLiteral("(?<=[/-])| "));  // a path wraps too
        for (const QString& word : text.split(ends))
            if (label.fontMetrics().horizontalAdvance(word) > room.width() + 1)
                out << place + "word too wide: " + word;
        return;
    }
    if (label.fontMetrics().horizontalAdvance(text) > room.width() + 1) out << place + "cut: " + text;
    if (label.fontMetrics().height() > room.height() + 2) out << place + "cut in height: " + text;
}

/// Cells and headings. Of a tree not the last column, which holds sources of any length, and in the smallest
/// window not the names, which are read in full beside it.
void check_columns(const QAbstractItemView& view, const QHeaderView& header, bool last, QStringList& out,
                   const QString& place) {
    const QAbstractItemModel* model = view.model();
    if (!model) return;
    const int columns = model->columnCount() - (last ? 0 : 1);
    // Pinned ones drop their differences in a narrow window; the numbers are checked.
    const bool pinned = qobject_cast<const PinnedTable*>(&view);
    for (int c = 0; c < columns; ++c) {
        if (header.isSectionHidden(c)) continue;
        const QString title = model->headerData(c, Qt::Horizontal).toString();
        if (!header.isHidden() && header.fontMetrics().horizontalAdvance(title) > header.sectionSize(c))
            out << place + "heading: " + title;
        int need = view.sizeHintForColumn(c);
        if (pinned) {
            need = 0;
            for (int r = 0; r < model->rowCount(); ++r)
                need = std::max(need,
                                view.fontMetrics().horizontalAdvance(model->index(r, c).data().toString()));
        }
        const bool may_be_cut = c == 0 && !last && view.window()->width() < 1280;
        if (need > header.sectionSize(c) + 1 && !may_be_cut) out << place + "cells of the column " + title;
    }
}

}  // namespace

QStringList clipped_texts(const QWidget& window) {
    QStringList out;
    for (const QWidget* w : window.findChildren<QWidget*>()) {
        if (!w->isVisibleTo(&window) || w->window() != &window) continue;
        const QString place =
            QString::fromLatin1(w->metaObject()->className()) + " in " +
            QString::fromLatin1(w->parentWidget() ? w->parentWidget()->metaObject()->className() : "") + ": ";
        // A panel scrolls down, never sideways.
        if (const auto* area = qobject_cast<const QScrollArea*>(w);
            area && area->horizontalScrollBarPolicy() == Qt::ScrollBarAlwaysOff && area->widget() &&
            area->widget()->width() > area->viewport()->width())
            out << place + "content wider than its panel";
        if (!inside_window(*w, window) && w->width() > 0) out << place + "outside the window";
        if (const auto* plot = qobject_cast<const Plot*>(w)) {
            // In the smallest window a chart may leave a label out; its table has all.
            if (window.width() >= 1280)
                for (const QString& text : plot->clipped_texts()) out << plot->title() + ": " + text;
        } else if (const auto* bar = qobject_cast<const MemoryBar*>(w)) {
            for (const QString& text : bar->clipped_texts()) out << "memory bar: " + text;
        } else if (const auto* triangle = qobject_cast<const BalanceTriangle*>(w)) {
            for (const QString& text : triangle->clipped_texts()) out << "triangle: " + text;
        } else if (const auto* bars = qobject_cast<const PairedBars*>(w)) {
            for (const QString& text : bars->clipped_texts()) out << "paired bars: " + text;
        } else if (const auto* table = qobject_cast<const QTableView*>(w)) {
            check_columns(*table, *table->horizontalHeader(), true, out, place);
        } else if (const auto* tree = qobject_cast<const QTreeView*>(w)) {
            check_columns(*tree, *tree->header(), false, out, place);
        } else if (const auto* combo = qobject_cast<const QComboBox*>(w)) {
            if (combo->fontMetrics().horizontalAdvance(combo->currentText()) + 30 > combo->width())
                out << place + "combo: " + combo->currentText();
        } else if (const auto* check = qobject_cast<const QCheckBox*>(w)) {
            if (check->sizeHint().width() > check->width()) out << place + "check box: " + check->text();
        } else if (const auto* elided = qobject_cast<const ElidedLabel*>(w)) {
            // Commands and reasons may be longer than any window; results and facts may not.
            const QString role = elided->property("role").toString();
            if (elided->text() != elided->full_text() &&
                (role == "result" || role == "caption" || role == "fact"))
                out << place + "elided: " + elided->full_text() + " -> " + elided->text();
        } else if (const auto* label = qobject_cast<const QLabel*>(w)) {
            check_label(*label, out, place);
        } else if (const auto* button = qobject_cast<const QPushButton*>(w);
                   button && !button->text().isEmpty()) {
            const QString text = QString(button->text()).remove('&');
            if (button->fontMetrics().horizontalAdvance(text) + 2 > button->width())
                out << place + "button: " + text;
        }
    }
    out.removeDuplicates();
    return out;
}

}  // namespace memwall::gui::tests
