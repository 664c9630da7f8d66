// SPDX-License-Identifier: GPL-3.0-only
// One program for all tests of the window. A test is a QObject with Qt Test's private slots; at the end of
// its file:
//   GUI_TEST(SessionTest)
//   #include "session_test.moc"
#pragma once

#include <QObject>
#include <QString>
#include <functional>
#include <memory>

namespace memwall::gui::tests {

using Make = std::function<std::unique_ptr<QObject>()>;
bool add(const char* name, Make make);

/// A new empty folder that lives until the program ends.
QString temporary_folder();
/// Output of `memwall ARGUMENTS`, the command of this build, with a JSON number by path: see plan_numbers.h.
QString run_command(const QString& command_line, const QStringList& more, int* status = nullptr);

}  // namespace memwall::gui::tests

#define GUI_TEST(Class)                                     \
    [[maybe_unused]] static const bool registered_##Class = \
        memwall::gui::tests::add(#Class, [] { return std::make_unique<Class>(); });
