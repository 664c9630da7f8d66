// SPDX-License-Identifier: GPL-3.0-only
// The window driven as a user would: by keys, pointer and typed text.
#include <QClipboard>
#include <QGuiApplication>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QTest>
#include <cmath>

#include "gui/app/choice_box.h"
#include "gui/app/context_slider.h"
#include "gui/app/control_panel.h"
#include "gui/app/explore_page.h"
#include "gui/app/find_box.h"
#include "gui/app/footer.h"
#include "gui/charts/plot.h"
#include "gui/tests/window_case.h"

namespace memwall::gui {

class WindowTest : public QObject, public tests::WindowCase {
    Q_OBJECT

  private Q_SLOTS:
    void init() { open_window(); }
    void cleanup() { close_window(); }

    void a_refused_text_marks_its_field() {
        QLineEdit* context = window_->controls().edit("context");
        QVERIFY(context);
        context->setFocus();
        context->selectAll();
        QTest::keyClicks(context, "plenty");
        QTest::keyClick(context, Qt::Key_Return);
        QVERIFY(context->property("invalid").toBool());
        QCOMPARE(session_->planned().knobs.context, 8192);
        context->selectAll();
        QTest::keyClicks(context, "2048");
        QTest::keyClick(context, Qt::Key_Return);
        QVERIFY(!context->property("invalid").toBool());
        QCOMPARE(session_->planned().knobs.context, 2048);
    }

    void dragging_the_context_in_a_chart_moves_all() {
        Plot* plot = explore().memory_plot();
        QApplication::processEvents();
        (void)window_->grab();
        const double before = static_cast<double>(session_->planned().knobs.context);
        // The grip stands near the lower end of the cursor line.
        const QRectF area = plot->plot_area();
        const QPointF from(plot->to_pixels({before, 0}).x(), area.center().y());
        const QPointF to(plot->to_pixels({16384, 0}).x(), from.y());
        QWidget* canvas = plot->canvas();
        QTest::mousePress(canvas, Qt::LeftButton, {}, from.toPoint());
        for (int i = 1; i <= 8; ++i) QTest::mouseMove(canvas, (from + (to - from) * i / 8.0).toPoint());
        QTest::mouseRelease(canvas, Qt::LeftButton, {}, to.toPoint());
        const std::int64_t now = session_->planned().knobs.context;
        QVERIFY2(std::llabs(now - 16384) <= 512, qPrintable(QString::number(now)));
        QCOMPARE(explore().decode_plot()->cursor()->x, static_cast<double>(now));
        QCOMPARE(explore().memory_plot()->cursor()->x, static_cast<double>(now));
        QVERIFY(window_->footer().command().contains(QString("--context %1").arg(now)));
        // One step back leads to where the drag began.
        session_->undo();
        QCOMPARE(static_cast<double>(session_->planned().knobs.context), before);
    }

    void the_slider_stops_at_powers_of_two() {
        QSlider* slider = window_->controls().context_slider();
        slider->setFocus();
        QTest::keyClick(slider, Qt::Key_Right);
        QCOMPARE(session_->planned().knobs.context, 16384);
        QTest::keyClick(slider, Qt::Key_Left);
        QTest::keyClick(slider, Qt::Key_Left);
        QCOMPARE(session_->planned().knobs.context, 4096);
        QTest::keyClick(slider, Qt::Key_Right, Qt::ShiftModifier);
        QVERIFY(session_->planned().knobs.context > 4096 && session_->planned().knobs.context < 8192);
    }

    void a_choice_is_made_from_the_list() {
        ChoiceBox* box = window_->controls().choice("quant");
        box->open();
        QVERIFY(box->popup()->isVisible());
        QTRY_VERIFY(std::none_of(box->choices().rows().begin(), box->choices().rows().end(),
                                 [](const Choice& c) { return c.state == Choice::State::waiting; }));
        QTest::keyClicks(box->filter(), "Q8_0");
        QTest::keyClick(box->filter(), Qt::Key_Return);
        QVERIFY(!box->popup()->isVisible());
        QCOMPARE(text_of(session_->planned().prepared.recipe), QString("Q8_0"));
    }

    void keys_lead_everywhere() {
        QTest::keyClick(window_, Qt::Key_K, Qt::ControlModifier);
        QVERIFY(window_->find_box().isVisible());
        QTest::keyClicks(window_->find_box().field(), "qwen2.5-3b");
        QTest::keyClick(window_->find_box().field(), Qt::Key_Return);
        QCOMPARE(session_->option("model"), QString("qwen2.5-3b"));
        QTest::keyClick(window_, Qt::Key_Z, Qt::ControlModifier);
        QCOMPARE(session_->option("model"), QString("llama-3.1-8b"));
        QTest::keyClick(window_, Qt::Key_3, Qt::ControlModifier);
        QCOMPARE(window_->current_page(), QString("explain"));
        QTest::keyClick(window_, Qt::Key_1, Qt::ControlModifier);
        QCOMPARE(window_->current_page(), QString("explore"));
        QTest::keyClick(window_, Qt::Key_C, Qt::ControlModifier | Qt::ShiftModifier);
        QCOMPARE(QGuiApplication::clipboard()->text(), session_->command());
    }

    void a_suggestion_applies_on_click() {
        QVERIFY(session_->set_option("context", "131072"));
        QApplication::processEvents();
        auto* button = window_->findChild<QPushButton*>("suggestion_0");
        QVERIFY(button);
        button->click();
        QCOMPARE(session_->planned().plan.verdict, plan::Verdict::fits);
    }
};

}  // namespace memwall::gui

using memwall::gui::WindowTest;
GUI_TEST(WindowTest)
#include "window_test.moc"
