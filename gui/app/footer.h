// SPDX-License-Identifier: GPL-3.0-only
// The equivalent command, the warnings, and how long the calculation took.
#pragma once

#include <QFrame>

class QLabel;
class QPushButton;

namespace memwall::gui {

class ElidedLabel;

class Footer : public QFrame {
    Q_OBJECT
  public:
    explicit Footer(QWidget* parent = nullptr);
    void set_command(const QString& command);
    void set_warnings(const QStringList& warnings);
    void set_milliseconds(double milliseconds);
    QString command() const;

  public Q_SLOTS:
    void copy_command();

  private:
    void show_warnings();
    ElidedLabel* command_;
    QPushButton* warnings_button_;
    QPushButton* copy_;
    QLabel* time_;
    QStringList warnings_;
};

}  // namespace memwall::gui
