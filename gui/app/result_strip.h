// SPDX-License-Identifier: GPL-3.0-only
// The answers above every page.
#pragma once

#include <QWidget>
#include <vector>

#include "gui/app/page.h"

class QBoxLayout;

namespace memwall::gui {

/// Verdict, decode, first token, quality and largest context of the session's plan.
std::vector<ResultCell> plan_cells(const Session& session);

class ResultStrip : public QWidget {
    Q_OBJECT
  public:
    explicit ResultStrip(QWidget* parent = nullptr);
    void set_cells(const std::vector<ResultCell>& cells);

  Q_SIGNALS:
    void clicked(const QString& ledger_item);

  private:
    class Cell;
    QBoxLayout* row_;
    std::vector<Cell*> cells_;
};

}  // namespace memwall::gui
