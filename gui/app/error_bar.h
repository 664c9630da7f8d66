// SPDX-License-Identifier: GPL-3.0-only
// One line under the header: what could not be done, in the reader's own words.
#pragma once

#include <QFrame>

class QLabel;
class QPushButton;

namespace memwall::gui {

class ErrorBar : public QFrame {
    Q_OBJECT
  public:
    explicit ErrorBar(QWidget* parent = nullptr);
    void show_message(const QString& message, bool about_a_file);
    QString message() const;

  Q_SIGNALS:
    void choose_another();

  private:
    QLabel* text_;
    QPushButton* another_;
};

}  // namespace memwall::gui
