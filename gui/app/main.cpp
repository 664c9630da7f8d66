// SPDX-License-Identifier: GPL-3.0-only
// memwall-explorer.
#include <QApplication>

#include "gui/app/main_window.h"
#include "gui/theme/theme.h"

int main(int argc, char** argv) {
    QApplication app(argc, argv);
    QApplication::setStyle("fusion");
    memwall::gui::set_appearance(memwall::gui::Appearance::system);
    memwall::gui::Session session;
    memwall::gui::MainWindow window(session);
    window.show();
    return QApplication::exec();
}
