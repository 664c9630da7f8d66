// SPDX-License-Identifier: GPL-3.0-only
// The numbers of a plot as rows and columns: what Ctrl+T shows and CSV holds. Private to gui/charts.
#pragma once

#include <QAbstractTableModel>
#include <map>

#include "gui/charts/axis.h"
#include "gui/charts/marks.h"

namespace memwall::gui {

class PlotTable : public QAbstractTableModel {
    Q_OBJECT
  public:
    using QAbstractTableModel::QAbstractTableModel;

    /// Lines, bands and layers side by side over their x; without them the dots, one a row.
    void fill(const Axis& x, const Axis& y, const std::map<QString, Line>& lines,
              const std::map<QString, Band>& bands, const Stack& stack, const std::vector<Dots>& dots);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  private:
    QStringList headers_;
    std::vector<std::vector<QVariant>> rows_;
};

}  // namespace memwall::gui
