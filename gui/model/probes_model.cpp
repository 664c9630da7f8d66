#include "gui/model/probes_model.h"

#include "gui/model/numbers.h"
#include "gui/model/verification.h"

namespace memwall::gui {

void ProbesModel::set_results(std::vector<device::ProbeResult> results) {
    beginResetModel();
    results_ = std::move(results);
    endResetModel();
}

int ProbesModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(results_.size());
}

int ProbesModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : 4;
}

QVariant ProbesModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) return {};
    const device::ProbeResult& r = results_[static_cast<std::size_t>(index.row())];
    if (role == Qt::UserRole && index.column() == 2) return r.median;
    if (role == Qt::ToolTipRole)
        return tr("95 % interval %1 to %2")
                   .arg(shown(measured_text(r.low, r.unit)), shown(measured_text(r.high, r.unit))) +
               (r.how.empty() ? QString() : u'\n' + text_of(r.how));
    if (role == Qt::TextAlignmentRole && index.column() > 0)
        return QVariant::fromValue(Qt::Alignment(Qt::AlignRight | Qt::AlignVCenter));
    if (role != Qt::DisplayRole) return {};
    switch (index.column()) {
        case 0:
            return text_of(r.probe).replace(u'_', u' ');
        case 1:
            return r.threads;
        case 2:
            return shown(measured_text(r.median, r.unit));
        default:
            return r.unclean > 0 ? tr("%1 (%2 disturbed)").arg(r.samples).arg(r.unclean)
                                 : QString::number(r.samples);
    }
}

QVariant ProbesModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (role != Qt::DisplayRole || orientation != Qt::Horizontal) return {};
    const QString names[] = {tr("Probe"), tr("Threads"), tr("Median"), tr("Samples")};
    return section >= 0 && section < 4 ? QVariant(names[section]) : QVariant();
}

}  // namespace memwall::gui
