// SPDX-License-Identifier: GPL-3.0-only
// A field that opens a table of choices with what each would change. Text that is typed and not in the list
// is offered as a choice of its own.
#pragma once

#include <QPushButton>
#include <functional>

#include "gui/model/choices_model.h"

class QFrame;
class QLabel;
class QLineEdit;
class QTableView;

namespace memwall::gui {

class ChoiceBox : public QPushButton {
    Q_OBJECT
  public:
    explicit ChoiceBox(const QString& option, QWidget* parent = nullptr);

    const QString& option() const { return option_; }
    void set_value(const QString& shown);
    void set_invalid(bool invalid);
    ChoicesModel& choices() { return *model_; }
    QWidget* popup() const;
    QTableView* table() const { return table_; }
    QLineEdit* filter() const { return filter_; }
    void open();
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

  Q_SIGNALS:
    void opening();  ///< the list is about to be shown: fill choices()
    void closed();
    void chosen(const QString& value);

  protected:
    void paintEvent(QPaintEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool eventFilter(QObject* object, QEvent* event) override;

  private:
    void choose(const QModelIndex& index);
    void show_reason(const QModelIndex& index);

    QString option_, shown_;
    ChoicesModel* model_;
    ChoicesFilter* proxy_;
    QFrame* popup_;
    QLineEdit* filter_;
    QTableView* table_;
    QLabel* reason_;
};

}  // namespace memwall::gui
