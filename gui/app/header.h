// SPDX-License-Identifier: GPL-3.0-only
// Name, pages, and what can be done everywhere.
#pragma once

#include <QFrame>
#include <QList>

class QAction;
class QHBoxLayout;
class QPushButton;

namespace memwall::gui {

class Header : public QFrame {
    Q_OBJECT
  public:
    explicit Header(QWidget* parent = nullptr);
    void add_page(const QString& title);
    /// A button at the right that triggers the action; with a menu it opens that.
    void add_action(QAction* action, const QString& text, class QMenu* menu = nullptr);
    void set_page(int index);

  Q_SIGNALS:
    void page_chosen(int index);

  private:
    QHBoxLayout* tabs_;
    QHBoxLayout* buttons_;
    QList<QPushButton*> pages_;
};

}  // namespace memwall::gui
