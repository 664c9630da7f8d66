// SPDX-License-Identifier: GPL-3.0-only
// Header, controls, results, page and footer around one session.
#pragma once

#include <QMainWindow>

#include "gui/app/page.h"

namespace memwall::gui {

class MainWindow : public QMainWindow {
    Q_OBJECT
  public:
    explicit MainWindow(Session& session, QWidget* parent = nullptr);

  private:
    Session& session_;
};

}  // namespace memwall::gui
