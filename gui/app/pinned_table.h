// SPDX-License-Identifier: GPL-3.0-only
// The pinned set: each number with its difference beside it, the best of a column bold.
#pragma once

#include <QStyledItemDelegate>
#include <QTableView>

#include "gui/model/pinned_model.h"

namespace memwall::gui {

class PinnedDelegate : public QStyledItemDelegate {
    Q_OBJECT
  public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
};

class PinnedTable : public QTableView {
    Q_OBJECT
  public:
    explicit PinnedTable(PinnedModel& model, QWidget* parent = nullptr);

    /// As high as its rows.
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }

  Q_SIGNALS:
    void unpinned(std::size_t row);  ///< Delete
    void opened(std::size_t row);    ///< Enter, Space or a double click

  protected:
    void keyPressEvent(QKeyEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

  private:
    void fit();
};

}  // namespace memwall::gui
