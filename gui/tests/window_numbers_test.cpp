// SPDX-License-Identifier: GPL-3.0-only
// Every number on screen is the one that the command prints.
#include <QLabel>
#include <QRandomGenerator>
#include <QTest>
#include <QTreeView>
#include <iostream>

#include "core/model/catalog.h"
#include "core/view/quantity_text.h"
#include "gui/app/explain_page.h"
#include "gui/app/explore_page.h"
#include "gui/app/footer.h"
#include "gui/app/memory_bar.h"
#include "gui/model/ledger_model.h"
#include "gui/model/numbers.h"
#include "gui/tests/numbers_on_screen.h"
#include "gui/tests/window_case.h"

namespace memwall::gui {

class WindowNumbersTest : public QObject, public tests::WindowCase {
    Q_OBJECT

  private Q_SLOTS:
    void init() { open_window(); }
    void cleanup() { close_window(); }

    void numbers_equal_the_command_of_50_random_settings() {
        const quint32 seed = qEnvironmentVariableIsSet("MEMWALL_SEED")
                                 ? qEnvironmentVariable("MEMWALL_SEED").toUInt()
                                 : QRandomGenerator::global()->generate();
        std::cout << "INFO   : random settings of seed " << seed << " (MEMWALL_SEED repeats them)"
                  << std::endl;
        QRandomGenerator random(seed);
        const auto pick = [&](const QStringList& list) { return list[random.bounded(list.size())]; };
        QStringList models;
        for (const std::string_view id : model::catalog_ids()) models << text_of(id);
        const std::vector<std::pair<QString, QStringList>> options{
            {"model", models},
            {"device",
             {"raspberry-pi-5:8GiB", "iphone-16-pro", "pixel-9-pro", "rtx-4090", "rtx-3060:12GiB", "host",
              "ram=16GiB,bandwidth=68GB/s,int8=20TOPS,class=phone_npu", "snapdragon-8-gen-3:12GiB",
              "jetson-orin-nano:8GiB"}},
            {"quant", {"Q4_K_M", "Q8_0", "Q2_K", "Q6_K", "IQ4_XS", "F16", ""}},
            {"kv", {"f16", "q8_0", "q4_0", ""}},
            {"kv-k", {"f16", "q8_0"}},
            {"kv-v", {"f16", "q8_0", "q4_0"}},
            {"context", {"512", "1000", "2048", "4096", "8192", "12345", "32768", "131072", ""}},
            {"sequences", {"1", "2", "4", "7"}},
            {"prompt", {"1", "64", "512", "2000", ""}},
            {"generate", {"1", "128", "1000"}},
            {"flash-attention", {"on", "off", ""}},
            {"batch", {"512", "2048", ""}},
            {"ubatch", {"128", "512", "1024", ""}},
            {"runtime", {"llama.cpp", "llama.cpp", "vllm", "mlx", "executorch", "generic"}},
            {"gpu-layers", {"auto", "0", "10", ""}},
            {"offload", {"auto", "none"}},
            {"draft", {"", "llama-3.2-1b", "qwen2.5-0.5b"}},
            {"window", {"1024", "", ""}},
            {"reserve", {"512MiB", ""}},
            {"budget", {"3GiB", "", ""}},
            {"runtime-option", {"mmap=off", "repack=off", "n_outputs_max=1", ""}},
            {"set", {"device.bandwidth=+8GB/s", ""}},
        };
        int settings = 0, numbers = 0, tries = 0;
        while (settings < 50 && ++tries < 2000) {
            const auto& [option, values] =
                options[static_cast<std::size_t>(random.bounded(static_cast<int>(options.size())))];
            if (!session_->set_option(option, pick(values))) continue;
            // Three changes between two comparisons, so that plans differ in several ways.
            if (tries % 3 != 0) continue;
            ++settings;
            numbers += compare_with_command("explore");
            numbers += compare_with_command("explain");
            if (QTest::currentTestFailed()) {
                std::cout << "FAILED with seed " << seed << " at setting " << settings << std::endl;
                return;
            }
        }
        QCOMPARE(settings, 50);
        std::cout << "INFO   : " << numbers << " numbers on screen compared in 50 settings" << std::endl;
        QVERIFY(numbers > 50 * 20);
    }

    void texts_of_results_are_the_formatters() {
        for (const tests::NumberOnScreen& n : tests::numbers_on_screen(*window_))
            if (n.path == "speed.decode_tokens_per_second.central")
                QVERIFY2(
                    n.where.contains(shown(text_of(view::text(session_->planned().plan.speed.decode)))) ||
                        n.where.startsWith("Decode"),
                    qPrintable(n.where));
    }

    void a_segment_opens_its_ledger_line() {
        (void)window_->grab();
        MemoryBar* bar = explore().bar();
        bar->setFocus();
        QTest::keyClick(bar, Qt::Key_Right);
        QTest::keyClick(bar, Qt::Key_Right);
        QTest::keyClick(bar, Qt::Key_Return);
        QCOMPARE(window_->current_page(), QString("explain"));
        QCOMPARE(explain().tree()->currentIndex().siblingAtColumn(0).data(LedgerModel::path_role).toString(),
                 QString("memory/kv_cache"));
        QVERIFY(window_->footer().command().startsWith("memwall explain llama-3.1-8b kv_cache --"));
        int status = -1;
        QVERIFY(tests::run_command(window_->footer().command(), {}, &status).contains("kv_cache"));
        QCOMPARE(status, 0);
    }
};

}  // namespace memwall::gui

using memwall::gui::WindowNumbersTest;
GUI_TEST(WindowNumbersTest)
#include "window_numbers_test.moc"
