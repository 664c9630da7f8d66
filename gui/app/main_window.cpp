// SPDX-License-Identifier: GPL-3.0-only
#include "gui/app/main_window.h"

namespace memwall::gui {

MainWindow::MainWindow(Session& session, QWidget* parent) : QMainWindow(parent), session_(session) {
    resize(1280, 800);
}

}  // namespace memwall::gui
