// SPDX-License-Identifier: GPL-3.0-only
#include "gui/tests/runner.h"

#include <QApplication>
#include <QDir>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>
#include <iostream>
#include <vector>

#include "gui/tests/shown_window.h"

namespace memwall::gui::tests {
namespace {

struct Case {
    const char* name;
    Make make;
};
std::vector<Case>& cases() {
    static std::vector<Case> all;
    return all;
}

QTemporaryDir& folder() {
    static QTemporaryDir dir;
    return dir;
}

}  // namespace

bool add(const char* name, Make make) {
    cases().push_back({name, std::move(make)});
    return true;
}

QString temporary_folder() {
    static int count = 0;
    const QString path = folder().filePath(QString::number(++count));
    QDir().mkpath(path);
    return path;
}

QString run_command(const QString& command_line, const QStringList& more, int* status) {
    QStringList words = QProcess::splitCommand(command_line);
    words.removeFirst();  // "memwall"
    QProcess process;
    process.start(QStringLiteral(MEMWALL_COMMAND), words + more);
    process.waitForFinished(60000);
    if (status) *status = process.exitCode();
    return QString::fromUtf8(process.readAllStandardOutput());
}

}  // namespace memwall::gui::tests

/// memwall_gui_tests [CLASS...] [-- arguments of Qt Test]: all classes without names.
int main(int argc, char** argv) {
    using namespace memwall::gui;
    tests::leave_the_desktop(tests::temporary_folder());
    QApplication app(argc, argv);
    tests::use_plain_looks();

    QStringList wanted, rest{QString::fromLocal8Bit(argv[0])};
    bool ours = true;
    for (int i = 1; i < argc; ++i) {
        const QString word = QString::fromLocal8Bit(argv[i]);
        if (word == "--")
            ours = false;
        else
            (ours ? wanted : rest) << word;
    }
    int failed = 0;
    for (const auto& c : tests::cases()) {
        if (!wanted.isEmpty() && !wanted.contains(QString::fromLatin1(c.name))) continue;
        const auto test = c.make();
        failed += QTest::qExec(test.get(), rest);
    }
    if (failed > 0) std::cerr << failed << " tests failed\n";
    return failed == 0 ? 0 : 1;
}
