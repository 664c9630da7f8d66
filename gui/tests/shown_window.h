// SPDX-License-Identifier: GPL-3.0-only
// A window as tests, pictures and measurements open it: nothing of the user's desktop reaches it.
#pragma once

#include <QString>

#include "gui/app/main_window.h"
#include "gui/model/session.h"

namespace memwall::gui::tests {

/// Before QApplication: no display, and settings in `folder`.
void leave_the_desktop(const QString& folder);
/// After it: the font that every machine with our packages has, and the program's own set-up.
void use_plain_looks();

/// An 8B model on an 8 GiB board: something is near every limit.
plan::Deployment usual_deployment();

struct ShownWindow {
    Session session;
    MainWindow window;

    ShownWindow();
};

}  // namespace memwall::gui::tests
