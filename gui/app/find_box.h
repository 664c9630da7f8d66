// SPDX-License-Identifier: GPL-3.0-only
// Ctrl+K: models, devices, actions and ledger lines by their words.
#pragma once

#include <QFrame>
#include <vector>

#include "gui/app/page.h"

class QLineEdit;
class QListWidget;

namespace memwall::gui {

class FindBox : public QFrame {
    Q_OBJECT
  public:
    explicit FindBox(QWidget* window);
    /// Shows the box over the window; the list is what `entries` holds now.
    void open(std::vector<FindEntry> entries);
    QLineEdit* field() const { return field_; }
    QListWidget* list() const { return list_; }

  protected:
    bool eventFilter(QObject* object, QEvent* event) override;

  private:
    void filter(const QString& words);
    void act();

    std::vector<FindEntry> entries_;
    QLineEdit* field_;
    QListWidget* list_;
};

}  // namespace memwall::gui
