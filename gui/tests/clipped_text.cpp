// SPDX-License-Identifier: GPL-3.0-only
#include "gui/tests/clipped_text.h"

#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QStyle>
#include <QStyleOptionButton>
#include <QTextDocument>
#include <QWidget>
#include <algorithm>

#include "gui/app/elided_label.h"
#include "gui/app/memory_bar.h"
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
    if (text.isEmpty() || label.textFormat() == Qt::RichText || text.startsWith('<')) return;
    const QRect room = label.contentsRect();
    if (label.wordWrap()) {
        const QRect need =
            label.fontMetrics().boundingRect(QRect(0, 0, room.width(), 100000), Qt::TextWordWrap, text);
        if (need.height() > room.height() + 2) out << place + "cut in height: " + text;
        // A word wider than the label cannot wrap; Chinese wraps between any two characters.
        if (std::any_of(text.begin(), text.end(), [](QChar c) { return c.script() == QChar::Script_Han; }))
            return;
        for (const QString& word : text.split(' '))
            if (label.fontMetrics().horizontalAdvance(word) > room.width() + 1)
                out << place + "word too wide: " + word;
        return;
    }
    if (label.fontMetrics().horizontalAdvance(text) > room.width() + 1) out << place + "cut: " + text;
    if (label.fontMetrics().height() > room.height() + 2) out << place + "cut in height: " + text;
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
