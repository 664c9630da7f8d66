// SPDX-License-Identifier: GPL-3.0-only
// What the program and its tests share: style, font, translation.
#pragma once

#include <QString>

class QApplication;

namespace memwall::gui {

/// Names for settings, Fusion, the look of the last start. Before any window.
void set_up_application();
/// Our own texts and Qt's dialogs in the language of `name` ("zh_CN"; empty = the system's). Windows made
/// later use it.
void set_language(const QString& name);

}  // namespace memwall::gui
