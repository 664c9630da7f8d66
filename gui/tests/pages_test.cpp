// SPDX-License-Identifier: GPL-3.0-only
// Simulate and Verify: short runs in the background, cancel, and rows as they come.
#include <QAbstractItemModelTester>
#include <QFile>
#include <QFileInfo>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>
#include <nlohmann/json.hpp>

#include "gui/app/simulate_page.h"
#include "gui/app/verify_page.h"
#include "gui/charts/paired_bars.h"
#include "gui/charts/plot.h"
#include "gui/model/probes_model.h"
#include "gui/model/simulation.h"
#include "gui/model/verification.h"
#include "gui/tests/made_up_run.h"
#include "gui/tests/runner.h"

namespace memwall::gui {

class PagesTest : public QObject {
    Q_OBJECT

  private:
    static QString scenario(const QString& duration) {
        const QString path = tests::temporary_folder() + QStringLiteral("/short.yaml");
        QFile file(path);
        if (!file.open(QIODevice::WriteOnly)) return {};
        file.write(QStringLiteral("schema: memwall/scenario/1\nname: short\nduration: %1\n"
                                  "deployment: {model: llama-3.2-1b, device: \"raspberry-pi-5:8GiB\", quant: "
                                  "Q4_K_M, context: 2048}\n"
                                  "apps:\n  - name: chat\n    arrivals: {law: poisson, rate: 60/h}\n    "
                                  "prompt: {law: fixed, value: 50}\n"
                                  "    output: {law: fixed, value: 20}\n")
                       .arg(duration)
                       .toUtf8());
        return path;
    }

  private Q_SLOTS:
    void a_scenario_gives_what_the_command_gives() {
        Simulation s;
        MetricsModel metrics(s);
        QAbstractItemModelTester tester(&metrics, QAbstractItemModelTester::FailureReportingMode::QtTest);
        QSignalSpy finished(&s, &Simulation::finished), failed(&s, &Simulation::failed);
        SimulationChoice c;
        c.scenario = scenario("2h");
        QVERIFY(!c.scenario.isEmpty());
        c.seed = 7;
        s.start(c);
        QVERIFY2(finished.wait(60000), failed.isEmpty() ? "late" : qPrintable(failed[0][0].toString()));
        QVERIFY(metrics.rowCount() > 20);
        int status = 0;
        const auto j = nlohmann::json::parse(
            tests::run_command(Simulation::command(c), {"--json"}, &status).toStdString());
        QCOMPARE(status, 0);
        std::size_t compared = 0;
        for (int r = 0; r < metrics.rowCount(); ++r) {
            const QString name = metrics.data(metrics.index(r, 0)).toString().replace(u' ', u'_');
            QVERIFY(!metrics.data(metrics.index(r, 0), Qt::ToolTipRole).toString().isEmpty());
            for (const auto& m : j["metrics"]) {
                const sim::Metric* known = sim::find_metric(name.toStdString());
                if (m["name"] != std::string(known->name) + std::string(sim::unit_suffix(known->unit)))
                    continue;
                QCOMPARE(metrics.data(metrics.index(r, 1), Qt::UserRole).toDouble(), m["mean"].get<double>());
                ++compared;
            }
        }
        QCOMPARE(compared, static_cast<std::size_t>(metrics.rowCount()));
        const auto few = thinned(s.result().timeline, 50);
        QCOMPARE(few.size(), 50U);
        std::int64_t largest = 0, kept = 0;
        for (const auto& p : s.result().timeline) largest = std::max(largest, p.memory.total());
        for (const auto& p : few) kept = std::max(kept, p.memory.total());
        QCOMPARE(kept, largest);
        const Bars bars = bars_of(s.result().all().ttft);
        std::int64_t counted = 0;
        for (const std::int64_t n : bars.counts) counted += n;
        QCOMPARE(counted, s.result().all().ttft.count());
    }

    void a_long_run_is_stopped_and_gives_what_it_has() {
        Simulation s;
        QSignalSpy finished(&s, &Simulation::finished);
        SimulationChoice c;
        c.scenario = scenario("100000h");
        s.start(c);
        QTest::qWait(100);
        QVERIFY(s.running());
        s.stop();
        QVERIFY(finished.wait(20000));
        QVERIFY(s.result().interrupted);
        QVERIFY(s.result().seconds > 0);
    }

    void a_bad_scenario_says_so() {
        Simulation s;
        QSignalSpy failed(&s, &Simulation::failed);
        SimulationChoice c;
        c.scenario = "/none/such.yaml";
        s.start(c);
        QVERIFY(failed.wait(20000));
        QVERIFY(failed[0][0].toString().contains("such.yaml"));
    }

