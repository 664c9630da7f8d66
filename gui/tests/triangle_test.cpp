// SPDX-License-Identifier: GPL-3.0-only
// The triangle: the same answers as `memwall recommend`, limits without a search, why not, pins, and the page
// driven.
#include "gui/model/triangle.h"

#include <QAbstractItemModelTester>
#include <QElapsedTimer>
#include <QSignalSpy>
#include <QSlider>
#include <QTest>
#include <nlohmann/json.hpp>
#include <set>

#include "gui/app/limits_panel.h"
#include "gui/app/triangle_page.h"
#include "gui/charts/balance_triangle.h"
#include "gui/charts/plot.h"
#include "gui/model/pinned_model.h"
#include "gui/tests/runner.h"

namespace memwall::gui {

class TriangleTest : public QObject {
    Q_OBJECT

  private:
    static plan::Deployment start() {
        plan::Deployment d;
        d.model = "llama-3.2-3b";
        d.device = "raspberry-pi-5:8GiB";
        d.quant = "Q4_K_M";
        d.context = 4096;
        return d;
    }
    static void search(Triangle& t) {
        QSignalSpy searched(&t, &Triangle::searched);
        t.search(start());
        QVERIFY(searched.count() > 0 || searched.wait(60000));
    }
    static nlohmann::json recommended(const Triangle& t) {
        int status = 0;
        return nlohmann::json::parse(tests::run_command(t.command(), {"--json"}, &status).toStdString());
    }

  private Q_SLOTS:
    void one_model_answers_as_recommend() {
        Triangle t;
        search(t);
        QVERIFY(t.set_limit("max-memory", "4.00GiB"));
        QVERIFY(t.set_limit("max-job", "120s"));
        QVERIFY(t.set_limit("min-quality", "90.0%"));
        const auto j = recommended(t);
        QCOMPARE(t.front().size(), j["front"].size());
        // recommend searches contexts from the least one on; its candidates are found by what they are.
        std::size_t admitted = 0;
        for (const auto& c : j["candidates"]) admitted += c["rejected"].empty();
        QCOMPARE(t.admitted_count(), admitted);
        for (std::size_t k = 0; k < t.front().size(); ++k) {
            const plan::Candidate& own = t.candidate(t.front()[k]);
            const auto& c = j["candidates"][j["front"][k].get<std::size_t>()];
            QCOMPARE(own.footprint.central.value, c["footprint_bytes"]["central"].get<std::int64_t>());
            QCOMPARE(own.job.central.value, c["job_seconds"]["central"].get<double>());
            QCOMPARE(own.context, c["context"].get<std::int64_t>());
            QCOMPARE(t.recipe(t.front()[k]).toStdString(), c["quant"].get<std::string>());
            const char* names[] = {"latency", "memory", "quality"};
            for (std::size_t g = 0; g < 3; ++g)
                QVERIFY(std::abs(t.merits(t.front()[k]).balance[g] - c["balance"][names[g]].get<double>()) <
                        1e-9);
        }
    }

    void a_limit_decides_again_without_a_search_and_fast() {
        Triangle t;
        search(t);
        QSignalSpy searched(&t, &Triangle::searched), decided(&t, &Triangle::decided);
        const std::size_t before = t.admitted_count();
        QVERIFY(t.set_limit("max-memory", "2.50GiB"));
        QCOMPARE(decided.count(), 1);
        QCOMPARE(searched.count(), 0);
        QVERIFY(t.admitted_count() < before);
        QVERIFY(t.decide_milliseconds() < 16);
        QVERIFY(!t.set_limit("max-memory", "much"));
        QCOMPARE(t.limit("max-memory"), QStringLiteral("2.50GiB"));
        t.clear_limits();
        QCOMPARE(t.admitted_count(), before);
    }

    void why_not_and_what_would_help() {
        Triangle t;
        search(t);
        t.set_limit("max-memory", "3.00GiB");
        t.set_limit("max-job", "90s");
        std::size_t helped = 0;
        for (std::size_t i = 0; i < t.size(); i += 5) {
            if (t.admitted(i) || !t.drawable(i)) continue;
            const Triangle::WhyNot w = t.why_not(i);
            QVERIFY(!w.reasons.isEmpty());
            if (w.instead) QVERIFY(t.admitted(*w.instead) && !w.change.isEmpty());
            if (w.limits.isEmpty() || helped > 3) continue;
            // The limits it names admit it.
            QMap<QString, QString> before;
            for (auto it = w.limits.cbegin(); it != w.limits.cend(); ++it) {
                before[it.key()] = t.limit(it.key());
                QVERIFY(t.set_limit(it.key(), it.value()));
            }
            QVERIFY2(t.admitted(i), qPrintable(w.limit_words.join(", ")));
            for (auto it = before.cbegin(); it != before.cend(); ++it) t.set_limit(it.key(), it.value());
            ++helped;
        }
        QVERIFY(helped > 0);
        QVERIFY(t.tightest().excludes > 0);
    }

