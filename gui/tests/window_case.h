// SPDX-License-Identifier: GPL-3.0-only
// What tests of the whole window start from: the usual deployment, shown and active.
#pragma once

#include <memory>

#include "gui/app/main_window.h"
#include "gui/model/session.h"
#include "gui/tests/runner.h"

namespace memwall::gui {

class ExplainPage;
class ExplorePage;

namespace tests {

struct ShownWindow;

class WindowCase {
  protected:
    WindowCase();
    ~WindowCase();
    void open_window();
    void close_window();
    ExplorePage& explore();
    ExplainPage& explain();
    /// Compares what the page shows with the command that it prints; the number of numbers compared.
    int compare_with_command(const QString& page);

    Session* session_ = nullptr;
    MainWindow* window_ = nullptr;

  private:
    std::unique_ptr<ShownWindow> shown_;
};

}  // namespace tests
}  // namespace memwall::gui
