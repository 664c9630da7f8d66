// SPDX-License-Identifier: GPL-3.0-only
// The session without a window: undo, files, and that what cannot be planned changes nothing.
#include "gui/model/session.h"

#include <QFile>
#include <QSignalSpy>
#include <QTest>

#include "core/plan/options.h"
#include "core/view/json.h"
#include "gui/tests/runner.h"

namespace memwall::gui {

class SessionTest : public QObject {
    Q_OBJECT

  private:
    static plan::Deployment start() {
        plan::Deployment d;
        d.model = "llama-3.2-1b";
        d.device = "raspberry-pi-5:8GiB";
        d.quant = "Q4_K_M";
        d.context = 4096;
        return d;
    }

  private Q_SLOTS:
    void a_change_is_planned_and_undone() {
        Session s;
        QVERIFY(s.apply(start()));
        QSignalSpy changed(&s, &Session::changed);
        const std::string before = s.command().toStdString();
        QVERIFY(s.set_option("context", "8192"));
        QCOMPARE(s.planned().knobs.context, 8192);
        QCOMPARE(changed.count(), 1);
        QVERIFY(s.can_undo());
        s.undo();
        QCOMPARE(s.command().toStdString(), before);
        QCOMPARE(s.planned().knobs.context, 4096);
        s.redo();
        QCOMPARE(s.planned().knobs.context, 8192);
    }

    void a_drag_is_one_step() {
        Session s;
        QVERIFY(s.apply(start()));
        for (int context = 1024; context <= 8192; context += 1024)
            QVERIFY(s.set_option("context", QString::number(context), true));
        s.finish_step();
        s.undo();
        QCOMPARE(s.planned().knobs.context, 4096);
        QVERIFY(!s.can_undo());
    }

    void empty_text_is_the_default() {
        Session s;
        QVERIFY(s.apply(start()));
        QVERIFY(s.set_option("flash-attention", "off"));
        QVERIFY(s.command().contains("--flash-attention off"));
        QVERIFY(s.set_option("flash-attention", ""));
        QVERIFY(!s.command().contains("flash-attention"));
    }

    void what_cannot_be_planned_changes_nothing_data() {
        QTest::addColumn<QString>("option");
        QTest::addColumn<QString>("text");
        QTest::newRow("number") << "context"
                                << "many";
        QTest::newRow("recipe") << "quant"
                                << "Q9_Z";
        QTest::newRow("cache type") << "kv"
                                    << "q7";
        QTest::newRow("device") << "device"
                                << "no-such-board";
        QTest::newRow("model") << "model"
                               << "no-such-model";
        QTest::newRow("no option") << "colour"
                                   << "red";
    }
    void what_cannot_be_planned_changes_nothing() {
        QFETCH(QString, option);
        QFETCH(QString, text);
        Session s;
        QVERIFY(s.apply(start()));
        const auto plan = s.shared_plan();
        const QString command = s.command();
        QSignalSpy rejected(&s, &Session::rejected), changed(&s, &Session::changed);
        QVERIFY(!s.set_option(option, text));
        QCOMPARE(rejected.count(), 1);
        QCOMPARE(rejected[0][0].toString(), option);
        QVERIFY(!rejected[0][1].toString().isEmpty());
        QCOMPARE(changed.count(), 0);
        QCOMPARE(s.shared_plan(), plan);
        QCOMPARE(s.command(), command);
        QVERIFY(!s.can_undo());
    }

    void planning_step_by_step_gives_what_planning_afresh_gives() {
        // The session keeps parts of the last plan; whatever is changed in whatever order, nothing may be
        // stale.
        Session s;
        QVERIFY(s.apply(start()));
        const std::pair<const char*, const char*> steps[] = {{"context", "8192"},
                                                             {"kv-k", "q8_0"},
                                                             {"quant", "Q8_0"},
                                                             {"device", "rtx-4090"},
                                                             {"sequences", "4"},
                                                             {"model", "qwen2.5-3b"},
                                                             {"window", "1024"},
                                                             {"runtime-option", "mmap=off"},
                                                             {"set", "device.bandwidth=+8GB/s"},
                                                             {"context", "2048"},
                                                             {"draft", "qwen2.5-0.5b"},
                                                             {"acceptance", "0.7"},
                                                             {"set", ""},
                                                             {"kv", ""},
                                                             {"images", ""},
                                                             {"budget", "6GiB"},
                                                             {"activations", "a8"},
                                                             {"device", "raspberry-pi-5:8GiB"}};
        for (const auto& [option, text] : steps) {
            if (!s.set_option(option, text)) continue;
            const devices::Planned fresh = devices::make_plan(s.deployment());
            const devices::Planned& kept = s.planned();
            QCOMPARE(view::plan_json(kept.prepared, kept.knobs, kept.target, kept.plan, kept.advice),
                     view::plan_json(fresh.prepared, fresh.knobs, fresh.target, fresh.plan, fresh.advice));
        }
    }

    void saves_what_it_opens() {
        Session s;
        QVERIFY(s.apply(start()));
        QVERIFY(s.set_option("kv", "q8_0"));
        const QString path = tests::temporary_folder() + "/deployment.yaml";
        QVERIFY(s.save(path));
        const QString command = s.command();
        Session other;
        QVERIFY(other.open(path));
        QCOMPARE(other.command(), command);
        QCOMPARE(other.recent_files().value(0), path);
    }

    void opens_a_device_profile() {
        Session s;
        QVERIFY(s.apply(start()));
        const QString path = tests::temporary_folder() + "/board.yaml";
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(
            "schema: memwall/device/1\nid: my-board\nname: My board\nclass: sbc\nos: linux\nconfidence: "
            "high\n");
        file.close();
        // Incomplete: the reader says so, and nothing is lost.
        QSignalSpy failed(&s, &Session::failed);
        const QString command = s.command();
        QVERIFY(!s.open(path));
        QCOMPARE(failed.count(), 1);
        QVERIFY2(failed[0][0].toString().contains("board.yaml"), qPrintable(failed[0][0].toString()));
        QCOMPARE(s.command(), command);
    }

    void a_broken_model_file_is_named() {
        Session s;
        QVERIFY(s.apply(start()));
        const QString path = tests::temporary_folder() + "/broken.gguf";
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("GGUF\x03\x00\x00\x00 but not really");
        file.close();
        QSignalSpy failed(&s, &Session::failed);
        const auto plan = s.shared_plan();
        QVERIFY(!s.open(path));
        QCOMPARE(failed.count(), 1);
        QVERIFY2(failed[0][0].toString().contains("broken.gguf"), qPrintable(failed[0][0].toString()));
        QCOMPARE(s.shared_plan(), plan);
        QVERIFY(s.recent_files().isEmpty());
    }

    void a_suggestion_applies() {
        Session s;
        plan::Deployment d = start();
        d.model = "llama-3.1-8b";
        d.context = 131072;
        QVERIFY(s.apply(d));
        QVERIFY(!s.planned().advice.suggestions.empty());
        const plan::Suggestion first = s.planned().advice.suggestions.front();
        QVERIFY(s.apply(first));
        QCOMPARE(s.planned().plan.verdict, plan::Verdict::fits);
        s.undo();
        QCOMPARE(s.planned().plan.verdict, plan::Verdict::does_not_fit);
    }
};

}  // namespace memwall::gui

using memwall::gui::SessionTest;
GUI_TEST(SessionTest)
#include "session_test.moc"
