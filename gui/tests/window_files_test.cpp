// SPDX-License-Identifier: GPL-3.0-only
// Files in and out: models opened and dropped, bad ones, exports, and what a restart finds.
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QFile>
#include <QFileInfo>
#include <QImageReader>
#include <QMimeData>
#include <QSettings>
#include <QTest>

#include "gui/app/error_bar.h"
#include "gui/app/footer.h"
#include "gui/tests/numbers_on_screen.h"
#include "gui/tests/window_case.h"
#include "tests/model/gguf_writer.h"

namespace memwall::gui {

class WindowFilesTest : public QObject, public tests::WindowCase {
    Q_OBJECT

  private Q_SLOTS:
    void init() { open_window(); }
    void cleanup() { close_window(); }

    void opens_a_gguf() {
        const QString path = tests::temporary_folder() + "/small.gguf";
        test::small_llama().write(path.toStdString());
        window_->open_path(path);
        QTRY_COMPARE(session_->option("model"), path);
        QVERIFY(!window_->errors().isVisible());
        QVERIFY(session_->planned().prepared.model.tensors_from_file);
        QVERIFY(window_->footer().command().contains(path));
        QVERIFY(compare_with_command("explore") > 10);
        session_->undo();
        QVERIFY(!window_->footer().command().contains(path));
    }

    void a_dropped_file_replaces_the_model() {
        const QString path = tests::temporary_folder() + "/dropped.gguf";
        test::small_llama().write(path.toStdString());
        QMimeData data;
        data.setUrls({QUrl::fromLocalFile(path)});
        QDragEnterEvent enter({100, 100}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(window_, &enter);
        QVERIFY(enter.isAccepted());
        QDropEvent drop({100, 100}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(window_, &drop);
        QTRY_COMPARE(session_->option("model"), path);
    }

    void a_bad_file_shows_the_readers_line_and_keeps_the_state() {
        const QString path = tests::temporary_folder() + "/cut.gguf";
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(QByteArray::fromStdString(test::small_llama().header()).left(300));
        file.close();
        QVERIFY(session_->set_option("kv", "q8_0"));
        const QString command = window_->footer().command();
        const auto plan = session_->shared_plan();
        window_->open_path(path);
        QTRY_VERIFY(window_->errors().isVisible());
        QVERIFY2(window_->errors().message().contains("cut.gguf"), qPrintable(window_->errors().message()));
        // The very line of the command.
        QCOMPARE(window_->footer().command(), command);
        QCOMPARE(session_->shared_plan(), plan);
        QVERIFY(session_->can_undo());
        session_->set_option("context", "4096");
        QVERIFY(!window_->errors().isVisible());
    }

    void exports_what_is_on_screen() {
        const QString folder = tests::temporary_folder();
        for (const char* page : {"explore", "explain"}) {
            window_->show_page(page);
            for (const char* ending : {"png", "svg", "csv"}) {
                const QString path = folder + '/' + page + '.' + ending;
                QVERIFY2(window_->export_to(path), qPrintable(window_->errors().message()));
                QVERIFY2(QFileInfo(path).size() > 500, qPrintable(path));
            }
            QVERIFY(QImageReader(folder + '/' + page + ".png").canRead());
        }
        QVERIFY(!window_->export_to(folder + "/none/explore.png"));
        QVERIFY(window_->errors().isVisible());
    }

    void a_restart_restores_the_deployment() {
        QVERIFY(session_->set_option("kv", "q4_0"));
        window_->save_settings();
        const QString command = session_->command();
        Session other;
        MainWindow second(other);
        second.set_save_on_close(false);
        second.restore();
        QCOMPARE(other.command(), command);
        QSettings().clear();
    }

    void a_first_start_shows_something_that_fits() {
        QSettings().clear();
        Session other;
        MainWindow second(other);
        second.set_save_on_close(false);
        second.restore();
        QVERIFY(other.planned_once());  // before the catalogue was searched
        QCOMPARE(other.planned().plan.verdict, plan::Verdict::fits);
        QTRY_VERIFY_WITH_TIMEOUT(second.ready(), 60000);
        QCOMPARE(other.planned().plan.verdict, plan::Verdict::fits);
        QVERIFY(other.planned().plan.speed.decode.central.value >= 3);
        QVERIFY(!other.can_undo());
    }
};

}  // namespace memwall::gui

using memwall::gui::WindowFilesTest;
GUI_TEST(WindowFilesTest)
#include "window_files_test.moc"
