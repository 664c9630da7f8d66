// SPDX-License-Identifier: GPL-3.0-only
// The item models of the shell: ledger and choices, with their filters.
#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <QTest>

#include "core/plan/search.h"
#include "gui/model/choices_model.h"
#include "gui/model/ledger_model.h"
#include "gui/model/session.h"
#include "gui/model/worker.h"
#include "gui/tests/runner.h"

namespace memwall::gui {

class ModelsTest : public QObject {
    Q_OBJECT

  private:
    Session session_;

  private Q_SLOTS:
    void initTestCase() {
        plan::Deployment d;
        d.model = "llama-3.2-1b";
        d.device = "raspberry-pi-5:8GiB";
        d.quant = "Q4_K_M";
        QVERIFY(session_.apply(d));
    }

    void ledger_tree() {
        LedgerModel model;
        LedgerFilter filter;
        filter.setSourceModel(&model);
        const QAbstractItemModelTester source(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        const QAbstractItemModelTester proxy(&filter, QAbstractItemModelTester::FailureReportingMode::QtTest);
        model.set_ledger(session_.ledger());
        QCOMPARE(model.index(0, 0).data().toString(), QString("Memory"));
        const QModelIndex kv = model.find("memory/kv_cache");
        QVERIFY(kv.isValid());
        QCOMPARE(kv.data(LedgerModel::path_role).toString(), QString("memory/kv_cache"));
        QCOMPARE(kv.data(LedgerModel::raw_role).toDouble(),
                 session_.planned()
                     .plan.memory.items[static_cast<std::size_t>(plan::Item::kv_cache)]
                     .central.as_double());
        filter.set_words("kv_heads");
        QVERIFY(filter.rowCount() > 0);
        QVERIFY(filter.mapFromSource(kv).isValid());  // its child matches
        QVERIFY(!filter.mapFromSource(model.find("memory/weights")).isValid());
        filter.set_words("no such words");
        QCOMPARE(filter.rowCount(), 0);
        filter.set_words("");
        QCOMPARE(filter.rowCount(), model.rowCount());
        model.set_ledger(session_.ledger());
    }

    void choices_table() {
        ChoicesModel model;
        ChoicesFilter filter;
        filter.setSourceModel(&model);
        const QAbstractItemModelTester source(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        const QAbstractItemModelTester proxy(&filter, QAbstractItemModelTester::FailureReportingMode::QtTest);
        devices::Replanner planner;
        for (const char* option :
             {"quant", "kv-k", "runtime", "draft", "flash-attention", "offload", "processor"}) {
            auto rows = choices_of(option, session_.deployment(), session_.planned(), {});
            QVERIFY2(!rows.empty(), option);
            QVERIFY2(
                std::count_if(rows.begin(), rows.end(), [](const Choice& c) { return c.current; }) == 1 ||
                    QString(option) == "processor",
                option);
            model.set_rows(rows);
            for (std::size_t i = 0; i < rows.size(); ++i) {
                plan_choice(rows[i], option, session_.deployment(), session_.planned(), planner);
                QVERIFY(rows[i].state != Choice::State::waiting);
                QVERIFY(rows[i].state == Choice::State::planned || !rows[i].why_not.isEmpty());
                model.set_row(static_cast<int>(i), rows[i]);
            }
        }
        model.set_rows(choices_of("model", session_.deployment(), session_.planned(), {}));
        filter.set_words("llama 3.2");
        QVERIFY(filter.rowCount() >= 2);
        filter.set_words("");
        QVERIFY(filter.rowCount() > 100);
    }

    void a_choice_changes_by_what_its_plan_says() {
        devices::Replanner planner;
        auto rows = choices_of("quant", session_.deployment(), session_.planned(), {});
        const auto q8 =
            std::find_if(rows.begin(), rows.end(), [](const Choice& c) { return c.value == "Q8_0"; });
        QVERIFY(q8 != rows.end());
        plan_choice(*q8, "quant", session_.deployment(), session_.planned(), planner);
        const devices::Planned p = devices::make_plan(with_option(session_.deployment(), "quant", "Q8_0"));
        QCOMPARE(q8->needed_bytes, plan::candidate_of(p.plan, p.knobs).footprint.central.as_double());
        QCOMPARE(q8->decode_rate, p.plan.speed.decode.central.value);
        QVERIFY(q8->memory.startsWith('+'));
    }

    void consequences_say_something() {
        devices::Replanner planner;
        const auto lines =
            consequences(session_.deployment(), session_.planned(), planner, [] { return false; });
        for (const char* key : {"quant", "kv", "sequences", "flash-attention", "offload"})
            QVERIFY2(!lines[key].text.isEmpty(), key);
        QVERIFY(lines["kv"].helps);
    }

    void the_newest_request_wins() {
        Worker worker;
        QSignalSpy busy(&worker, &Worker::busy_changed);
        std::vector<int> answers;
        for (int i = 0; i < 100; ++i)
            worker.submit(
                [i](const JobControl& control) {
                    for (int n = 0; n < 20 && !control.cancelled(); ++n) QThread::usleep(100);
                    return i;
                },
                [&](int answer) { answers.push_back(answer); });
        QTRY_VERIFY(!worker.busy());
        QVERIFY(!answers.empty());
        QCOMPARE(answers.back(), 99);
        QCOMPARE(answers.size(),
                 1U);  // nothing was let through in between: this thread never returned to its loop
        QCOMPARE(busy.count(), 2);
    }

    void a_job_that_throws_says_why() {
        Worker worker;
        QSignalSpy failed(&worker, &Worker::failed);
        worker.submit([](const JobControl&) -> int { throw std::runtime_error("no such file"); },
                      [](int) { QFAIL("delivered"); });
        QTRY_COMPARE(failed.count(), 1);
        QCOMPARE(failed[0][0].toString(), QString("no such file"));
        QVERIFY(!worker.busy());
    }

    void a_cancelled_job_delivers_nothing() {
        Worker worker;
        bool delivered = false;
        std::atomic<bool> done{false};
        worker.submit(
            [&](const JobControl& control) {
                while (!control.cancelled()) QThread::usleep(100);
                done = true;
                return 1;
            },
            [&](int) { delivered = true; });
        QTest::qWait(5);
        worker.cancel();
        QVERIFY(!worker.busy());
        QTRY_VERIFY(done);
        QTest::qWait(5);
        QVERIFY(!delivered);
    }

    void numbers_as_people_read_them() {
        QCOMPARE(shown(QString("16,640")), QString("16\u202f640"));
        QCOMPARE(shown(QString("-0.84 GiB")), QString("\u22120.84 GiB"));
        QCOMPARE(shown_range("0.97 GiB - 1.11 GiB"), QString("0.97\u20131.11 GiB"));
        QCOMPARE(shown_range("512.0 MiB - 1.11 GiB"), QString("512.0 MiB\u20131.11 GiB"));
        QCOMPARE(shown_range("1.60 - 2.24"), QString("1.60\u20132.24"));
    }
};

}  // namespace memwall::gui

using memwall::gui::ModelsTest;
GUI_TEST(ModelsTest)
#include "models_test.moc"
