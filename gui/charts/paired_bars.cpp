// SPDX-License-Identifier: GPL-3.0-only
#include "gui/charts/paired_bars.h"

#include <QAccessible>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <algorithm>
#include <cmath>

#include "gui/theme/theme.h"

namespace memwall::gui {

PairedBars::PairedBars(QWidget* parent) : QAbstractScrollArea(parent) {
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::StrongFocus);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    viewport()->setAutoFillBackground(false);
    setAccessibleName(tr("Predicted and achieved"));
}

void PairedBars::set_rows(std::vector<PairedBar> rows) {
    rows_ = std::move(rows);
    selected_ = std::min(selected_, static_cast<int>(rows_.size()) - 1);
    fit();
    viewport()->update();
}

void PairedBars::set_selected(int row) {
    row = std::clamp(row, -1, static_cast<int>(rows_.size()) - 1);
    if (row == selected_) return;
    selected_ = row;
    if (row >= 0) {
        const QRect r = row_rect(row);
        if (r.top() < 0) verticalScrollBar()->setValue(verticalScrollBar()->value() + r.top());
        if (r.bottom() > viewport()->height())
            verticalScrollBar()->setValue(verticalScrollBar()->value() + r.bottom() - viewport()->height());
        const PairedBar& b = rows_[static_cast<std::size_t>(row)];
        setAccessibleDescription(tr("%1 %2: predicted %3, achieved %4, %5")
                                     .arg(b.name, b.detail, b.predicted_text, b.achieved_text, b.verdict));
    }
    viewport()->update();
    Q_EMIT selected_changed(row);
}

int PairedBars::row_height() const {
    return 2 * QFontMetrics(type(Type::note)).height() + 10;
}

QRect PairedBars::row_rect(int row) const {
    return {0, row * row_height() - verticalScrollBar()->value(), viewport()->width(), row_height()};
}

void PairedBars::fit() {
    verticalScrollBar()->setPageStep(viewport()->height());
    verticalScrollBar()->setSingleStep(row_height());
    verticalScrollBar()->setRange(
        0, std::max(0, static_cast<int>(rows_.size()) * row_height() - viewport()->height()));
}

void PairedBars::resizeEvent(QResizeEvent* event) {
    QAbstractScrollArea::resizeEvent(event);
    fit();
}

void PairedBars::changeEvent(QEvent* event) {
    QAbstractScrollArea::changeEvent(event);
    if (event->type() == QEvent::FontChange || event->type() == QEvent::StyleChange) fit();
}

