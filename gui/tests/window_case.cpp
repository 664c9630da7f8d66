// SPDX-License-Identifier: GPL-3.0-only
#include "gui/tests/window_case.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QTest>
#include <cmath>
#include <nlohmann/json.hpp>

#include "gui/app/explain_page.h"
#include "gui/app/explore_page.h"
#include "gui/app/footer.h"
#include "gui/tests/numbers_on_screen.h"
#include "gui/tests/shown_window.h"

namespace memwall::gui::tests {
namespace {

/// Equal as printed JSON is: a double survives its shortest text, a byte count is whole.
bool same_number(double a, double b) {
    return a == b || std::abs(a - b) <= 1e-12 * std::max(std::abs(a), std::abs(b));
}

}  // namespace

WindowCase::WindowCase() = default;
WindowCase::~WindowCase() = default;

void WindowCase::open_window() {
    close_window();
    shown_ = std::make_unique<ShownWindow>();
    session_ = &shown_->session;
    window_ = &shown_->window;
    window_->activateWindow();
    QVERIFY(QTest::qWaitForWindowExposed(window_));
    QApplication::processEvents();
}

void WindowCase::close_window() {
    shown_.reset();
    session_ = nullptr;
    window_ = nullptr;
}

ExplorePage& WindowCase::explore() {
    return *static_cast<ExplorePage*>(window_->page("explore"));
}

ExplainPage& WindowCase::explain() {
    return *static_cast<ExplainPage*>(window_->page("explain"));
}

int WindowCase::compare_with_command(const QString& page) {
    window_->show_page(page);
    QApplication::processEvents();
    window_->footer().copy_command();
    QString line = QGuiApplication::clipboard()->text();
    line.replace("memwall explain ", "memwall plan ");
    if (page == "explain") line = session_->command();
    int status = -1;
    const QString text = tests::run_command(line, {"--json", "--ledger"}, &status);
    if (status != 0) {
        QTest::qFail(qPrintable("exit " + QString::number(status) + ": " + line), __FILE__, __LINE__);
        return 0;
    }
    const auto document = nlohmann::json::parse(text.toStdString());
    int compared = 0;
    for (const tests::NumberOnScreen& n : tests::numbers_on_screen(*window_)) {
        const double expected = tests::number_at(document, n.path);
        if (!same_number(n.raw, expected))
            QTest::qFail(qPrintable(QString("%1: \"%2\" shows %3, the command %4\n  %5")
                                        .arg(n.path, n.where)
                                        .arg(n.raw, 0, 'g', 17)
                                        .arg(expected, 0, 'g', 17)
                                        .arg(line)),
                         __FILE__, __LINE__);
        ++compared;
    }
    return compared;
}

}  // namespace memwall::gui::tests
