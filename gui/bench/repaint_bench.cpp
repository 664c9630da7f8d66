// SPDX-License-Identifier: GPL-3.0-only
// From a control change to the finished repaint, beside the library's plan time in the same run, which is the
// floor.
//   memwall_gui_bench [CHANGES] [--json]
#include <QApplication>
#include <QElapsedTimer>
#include <QRandomGenerator>
#include <QTemporaryDir>
#include <algorithm>
#include <cstdio>
#include <vector>

#include "devices/planning.h"
#include "gui/tests/shown_window.h"

namespace {

using namespace memwall;

double milliseconds(const QElapsedTimer& timer) {
    return static_cast<double>(timer.nsecsElapsed()) / 1e6;
}

double share(std::vector<double> values, double p) {
    std::sort(values.begin(), values.end());
    return values[static_cast<std::size_t>(p * static_cast<double>(values.size() - 1))];
}

}  // namespace

int main(int argc, char** argv) {
    const QTemporaryDir config;
    gui::tests::leave_the_desktop(config.path());
    QApplication app(argc, argv);
    gui::tests::use_plain_looks();
    int changes = 200;
    bool json = false;
    for (const QString& word : QApplication::arguments().mid(1)) {
        if (word == "--json")
            json = true;
        else
            changes = std::max(1, word.toInt());
    }
    gui::tests::ShownWindow shown;
    gui::Session& session = shown.session;
    gui::MainWindow& window = shown.window;
    window.show_page("explore");
    for (int i = 0; i < 20; ++i) QApplication::processEvents(QEventLoop::AllEvents, 20);

    struct Control {
        const char* option;
        std::vector<const char*> values;
    };
    const Control controls[] = {
        {"context", {"1024", "2048", "3072", "4096", "6144", "8192", "12288", "16384", "32768"}},
        {"quant", {"Q4_K_M", "Q8_0", "Q6_K", "Q5_K_M", "Q3_K_M", "IQ4_XS"}},
        {"kv", {"f16", "q8_0", "q4_0"}},
        {"model",
         {"llama-3.1-8b", "llama-3.2-3b", "qwen2.5-7b", "qwen3-4b", "gemma-3-4b", "qwen3-30b-a3b",
          "phi-4-mini"}},
        {"device", {"raspberry-pi-5:8GiB", "iphone-16-pro", "pixel-9-pro", "rtx-4090"}},
        {"prompt", {"64", "256", "512", "1000"}},
        {"sequences", {"1", "2", "4"}},
        {"flash-attention", {"on", "off", "auto"}}};
    QRandomGenerator random(7);
    std::vector<double> repaint, plan;
    while (repaint.size() < static_cast<std::size_t>(changes)) {
        const Control& c = controls[random.bounded(static_cast<int>(std::size(controls)))];
        const char* value =
            c.values[static_cast<std::size_t>(random.bounded(static_cast<int>(c.values.size())))];
        const QString before = session.command();
        QElapsedTimer timer;
        timer.start();
        const bool taken = session.set_option(c.option, value);
        if (!taken || session.command() == before) continue;
        // Everything that asked to be painted is painted now; nothing is left for later turns of the loop but
        // the grey lines, which come from the worker.
        QApplication::processEvents(QEventLoop::ExcludeUserInputEvents);
        const double total = milliseconds(timer);
        timer.restart();
        const devices::Planned fresh = devices::make_plan(session.deployment());
        plan.push_back(milliseconds(timer));
        repaint.push_back(total);
        if (fresh.plan.memory.total.central != session.planned().plan.memory.total.central) return 1;
        while (!window.ready()) QApplication::processEvents(QEventLoop::AllEvents, 5);
    }
    const char* form =
        json ? "{\"changes\": %d, \"repaint_ms\": {\"median\": %.2f, \"p95\": %.2f, \"max\": %.2f}, "
               "\"plan_ms\": {\"median\": %.2f, \"p95\": %.2f}}\n"
             : "%d random changes, from the change to the finished repaint: median %.2f ms, 95 %% %.2f ms, "
               "max %.2f ms\nmake_plan of the same deployments: median %.2f ms, 95 %% %.2f ms\n";
    std::printf(form, changes, share(repaint, 0.5), share(repaint, 0.95), share(repaint, 1), share(plan, 0.5),
                share(plan, 0.95));
    return 0;
}
