// SPDX-License-Identifier: GPL-3.0-only
#include "gui/app/suggestions.h"

#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>

#include "gui/model/numbers.h"
#include "gui/theme/theme.h"

namespace memwall::gui {

Suggestions::Suggestions(Session& session, QWidget* parent)
    : QFrame(parent), session_(session), rows_(new QVBoxLayout(this)) {
    set_role(this, "pinned");
    rows_->setContentsMargins(14, 7, 12, 8);
    rows_->setSpacing(1);
}

int Suggestions::height_for(int width) const {
    return rows_->hasHeightForWidth() ? rows_->totalHeightForWidth(width) : rows_->totalSizeHint().height();
}

void Suggestions::refresh() {
    while (QLayoutItem* item = rows_->takeAt(0)) {
        if (item->widget()) {
            item->widget()->hide();
            item->widget()->deleteLater();
        }
        delete item;
    }
    const auto& advice = session_.planned().advice;
    auto* title = new QLabel(tr("Changes that would help"));
    set_role(title, "name");
    rows_->addWidget(title);
    const auto note = [&](const QString& text) {
        auto* label = new QLabel(text);
        set_role(label, "note");
        label->setWordWrap(true);
        label->setTextFormat(Qt::PlainText);
        rows_->addWidget(label);
    };
    if (advice.suggestions.empty()) {
        note(session_.planned().plan.verdict == plan::Verdict::fits ? tr("It fits as it is.")
                                                                    : tr("No single change makes it fit."));
        return;
    }
    for (std::size_t i = 0; i < std::min<std::size_t>(advice.suggestions.size(), 3); ++i) {
        const plan::Suggestion s = advice.suggestions[i];
        auto* button = new QPushButton(text_of(s.option).remove(QStringLiteral("--")) + ' ' + text_of(s.to));
        set_role(button, "link");
        button->setCursor(Qt::PointingHandCursor);
        button->setObjectName(QStringLiteral("suggestion_%1").arg(i));
        connect(button, &QPushButton::clicked, this, [this, s] { session_.apply(s); });
        rows_->addWidget(button, 0, Qt::AlignLeft);
        note(shown(s.effect));
    }
}

}  // namespace memwall::gui
