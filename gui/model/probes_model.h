// What a calibration measured, a row a probe.
#pragma once

#include <QAbstractTableModel>
#include <vector>

#include "core/device/calibration.h"

namespace memwall::gui {

class ProbesModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    using QAbstractTableModel::QAbstractTableModel;
    void set_results(std::vector<device::ProbeResult> results);
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

  private:
    std::vector<device::ProbeResult> results_;
};

}  // namespace memwall::gui
