// SPDX-License-Identifier: GPL-3.0-only
#include "gui/tests/numbers_on_screen.h"

#include <QLabel>
#include <QRegularExpression>
#include <QVariantMap>
#include <limits>

namespace memwall::gui::tests {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

double one(const nlohmann::json& document, const QString& path) {
    const nlohmann::json* at = &document;
    for (const QString& step : path.split('.')) {
        bool is_index = false;
        const auto index = step.toUInt(&is_index);
        if (at->is_array() && is_index && index < at->size())
            at = &(*at)[index];
        else if (at->is_object() && at->contains(step.toStdString()))
            at = &(*at)[step.toStdString()];
        else
            return kMissing;
    }
    return at->is_number() ? at->get<double>() : kMissing;
}

}  // namespace

double number_at(const nlohmann::json& document, const QString& path) {
    static const QRegularExpression term(QStringLiteral("([+-]?)([^+-]+)"));
    double sum = 0;
    for (auto it = term.globalMatch(path); it.hasNext();) {
        const auto m = it.next();
        sum += (m.captured(1) == "-" ? -1 : 1) * one(document, m.captured(2));
    }
    return sum;
}

std::vector<NumberOnScreen> numbers_on_screen(const QWidget& window) {
    std::vector<NumberOnScreen> found;
    for (const QWidget* w : window.findChildren<QWidget*>()) {
        if (!w->isVisibleTo(&window)) continue;
        const auto* label = qobject_cast<const QLabel*>(w);
        const QString where =
            label ? label->text() : w->accessibleName() + QString::fromLatin1(w->metaObject()->className());
        if (const QString path = w->property("quantity").toString();
            !path.isEmpty() && w->property("raw").isValid())
            found.push_back({path, where, w->property("raw").toDouble()});
        const QVariantMap numbers = w->property("numbers").toMap();
        for (auto it = numbers.begin(); it != numbers.end(); ++it)
            found.push_back({it.key(), where, it.value().toDouble()});
    }
    return found;
}

}  // namespace memwall::gui::tests
