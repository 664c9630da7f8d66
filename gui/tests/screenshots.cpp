// SPDX-License-Identifier: GPL-3.0-only
// memwall_gui_screenshots FOLDER [NAME-PART]: each page in three sizes, two appearances and two languages,
// for people to look at.
#include <QApplication>
#include <QDir>
#include <QElapsedTimer>
#include <iostream>

#include "gui/app/application.h"
#include "gui/tests/shown_window.h"
#include "gui/theme/theme.h"

namespace {

using namespace memwall;

void settle(gui::MainWindow& window, int least) {
    QElapsedTimer timer;
    timer.start();
    do {
        QApplication::processEvents(QEventLoop::AllEvents, 10);
    } while (timer.elapsed() < least || (!window.ready() && timer.elapsed() < 60000));
    // What the last answer changed is laid out in later turns.
    for (timer.restart(); timer.elapsed() < 60;) QApplication::processEvents(QEventLoop::AllEvents, 10);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 2) {
        std::cerr << "usage: memwall_gui_screenshots FOLDER [NAME-PART]\n";
        return 2;
    }
    gui::tests::leave_the_desktop(QDir(QString::fromLocal8Bit(argv[1])).absoluteFilePath(".config"));
    QApplication app(argc, argv);
    gui::tests::use_plain_looks();
    const QString part = argc > 2 ? QString::fromLocal8Bit(argv[2]) : QString();
    QDir().mkpath(QString::fromLocal8Bit(argv[1]));
    for (const char* language : {"en", "zh_CN"}) {
        gui::set_language(language);
        for (const char* look : {"light", "dark"}) {
            gui::set_appearance(look == std::string_view("dark") ? gui::Appearance::dark
                                                                 : gui::Appearance::light);
            gui::tests::ShownWindow shown;
            gui::MainWindow& window = shown.window;
            for (const QString& page : window.page_names())
                for (const QSize size : {QSize(1280, 800), QSize(1920, 1080), QSize(1024, 640)}) {
                    const QString name =
                        QStringLiteral("%1-%2-%3-%4.png").arg(page).arg(size.width()).arg(look, language);
                    if (!part.isEmpty() && !name.contains(part)) continue;
                    window.resize(size);
                    window.show_page(page);
                    window.demonstrate();
                    settle(window, 120);
                    window.grab().save(QDir(QString::fromLocal8Bit(argv[1])).filePath(name));
                }
        }
    }
    return 0;
}
