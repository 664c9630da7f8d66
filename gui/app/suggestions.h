// SPDX-License-Identifier: GPL-3.0-only
// Up to three changes that would make the plan fit; a click applies one.
#pragma once

#include <QFrame>

#include "gui/model/session.h"

class QVBoxLayout;

namespace memwall::gui {

class Suggestions : public QFrame {
    Q_OBJECT
  public:
    Suggestions(Session& session, QWidget* parent);
    void refresh();
    /// What it needs in this width.
    int height_for(int width) const;

  private:
    Session& session_;
    QVBoxLayout* rows_;
};

}  // namespace memwall::gui
