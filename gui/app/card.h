// SPDX-License-Identifier: GPL-3.0-only
// A framed part of a page: title, a grey remark beside it, and one widget.
#pragma once

#include <QFrame>

class QHBoxLayout;
class QLabel;

namespace memwall::gui {

class Card : public QFrame {
    Q_OBJECT
  public:
    explicit Card(const QString& title, const QString& remark = {}, QWidget* parent = nullptr);
    void set_content(QWidget* content, int stretch = 1);
    void set_title(const QString& title);
    void set_remark(const QString& remark);
    /// Something small at the right end of the title line.
    void add_to_title(QWidget* widget);

  private:
    QLabel* title_;
    QLabel* remark_;
    QHBoxLayout* line_;
};

}  // namespace memwall::gui
