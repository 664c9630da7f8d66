// SPDX-License-Identifier: GPL-3.0-only
// The charts: mapping, dragging, keyboard, table and export, without a screen.
#include <QAbstractItemModelTester>
#include <QFile>
#include <QImage>
#include <QSignalSpy>
#include <QTest>
#include <cmath>

#include "gui/charts/balance_triangle.h"
#include "gui/charts/export.h"
#include "gui/charts/paired_bars.h"
#include "gui/charts/plot.h"
#include "gui/tests/runner.h"

namespace memwall::gui {

class ChartsTest : public QObject {
    Q_OBJECT

  private:
    static std::unique_ptr<Plot> plot(Scale scale) {
        auto p = std::make_unique<Plot>("Memory", "GiB");
        p->resize(500, 320);
        const bool log = scale == Scale::logarithmic;
        p->set_axes({"x",
                     log ? 1.0 : 0.0,
                     log ? 1024.0 : 100.0,
                     scale,
                     log ? Ticks::doubling : Ticks::decimal,
                     {},
                     {}},
                    {"y", log ? 1.0 : 0.0, log ? 1000.0 : 10.0, scale, Ticks::decimal, {}, {}});
        std::vector<Point> points;
        std::vector<Spread> band;
        for (int i = 0; i <= 32; ++i) {
            const double x = log ? std::exp2(i * 10.0 / 32) : i * 100.0 / 32;
            points.push_back({x, log ? x : x / 10});
            band.push_back({x, points.back().y * 0.9, points.back().y * 1.1});
        }
        p->draw(Line{"line", "line", points, Qt::blue});
        p->draw(Band{"band", "band", band, QColor(0, 0, 255, 60)});
        p->show();
        [[maybe_unused]] const bool exposed = QTest::qWaitForWindowExposed(p.get());
        QCoreApplication::processEvents();
        return p;
    }
    static void drag(QWidget* on, QPointF from, QPointF to) {
        QTest::mousePress(on, Qt::LeftButton, {}, from.toPoint());
        for (const double share : {0.25, 0.5, 0.75, 1.0})
            QTest::mouseMove(on, (from + (to - from) * share).toPoint());
        QTest::mouseRelease(on, Qt::LeftButton, {}, to.toPoint());
    }

  private Q_SLOTS:
    void ticks_are_round_and_inside() {
        for (const auto& [low, high] : {std::pair(0.0, 9.2), std::pair(0.0, 24576.0), std::pair(-3.0, 0.4)})
            for (const Ticks kind : {Ticks::decimal, Ticks::binary}) {
                const auto at = ticks({"", low, high, Scale::linear, kind, {}, {}}, 6);
                QVERIFY(at.size() >= 2 && at.size() <= 12);
                for (const double v : at) QVERIFY(v >= low - 1e-9 && v <= high + 1e-9);
            }
        const auto decades = ticks({"", 0.1, 1000, Scale::logarithmic, Ticks::decimal, {}, {}}, 5);
        QCOMPARE(decades.size(), 5U);
        QCOMPARE(decades.front(), 0.1);
        QCOMPARE(token_text(8192), QStringLiteral("8K"));
        QCOMPARE(token_text(6000), QStringLiteral("6000"));
    }

    void places_go_to_pixels_and_back() {
        for (const Scale scale : {Scale::linear, Scale::logarithmic}) {
            const auto p = plot(scale);
            const QRectF area = p->plot_area();
            QVERIFY(area.width() > 300 && area.height() > 150);
            const Axis &x = p->x_axis(), &y = p->y_axis();
            QVERIFY(std::abs(p->to_pixels({x.low, y.low}).x() - area.left()) < 1e-6);
            QVERIFY(std::abs(p->to_pixels({x.high, y.high}).y() - area.top()) < 1e-6);
            for (const double share : {0.1, 0.5, 0.9}) {
                const QPointF at(area.left() + share * area.width(), area.top() + share * area.height());
                const QPointF back = p->to_pixels(p->to_values(at));
                QVERIFY((back - at).manhattanLength() < 1e-6);
            }
            if (scale == Scale::logarithmic)  // equal ratios, equal distances
                QVERIFY(std::abs(p->to_pixels({4, 10}).x() - p->to_pixels({2, 10}).x() -
                                 (p->to_pixels({512, 10}).x() - p->to_pixels({256, 10}).x())) < 1e-6);
        }
    }

