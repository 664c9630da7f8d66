// SPDX-License-Identifier: GPL-3.0-only
// memwall-explorer.
#include <QApplication>
#include <QCommandLineParser>
#include <QElapsedTimer>
#include <QFileInfo>
#include <QTimer>
#include <iostream>

#include "core/base/error.h"
#include "core/base/version.h"
#include "core/plan/options.h"
#include "gui/app/application.h"
#include "gui/app/error_bar.h"
#include "gui/app/main_window.h"
#include "gui/app/start.h"
#include "gui/theme/theme.h"

namespace {

using namespace memwall;

constexpr int kUsage = 2;

struct Arguments {
    QString target, page, screenshot, theme, language, device;
    QSize size;
    bool fresh = false;
};

/// Exits for --help and --version; throws Error for what it does not know.
Arguments parse(const QStringList& words) {
    QCommandLineParser parser;
    parser.setApplicationDescription(
        "The latency / memory / quality triangle on the desktop.\n\n"
        "Shows the plan that `memwall plan` prints for the same options; the line at the bottom of the "
        "window is that\n"
        "command. Licence: GPL-3.0-only, because of Qt Charts.");
    const QCommandLineOption help(QStringList{"h", "help"}, "Print this and exit.");
    const QCommandLineOption version(QStringList{"v", "version"}, "Print the version and exit.");
    const QCommandLineOption page("page", "explore, triangle, explain, simulate or verify.", "NAME",
                                  "explore");
    const QCommandLineOption device("device", "Device to start with, as in `memwall plan --device`.",
                                    "DEVICE");
    const QCommandLineOption theme("theme", "system, light or dark, for this start.", "NAME");
    const QCommandLineOption language("language", "en or zh_CN, for this start (the system's).", "NAME");
    const QCommandLineOption size("size", "Size of the window.", "WxH");
    const QCommandLineOption fresh("fresh", "Start as if for the first time; save nothing.");
    const QCommandLineOption screenshot("screenshot", "Write a picture of the window (.png) and exit.",
                                        "FILE");
    parser.addOptions({help, version, page, device, theme, language, size, fresh, screenshot});
    parser.addPositionalArgument(
        "TARGET", "Model, deployment YAML or device profile to open: a catalogue id or a file.", "[TARGET]");
    if (!parser.parse(words)) throw Error("", parser.errorText().toStdString(), "what --help lists");
    if (parser.isSet(help)) {
        // Without an application object Qt does not know the program's name.
        std::cout << parser.helpText().replace("<executable_name>", "memwall-explorer").toStdString();
        std::exit(0);
    }
    if (parser.isSet(version)) {
        std::cout << "memwall-explorer " << kVersion << ", data of " << kDataVersion << ", Qt " << qVersion()
                  << "\nGPL-3.0-only (links Qt Charts); the memwall library is Apache-2.0\n";
        std::exit(0);
    }
    Arguments a;
    if (parser.positionalArguments().size() > 1)
        throw Error("", "two targets", "one model, deployment or device");
    a.target = parser.positionalArguments().value(0);
    a.page = parser.value(page);
    a.screenshot = parser.value(screenshot);
    a.theme = parser.value(theme);
    a.language = parser.value(language);
    a.device = parser.value(device);
    a.fresh = parser.isSet(fresh) || parser.isSet(screenshot);
    if (parser.isSet(size)) {
        const QStringList sides = parser.value(size).split('x');
        a.size = QSize(sides.value(0).toInt(), sides.value(1).toInt());
        if (sides.size() != 2 || a.size.width() < 200 || a.size.height() < 200 || a.size.width() > 16384 ||
            a.size.height() > 16384)
            throw Error("--size", parser.value(size).toStdString(), "WIDTHxHEIGHT, such as 1280x800");
    }
    if (!QStringList{"explore", "triangle", "explain", "simulate", "verify"}.contains(a.page))
        throw Error("--page", a.page.toStdString(), "explore, triangle, explain, simulate or verify");
    if (!QStringList{"", "system", "light", "dark"}.contains(a.theme))
        throw Error("--theme", a.theme.toStdString(), "system, light or dark");
    return a;
}

/// What --screenshot waits for: everything that a change sets off has been drawn.
void write_screenshot(gui::MainWindow& window, const QString& path) {
    QElapsedTimer timer;
    timer.start();
    do {
        QApplication::processEvents(QEventLoop::AllEvents, 20);
    } while (timer.elapsed() < 300 || (!window.ready() && timer.elapsed() < 10000));
    for (int i = 0; i < 3; ++i) QApplication::processEvents();  // layouts that the last answer asked for
    if (!window.grab().save(path)) throw Error(path.toStdString(), "cannot be written", "a place for a .png");
}

int run(int argc, char** argv) {
    // --help and --version need no display.
    QStringList words;
    for (int i = 0; i < argc; ++i) words << QString::fromLocal8Bit(argv[i]);
    const Arguments arguments = parse(words);
    QApplication app(argc, argv);
    gui::set_up_application();
    if (!arguments.theme.isEmpty())
        gui::set_appearance(arguments.theme == "dark"    ? gui::Appearance::dark
                            : arguments.theme == "light" ? gui::Appearance::light
                                                         : gui::Appearance::system);
    gui::set_language(arguments.language);
    gui::Session session;
    gui::MainWindow window(session);
    if (arguments.target.isEmpty()) {
        if (arguments.device.isEmpty() && !arguments.fresh)
            window.restore();
        else
            window.start_afresh(arguments.device.toStdString());
    } else {
        const plan::Deployment first = gui::start_at_once(arguments.device.toStdString());
        if (QFileInfo::exists(arguments.target)) {
            session.start_with(first);
            window.open_path(arguments.target);
        } else {
            plan::Deployment wanted = first;
            wanted.model = arguments.target.toStdString();
            wanted.quant.clear();                                        // was chosen for the other model
            if (!session.start_with(wanted)) session.start_with(first);  // the message stays in the bar
        }
    }
    window.show_page(arguments.page);
    if (arguments.size.isValid()) window.resize(arguments.size);
    window.set_save_on_close(!arguments.fresh);
    window.show();
    if (!arguments.screenshot.isEmpty()) {
        write_screenshot(window, arguments.screenshot);
        return 0;
    }
    return QApplication::exec();
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const memwall::Error& e) {
        std::cerr << "memwall-explorer: " << e.what() << "\n";
        return kUsage;
    } catch (const std::exception& e) {
        std::cerr << "memwall-explorer: internal error: " << e.what() << "\n";
        return 70;
    }
}