void PairedBars::paintEvent(QPaintEvent*) {
    QPainter p(viewport());
    p.setRenderHint(QPainter::Antialiasing);
    clipped_.clear();
    const Theme& t = theme();
    const QFont small = type(Type::note), normal = type(Type::control);
    const QFontMetrics sm(small), nm(normal);
    const int line = sm.height();
    const auto widest = [&](auto text, const QFontMetrics& m, int least) {
        int w = least;
        for (const PairedBar& b : rows_) w = std::max(w, m.horizontalAdvance(text(b)));
        return w;
    };
    const int wanted = std::min(std::max(widest([](const PairedBar& b) { return b.name; }, nm, 80),
                                         widest([](const PairedBar& b) { return b.detail; }, sm, 80)) +
                                    14,
                                viewport()->width() * 2 / 5);
    const int values = std::max(widest([](const PairedBar& b) { return b.predicted_text; }, sm, 40),
                                widest([](const PairedBar& b) { return b.achieved_text; }, sm, 40)) +
                       12;
    const int verdicts =
        widest([](const PairedBar& b) { return b.mark + QStringLiteral("  ") + b.verdict; }, nm, 60) + 8;
    const int ratios = nm.horizontalAdvance(QStringLiteral("0.0000")) + 14;
    // Names give way before bars do, so that no number stands on a bar.
    constexpr int kShortest = 48;
    const int right = viewport()->width() - values - ratios - verdicts - 26;
    const int names = std::min(wanted, std::max(right - kShortest, 60)), left = names;
    const double length = std::max(kShortest, right - left);
    for (int i = 0; i < static_cast<int>(rows_.size()); ++i) {
        const QRect r = row_rect(i);
        if (r.bottom() < 0 || r.top() > viewport()->height()) continue;
        const PairedBar& b = rows_[static_cast<std::size_t>(i)];
        if (i == selected_) p.fillRect(r, t.selection);
        p.setPen(QPen(t.grid, 1));
        p.drawLine(QPointF(0, r.bottom() + 0.5), QPointF(r.width(), r.bottom() + 0.5));
        p.setFont(normal);
        p.setPen(t.text);
        const QString name = nm.elidedText(b.name, Qt::ElideRight, names - 10);
        if (name != b.name) clipped_ << b.name;
        p.drawText(QRect(4, r.top() + 3, names - 6, line + 2), Qt::AlignLeft | Qt::AlignVCenter, name);
        p.setFont(small);
        p.setPen(t.second);
        p.drawText(QRect(4, r.top() + line + 4, names - 6, line + 2), Qt::AlignLeft | Qt::AlignVCenter,
                   b.detail);

        // Each row on its own scale; the longer of both ends reaches 94 %.
        const double most = std::max({b.predicted, b.predicted_high, b.achieved, b.achieved_high, 1e-300});
        const auto x = [&](double v) { return left + v / most * length * 0.94; };
        const double thick = line * 0.62, top = r.top() + 4 + (line - thick) / 2,
                     second = r.top() + line + 6 + (line - thick) / 2;
        const auto bar = [&](double y, double value, double low, double high, const QColor& fill,
                             bool outline) {
            if (value <= 0) return;
            const QRectF box(left, y, std::max(x(value) - left, 1.0), thick);
            p.setPen(outline ? QPen(fill, 1.4) : QPen(Qt::NoPen));
            QColor pale = fill;
            pale.setAlphaF(0.22F);
            p.setBrush(outline ? pale : fill);
            p.drawRect(outline ? box.adjusted(0.7, 0.7, -0.7, -0.7) : box);
            if (high > low && low > 0) {
                // The interval: a whisker with ends.
                const double mid = y + thick / 2;
                p.setPen(QPen(t.text, 1.4));
                p.drawLine(QPointF(x(low), mid), QPointF(x(high), mid));
                for (const double end : {low, high})
                    p.drawLine(QPointF(x(end), y + 1), QPointF(x(end), y + thick - 1));
            }
        };
        bar(top, b.predicted, b.predicted_low, b.predicted_high, t.of(DataClass::weights), true);
        bar(second, b.achieved, b.achieved_low, b.achieved_high, t.of(DataClass::weights), false);
        const int value_left = right + 8;
        p.setPen(t.second);
        if (b.predicted > 0)
            p.drawText(QRect(value_left, r.top() + 3, values, line + 2), Qt::AlignLeft | Qt::AlignVCenter,
                       b.predicted_text);
        p.setPen(t.text);
        p.drawText(QRect(value_left, r.top() + line + 4, values, line + 2), Qt::AlignLeft | Qt::AlignVCenter,
                   b.achieved_text);
        p.setFont(normal);
        p.setPen(b.tone.isValid() ? b.tone : t.text);
        if (b.predicted > 0)
            p.drawText(QRect(value_left + values, r.top(), ratios, r.height()),
                       Qt::AlignRight | Qt::AlignVCenter, QString::number(b.achieved / b.predicted, 'f', 3));
        p.drawText(QRect(value_left + values + ratios + 10, r.top(), verdicts, r.height()),
                   Qt::AlignLeft | Qt::AlignVCenter, b.mark + QStringLiteral("  ") + b.verdict);
    }
    if (hasFocus()) {
        p.setBrush(Qt::NoBrush);
        p.setPen(QPen(t.accent, 2));
        p.drawRoundedRect(QRectF(viewport()->rect()).adjusted(1, 1, -1, -1), 4, 4);
    }
}

int PairedBars::row_at(int y) const {
    const int row = (y + verticalScrollBar()->value()) / row_height();
    return row >= 0 && row < static_cast<int>(rows_.size()) ? row : -1;
}

void PairedBars::mousePressEvent(QMouseEvent* event) {
    set_selected(row_at(static_cast<int>(event->position().y())));
}

void PairedBars::mouseDoubleClickEvent(QMouseEvent* event) {
    if (const int row = row_at(static_cast<int>(event->position().y())); row >= 0) Q_EMIT activated(row);
}

void PairedBars::keyPressEvent(QKeyEvent* event) {
    const int page = std::max(1, viewport()->height() / row_height() - 1);
    switch (event->key()) {
        case Qt::Key_Up:
            return set_selected(std::max(selected_ - 1, 0));
        case Qt::Key_Down:
            return set_selected(selected_ + 1);
        case Qt::Key_PageUp:
            return set_selected(std::max(selected_ - page, 0));
        case Qt::Key_PageDown:
            return set_selected(selected_ + page);
        case Qt::Key_Home:
            return set_selected(0);
        case Qt::Key_End:
            return set_selected(static_cast<int>(rows_.size()) - 1);
        case Qt::Key_Return:
        case Qt::Key_Enter:
        case Qt::Key_Space:
            if (selected_ >= 0) Q_EMIT activated(selected_);
            return;
        default:
            QAbstractScrollArea::keyPressEvent(event);
    }
}

}  // namespace memwall::gui