    void a_limits_label_stands_beside_the_cursor() {
        const auto p = plot(Scale::linear);
        p->remove("line");
        p->remove("band");
        p->set_limits(
            {{"budget", Qt::Horizontal, 5, "budget 7.30 GiB of RAM", Qt::black, 2.5, Stroke::solid}});
        for (double x = 1; x < 100; x += 3) {
            Cursor c;
            c.x = x;
            c.grip = false;
            c.color = Qt::red;
            p->set_cursor(c);
            const QImage picture = p->canvas()->grab().toImage();
            const QPointF at = p->to_pixels({x, 5});
            // Above the limit's line, where its label stands, the cursor is as whole as at the top.
            for (int up = 4; up < 22; ++up)
                QVERIFY2(picture.pixelColor(static_cast<int>(at.x()), static_cast<int>(at.y()) - up) ==
                             picture.pixelColor(static_cast<int>(at.x()),
                                                static_cast<int>(p->plot_area().top()) + 3),
                         qPrintable(QString("x %1, %2 above").arg(x).arg(up)));
        }
    }

    void the_cursor_is_dragged_and_stepped() {
        const auto p = plot(Scale::linear);
        Cursor c;
        c.x = 20;
        c.stops = {10, 20, 40, 80};
        p->set_cursor(c);
        QSignalSpy moved(p.get(), &Plot::cursor_moved);
        drag(p->canvas(), p->to_pixels({20, 5}), p->to_pixels({60, 5}));
        QVERIFY(moved.count() >= 2);
        QVERIFY(std::abs(p->cursor()->x - 60) < 0.5);
        QCOMPARE(moved.last().at(1).toBool(), true);
        QTest::keyClick(p->canvas()->parentWidget(), Qt::Key_Right);
        QCOMPARE(p->cursor()->x, 80.0);
        QTest::keyClick(p->canvas()->parentWidget(), Qt::Key_Left);
        QCOMPARE(p->cursor()->x, 40.0);
        QTest::keyClick(p->canvas()->parentWidget(), Qt::Key_Left, Qt::ShiftModifier);
        QVERIFY(p->cursor()->x < 40 && p->cursor()->x > 39);
        QTest::keyClick(p->canvas()->parentWidget(), Qt::Key_Plus);
        QVERIFY(p->x_axis().high - p->x_axis().low < 99);
        QTest::keyClick(p->canvas()->parentWidget(), Qt::Key_0);
        QCOMPARE(p->x_axis().high, 100.0);
    }

    void limits_are_dragged_by_line_and_grip_and_moved_by_keys() {
        const auto p = plot(Scale::logarithmic);
        Limit memory{"memory", Qt::Vertical, 64, "", Qt::darkGreen};
        memory.draggable = true;
        Limit job{"job", Qt::Horizontal, 100, "", Qt::darkGreen};
        job.draggable = true;
        p->set_limits({memory, job});
        QSignalSpy moved(p.get(), &Plot::limit_moved);
        drag(p->canvas(), p->to_pixels({64, 5}), p->to_pixels({16, 5}));
        QCOMPARE(moved.last().at(0).toString(), QStringLiteral("memory"));
        QVERIFY(std::abs(std::log2(p->limits()[0].value / 16)) < 0.05);
        const QPointF grip(p->plot_area().right() - 15, p->to_pixels({2, 100}).y());
        drag(p->canvas(), grip, QPointF(grip.x(), p->to_pixels({2, 10}).y()));
        QCOMPARE(moved.last().at(0).toString(), QStringLiteral("job"));
        QVERIFY(std::abs(std::log10(p->limits()[1].value / 10)) < 0.05);
        QWidget* view = p->canvas()->parentWidget();
        QTest::keyClick(view, Qt::Key_C);
        const double before = p->limits()[0].value;
        QTest::keyClick(view, Qt::Key_Right);
        QVERIFY(p->limits()[0].value > before);
        QTest::keyClick(view, Qt::Key_Escape);
        QSignalSpy left(p.get(), &Plot::left);
        QTest::keyClick(view, Qt::Key_Escape);
        QCOMPARE(left.count(), 1);
    }

    void dots_are_hovered_and_clicked() {
        const auto p = plot(Scale::linear);
        Dots dots{"front", "front", {{25, 2}, {50, 5}, {75, 8}}, Qt::red};
        p->draw(dots);
        QSignalSpy hovered(p.get(), &Plot::hovered), clicked(p.get(), &Plot::clicked);
        QTest::mouseMove(p->canvas(), (p->to_pixels({50, 5}) + QPointF(3, -2)).toPoint());
        QCOMPARE(hovered.last().at(0).toString(), QStringLiteral("front"));
        QCOMPARE(hovered.last().at(1).toInt(), 1);
        QTest::mouseClick(p->canvas(), Qt::LeftButton, {}, p->to_pixels({75, 8}).toPoint());
        QCOMPARE(clicked.count(), 1);
        QCOMPARE(clicked.last().at(1).toInt(), 2);
        QTest::mouseMove(p->canvas(), p->to_pixels({90, 1}).toPoint());
        QCOMPARE(hovered.last().at(1).toInt(), -1);
    }