    void pins_survive_and_differ() {
        Triangle t;
        search(t);
        PinnedModel model(t);
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        QVERIFY(t.front().size() >= 3);
        const std::size_t a = t.front()[0], b = t.front()[t.front().size() - 1];
        QVERIFY(t.toggle_pin(a) && t.toggle_pin(b));
        QCOMPARE(model.rowCount(), 2);
        QCOMPARE(model.data(model.index(1, PinnedModel::letter)).toString(), QStringLiteral("B"));
        const double difference =
            t.candidate(b).footprint.central.as_double() - t.candidate(a).footprint.central.as_double();
        QCOMPARE(model.data(model.index(1, PinnedModel::memory), PinnedModel::raw_role).toDouble(),
                 t.candidate(b).footprint.central.as_double());
        QCOMPARE(model.data(model.index(1, PinnedModel::memory), PinnedModel::tone_role).toString(),
                 difference < 0 ? QStringLiteral("good") : QStringLiteral("bad"));
        QVERIFY(model.data(model.index(0, PinnedModel::memory), PinnedModel::difference_role)
                    .toString()
                    .isEmpty());
        QVERIFY(t.shown_as(t.pins()[1]) == b);
        t.toggle_pin(a);
        QCOMPARE(model.rowCount(), 1);
        for (const std::uint32_t i : t.front()) t.toggle_pin(i);
        QVERIFY(t.pins().size() <= kMostPins);
    }

    void all_models_are_ranked_by_a_named_benchmark() {
        Triangle t;
        t.set_scope(Scope::catalogue);
        search(t);
        QVERIFY(t.models() > 20);
        QVERIFY(t.size() > 500);
        QVERIFY2(t.decide_milliseconds() < 100, qPrintable(QString::number(t.decide_milliseconds())));
        for (const std::uint32_t i : t.front()) QVERIFY(t.score(i) >= 0);
        for (std::size_t i = 0; i < t.size(); ++i) QCOMPARE(t.candidate(i).context, 4096);
        t.set_limit("min-score", "40");
        for (const std::uint32_t i : t.front()) QVERIFY(t.score(i) >= 40);
        t.set_limit("min-context", "16384");
        for (std::size_t i = 0; i < t.size(); ++i) QCOMPARE(t.candidate(i).context, 16384);
        QVERIFY(t.command().startsWith("memwall fit --device raspberry-pi-5:8GiB"));
        int status = 0;
        const auto j =
            nlohmann::json::parse(tests::run_command(t.command(), {"--json"}, &status).toStdString());
        QCOMPARE(status, 0);
        std::size_t runs = 0;
        for (const auto& m : j["models"]) {
            runs += m["admitted"].get<bool>();
            QVERIFY(m["score"]["value"].get<double>() >= 40);
        }
        std::set<QString> admitted;
        for (std::size_t i = 0; i < t.size(); ++i)
            if (t.admitted(i)) admitted.insert(t.model(i));
        // fit also runs models beyond the context they were trained on; the search of the window does not.
        QVERIFY(runs >= admitted.size() && !admitted.empty());
        for (const auto& m : j["models"])
            if (!m["admitted"].get<bool>())
                QVERIFY(!admitted.contains(QString::fromStdString(m["id"].get<std::string>())));
    }

    void the_page_is_driven() {
        Session session;
        QVERIFY(session.apply(start()));
        TrianglePage page(session);
        page.resize(1010, 640);
        QWidget* panel = page.side_panel();
        panel->resize(258, 700);
        page.show();
        panel->show();
        QVERIFY(QTest::qWaitForWindowExposed(&page));
        QSignalSpy searched(&page.triangle(), &Triangle::searched);
        page.refresh();
        QVERIFY(searched.wait(60000));
        Triangle& t = page.triangle();
        const std::size_t before = t.admitted_count();
        // A line dragged in one chart moves its slider and what is admitted.
        Plot* plot = page.job_memory();
        QCoreApplication::processEvents();
        const Limit limit = plot->limits()[0];
        const QPointF from(plot->to_pixels({limit.value, plot->y_axis().low}).x(),
                           plot->plot_area().center().y());
        const QPointF to(plot->plot_area().left() + plot->plot_area().width() * 0.4, from.y());
        QTest::mousePress(plot->canvas(), Qt::LeftButton, {}, from.toPoint());
        QTest::mouseMove(plot->canvas(), to.toPoint());
        QElapsedTimer clock;
        clock.start();
        QTest::mouseRelease(plot->canvas(), Qt::LeftButton, {}, to.toPoint());
        QVERIFY(t.admitted_count() < before);
        QVERIFY(page.limits().slider("max-memory")->value() < 150);
        // Keys: along the front, pin, why not.
        QTest::keyClick(page.balance(), Qt::Key_Return);
        QCOMPARE(t.pins().size(), 1U);
        QWidget* view = plot->canvas()->parentWidget();
        QTest::keyClick(view, Qt::Key_Down);
        QVERIFY(page.pointed().has_value());
        for (std::size_t i = 0; i < t.size(); ++i)
            if (!t.admitted(i) && t.drawable(i)) {
                page.point_at(i);
                break;
            }
        QTest::keyClick(view, Qt::Key_W);
        QVERIFY(page.limits().why_text().size() > 20);
        // Space opens what is pointed at.
        page.point_at(t.front().front());
        const plan::Deployment wanted = t.deployment(t.front().front());
        QTest::keyClick(view, Qt::Key_Space);
        QCOMPARE(session.deployment().quant, wanted.quant);
        QCOMPARE(session.planned().plan.memory.pools[0].needed.central.value,
                 t.candidate(t.front().front()).needed.central.value);
        QString why;
        const QString folder = tests::temporary_folder();
        for (const char* name : {"/t.png", "/t.svg", "/t.csv"})
            QVERIFY2(page.export_as(folder + name, &why), qPrintable(why));
    }
};

GUI_TEST(TriangleTest)

}  // namespace memwall::gui

#include "triangle_test.moc"
