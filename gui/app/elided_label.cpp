// SPDX-License-Identifier: GPL-3.0-only
#include "gui/app/elided_label.h"

#include <QEvent>

namespace memwall::gui {

ElidedLabel::ElidedLabel(const QString& text, QWidget* parent) : QLabel(parent) {
    setTextFormat(Qt::PlainText);
    setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    set_text(text);
}

void ElidedLabel::set_text(const QString& text) {
    if (text == full_) return;
    full_ = text;
    fit();
    updateGeometry();
}

QSize ElidedLabel::sizeHint() const {
    const QMargins m = contentsMargins();
    return {fontMetrics().horizontalAdvance(full_) + m.left() + m.right() + 2, QLabel::sizeHint().height()};
}

QSize ElidedLabel::minimumSizeHint() const {
    return {fontMetrics().horizontalAdvance(QStringLiteral("…")), QLabel::minimumSizeHint().height()};
}

void ElidedLabel::resizeEvent(QResizeEvent* event) {
    QLabel::resizeEvent(event);
    fit();
}

void ElidedLabel::changeEvent(QEvent* event) {
    QLabel::changeEvent(event);
    if (event->type() == QEvent::FontChange || event->type() == QEvent::StyleChange) fit();
}

void ElidedLabel::fit() {
    const QString cut = fontMetrics().elidedText(full_, Qt::ElideRight, contentsRect().width());
    if (cut != text()) setText(cut);
    setToolTip(cut == full_ ? QString() : full_);
}

}  // namespace memwall::gui