    void one_time_cursor_goes_through_all() {
        Session session;
        plan::Deployment d;
        d.model = "llama-3.2-1b";
        d.device = "raspberry-pi-5:8GiB";
        d.quant = "Q4_K_M";
        d.context = 2048;
        QVERIFY(session.apply(d));
        SimulatePage page(session);
        page.resize(1000, 640);
        page.show();
        QVERIFY(QTest::qWaitForWindowExposed(&page));
        QSignalSpy finished(&page.simulation(), &Simulation::finished);
        page.refresh();  // phone-day, at once
        QVERIFY(finished.wait(60000));
        QCoreApplication::processEvents();
        page.set_time(3600 * 5);
        QCOMPARE(page.memory_plot()->cursor()->x, 3600.0 * 5);
        QCOMPARE(page.heat_plot()->cursor()->x, 3600.0 * 5);
        QCOMPARE(page.battery_plot()->cursor()->x, 3600.0 * 5);
        const QPointF to = page.memory_plot()->to_pixels({3600.0 * 9, 1});
        QTest::mouseClick(page.memory_plot()->canvas(), Qt::LeftButton, {}, to.toPoint());
        QVERIFY(std::abs(page.heat_plot()->cursor()->x - 3600 * 9) < 300);
        QVERIFY(page.results().size() >= 4);
        QString why;
        QVERIFY2(page.export_as(tests::temporary_folder() + "/s.csv", &why), qPrintable(why));
        QCOMPARE(page.command(), QStringLiteral("memwall simulate phone-day"));
    }

    void rows_of_a_verification_are_judged() {
        Session session;
        plan::Deployment d;
        d.model = "llama-3.2-1b";
        d.device = "raspberry-pi-5:8GiB";
        QVERIFY(session.apply(d));
        VerifyPage page(session);
        QAbstractItemModelTester tester(&page.table(),
                                        QAbstractItemModelTester::FailureReportingMode::QtTest);
        page.verification().set_run(tests::made_up_run());
        QCOMPARE(page.table().rowCount(), 4);
        QCOMPARE(page.bars()->rows().size(), 4U);
        QCOMPARE(page.table().data(page.table().index(1, VerificationModel::verdict)).toString(),
                 QStringLiteral("holds"));
        QCOMPARE(page.table().data(page.table().index(3, VerificationModel::verdict)).toString(),
                 QStringLiteral("missed"));
        QVERIFY(
            std::abs(
                page.table().data(page.table().index(2, VerificationModel::ratio), Qt::UserRole).toDouble() -
                41.0 / 40) < 1e-12);
        QCOMPARE(page.results().front().tone, QStringLiteral("bad"));
        QSignalSpy ledger(&page, &Page::open_ledger);
        page.bars()->set_selected(2);
        Q_EMIT page.bars()->activated(2);
        QCOMPARE(ledger.count(), 1);
    }

    void a_tiny_real_verification_runs_and_is_cancelled() {
        Verification v;
        kernels::VerifyOptions o;
        o.models = {"small-dense"};
        o.contexts = {64};
        o.kv = {"f16"};
        o.threads = 1;
        o.runs = 1;
        QSignalSpy verified(&v, &Verification::verified), failed(&v, &Verification::failed),
            progressed(&v.worker(), &Worker::progressed);
        v.verify(o);
        QVERIFY2(verified.wait(120000), failed.isEmpty() ? "late" : qPrintable(failed[0][0].toString()));
        QVERIFY(progressed.count() > 0);
        QVERIFY(v.run()->items.size() > 3);
        bool exact = false;
        for (const auto& i : v.run()->items)
            if (i.what.find("weights") != std::string::npos) exact = i.achieved.median == i.predicted;
        QVERIFY(exact);
        v.verify(o);
        QTest::qWait(50);
        v.cancel();
        QVERIFY(!v.running());
    }

    void a_short_calibration_is_saved_as_a_device() {
        Verification v;
        kernels::CalibrateOptions o;
        o.seconds = 2;
        o.threads = 1;
        const QString path = tests::temporary_folder() + QStringLiteral("/folder/host.yaml");
        QSignalSpy calibrated(&v, &Verification::calibrated), failed(&v, &Verification::failed);
        v.calibrate(o, path);
        QVERIFY2(calibrated.wait(120000), failed.isEmpty() ? "late" : qPrintable(failed[0][0].toString()));
        QVERIFY(QFileInfo(path).size() > 100);
        Session session;
        plan::Deployment d;
        d.model = "llama-3.2-1b";
        d.quant = "Q4_K_M";
        d.device = path.toStdString();
        QVERIFY(session.apply(d));
        QVERIFY(session.planned().plan.speed.decode_known);
        ProbesModel probes;
        QAbstractItemModelTester tester(&probes, QAbstractItemModelTester::FailureReportingMode::QtTest);
        probes.set_results(v.calibration()->device.calibration->results);
        QVERIFY(probes.rowCount() > 3);
    }
};

GUI_TEST(PagesTest)

}  // namespace memwall::gui

#include "pages_test.moc"
