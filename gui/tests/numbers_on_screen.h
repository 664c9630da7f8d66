// SPDX-License-Identifier: GPL-3.0-only
// Every number a window shows names its place in memwall/plan/1 and carries its raw value: "quantity" and
// "raw" of a label, or "numbers", a map of path to value, of a label or chart with several. A path may be a
// sum: "memory.a.central+memory.b.central-memory.c.central".
#pragma once

#include <QString>
#include <QWidget>
#include <nlohmann/json.hpp>
#include <vector>

namespace memwall::gui::tests {

struct NumberOnScreen {
    QString path, where;
    double raw = 0;
};
std::vector<NumberOnScreen> numbers_on_screen(const QWidget& window);

/// NaN where the document has no such number.
double number_at(const nlohmann::json& document, const QString& path);

}  // namespace memwall::gui::tests