    void the_table_holds_what_is_drawn() {
        const auto p = plot(Scale::linear);
        Stack stack;
        stack.x = {0, 50, 100};
        stack.layers = {{"weights", {4, 4, 4}, Qt::blue}, {"cache", {0, 1, 2}, Qt::red}};
        p->draw(stack);
        QAbstractItemModel* table = p->table();
        QAbstractItemModelTester tester(table, QAbstractItemModelTester::FailureReportingMode::QtTest);
        QCOMPARE(table->columnCount(), 6);  // x, line, band low, band high, two layers
        QCOMPARE(table->headerData(1, Qt::Horizontal).toString(), QStringLiteral("line"));
        QCOMPARE(table->data(table->index(0, 0), Qt::UserRole).toDouble(), 0.0);
        const QString csv = table_as_csv(*table);
        QVERIFY(csv.startsWith(QStringLiteral("x,line,")));
        QCOMPARE(csv.count(u'\n'), table->rowCount() + 1);
        QVERIFY(!p->table_shown());
        p->show_table(true);
        QVERIFY(p->table_shown());
        p->show_table(false);
    }

    void pictures_are_written_and_failures_said() {
        const auto p = plot(Scale::linear);
        p->draw(Dots{"dots", "dots", std::vector<Point>(50, {50, 5}), Qt::red});
        const QString folder = tests::temporary_folder();
        QString error;
        QVERIFY(export_picture(*p, folder + "/a.png", &error));
        const QImage image(folder + "/a.png");
        QCOMPARE(image.width(), 1000);
        QVERIFY(export_picture(*p, folder + "/a.svg", &error));
        QFile svg(folder + "/a.svg");
        QVERIFY(svg.open(QIODevice::ReadOnly));
        const QByteArray text = svg.readAll();
        QVERIFY(text.contains("<svg") && text.contains("Memory"));
        QVERIFY(!text.contains("<image"));  // dots are shapes, not pictures
        QVERIFY(!export_picture(*p, folder + "/none/a.png", &error));
        QVERIFY(error.contains("none/a.png"));
    }

    void the_balance_is_dragged_and_shares_sum_to_one() {
        BalanceTriangle t("Balance", "");
        t.resize(420, 420);
        t.show();
        QVERIFY(QTest::qWaitForWindowExposed(&t));
        for (const Shares& s : {Shares{1, 0, 0}, Shares{0.2, 0.5, 0.3}, Shares{1.0 / 3, 1.0 / 3, 1.0 / 3}}) {
            const Shares back = t.to_shares(t.to_pixels(s));
            for (std::size_t k = 0; k < 3; ++k) QVERIFY(std::abs(back[k] - s[k]) < 1e-9);
        }
        QSignalSpy moved(&t, &BalanceTriangle::wanted_moved);
        drag(&t, t.to_pixels(t.wanted()), t.to_pixels({0.2, 0.2, 0.6}));
        QVERIFY(moved.count() >= 2);
        QVERIFY(std::abs(t.wanted()[2] - 0.6) < 0.02);
        QTest::keyClick(&t, Qt::Key_Left);
        QVERIFY(std::abs(t.wanted()[0] + t.wanted()[1] + t.wanted()[2] - 1) < 1e-9);
        QVERIFY(t.wanted()[0] > 0.23);
        drag(&t, t.to_pixels(t.wanted()), QPointF(0, 0));  // outside: the nearest inside
        for (const double s : t.wanted()) QVERIFY(s >= 0 && s <= 1);
    }

    void bars_are_chosen_by_keys_and_mouse() {
        PairedBars bars;
        bars.resize(600, 200);
        std::vector<PairedBar> rows;
        for (int i = 0; i < 20; ++i)
            rows.push_back({QStringLiteral("row %1").arg(i), "f16", 10, 9, 11, 10.4, 10.2, 10.6, "10", "10.4",
                            "holds", Qt::darkGreen, "✓"});
        bars.set_rows(rows);
        bars.show();
        QVERIFY(QTest::qWaitForWindowExposed(&bars));
        QSignalSpy chosen(&bars, &PairedBars::selected_changed), activated(&bars, &PairedBars::activated);
        QTest::mouseClick(bars.viewport(), Qt::LeftButton, {}, bars.row_rect(1).center());
        QCOMPARE(bars.selected(), 1);
        QTest::keyClick(&bars, Qt::Key_End);
        QCOMPARE(bars.selected(), 19);
        QVERIFY(bars.viewport()->rect().contains(bars.row_rect(19).center()));
        QTest::keyClick(&bars, Qt::Key_Return);
        QCOMPARE(activated.count(), 1);
    }
};

GUI_TEST(ChartsTest)

}  // namespace memwall::gui

#include "charts_test.moc"
