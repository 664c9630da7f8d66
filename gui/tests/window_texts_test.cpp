// SPDX-License-Identifier: GPL-3.0-only
// Texts: none cut, none untranslated, all with glyphs.
#include <QFile>
#include <QImage>
#include <QPainter>
#include <QPushButton>
#include <QTest>
#include <algorithm>

#include "core/quality/loss.h"
#include "gui/app/application.h"
#include "gui/app/control_panel.h"
#include "gui/app/triangle_page.h"
#include "gui/app/verify_page.h"
#include "gui/model/vocabulary.h"
#include "gui/tests/clipped_text.h"
#include "gui/tests/made_up_run.h"
#include "gui/tests/window_case.h"
#include "gui/theme/theme.h"
#include "sim/result/result.h"

namespace memwall::gui {

class WindowTextsTest : public QObject, public tests::WindowCase {
    Q_OBJECT

  private Q_SLOTS:
    void init() { open_window(); }
    void cleanup() { close_window(); }

    void no_text_is_clipped_data() {
        QTest::addColumn<QString>("language");
        QTest::addColumn<QSize>("size");
        QTest::addColumn<bool>("dark");
        for (const char* language : {"en", "zh_CN"})
            for (const QSize size : {QSize(1024, 700), QSize(1280, 800), QSize(1920, 1080)})
                QTest::newRow(qPrintable(QString("%1 %2").arg(language).arg(size.width())))
                    << QString(language) << size << (size.width() == 1280);
    }

    void no_text_is_clipped() {
        QFETCH(QString, language);
        QFETCH(QSize, size);
        QFETCH(bool, dark);
        set_language(language);
        set_appearance(dark ? Appearance::dark : Appearance::light);
        open_window();
        window_->resize(size);
        QStringList clipped;
        const auto look = [&](const QString& state) {
            for (int i = 0; i < 3; ++i) QApplication::processEvents();  // layouts that an answer asked for
            (void)window_->grab();
            for (const QString& text : tests::clipped_texts(*window_)) clipped << state + ": " + text;
        };
        for (const QString& page : window_->page_names()) {
            // The smallest window shows less of these pages.
            if (size.width() < 1280 && page != "explore" && page != "explain") continue;
            window_->show_page(page);
            QTRY_VERIFY(window_->controls().settled());
            QTRY_VERIFY_WITH_TIMEOUT(window_->ready(), 60000);
            look(page);
            if (page == "triangle") {
                window_->demonstrate();  // all models, limits and pins
                auto& triangle = static_cast<TrianglePage*>(window_->page(page))->triangle();
                QTRY_VERIFY_WITH_TIMEOUT(triangle.pins().size() == 3, 60000);
                look(page + ", all models");
            } else if (page == "verify") {
                static_cast<VerifyPage*>(window_->page(page))->verification().set_run(tests::made_up_run());
                look(page + ", verified");
            }
        }
        window_->show_page("explore");
        QVERIFY(session_->set_option("context", "131072"));
        look("does not fit");
        set_language("en_US");
        set_appearance(Appearance::light);
        QVERIFY2(clipped.isEmpty(), qPrintable(clipped.join("\n")));
    }

    void chinese_glyphs_exist() {
        // A missing glyph is a silent box, and all boxes are alike.
        const auto picture = [](const QString& text) {
            QImage image(40, 40, QImage::Format_RGB32);
            image.fill(Qt::white);
            QPainter p(&image);
            p.setFont(type(Type::title));
            p.drawText(image.rect(), Qt::AlignCenter, text);
            p.end();
            return image;
        };
        QVERIFY2(picture(QString::fromUtf8("探")) != picture(QString::fromUtf8("索")),
                 "no font with Chinese: install fonts-wqy-microhei");
    }

    void words_of_fixed_vocabularies_are_translated() {
        set_language("zh_CN");
        const auto foreign = [](const std::string& word) {
            const QString shown = in_words(word);
            return std::any_of(shown.begin(), shown.end(), [](QChar c) { return c.unicode() >= 0x4E00; });
        };
        for (const sim::Metric& m : sim::metrics()) {
            std::string name(m.name);
            std::replace(name.begin(), name.end(), '_', ' ');
            QVERIFY2(foreign(name), name.c_str());
        }
        for (const kernels::VerifyItem& i : tests::made_up_run().items)
            QVERIFY2(foreign(i.what), i.what.c_str());
        for (int s = 0; s <= static_cast<int>(quality::Status::refused); ++s) {
            const std::string name(quality::status_name(static_cast<quality::Status>(s)));
            QVERIFY2(foreign(name), name.c_str());
        }
        QVERIFY(foreign("prior of class sbc_cpu"));
        QCOMPARE(in_words("llama-3.1-8b"), QString("llama-3.1-8b"));  // names stay
        set_language("en_US");
        for (const char* same : {"ttft p95", "tpot mean", "read bandwidth", "w4g32 rows of 1024"})
            QCOMPARE(in_words(same), QString(same));
    }

    void every_text_is_translated() {
        QFile file(QStringLiteral(MEMWALL_TS_FILE));
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QString text = QString::fromUtf8(file.readAll());
        QVERIFY2(!text.contains("type=\"unfinished\""),
                 "unfinished translations in gui/i18n/memwall_zh_CN.ts");
        set_language("zh_CN");
        open_window();
        bool found = false;
        for (const QPushButton* b : window_->findChildren<QPushButton*>())
            found |= b->text() == QString::fromUtf8("撤销");
        set_language("en_US");
        QVERIFY(found);
    }
};

}  // namespace memwall::gui

using memwall::gui::WindowTextsTest;
GUI_TEST(WindowTextsTest)
#include "window_texts_test.moc"
