// SPDX-License-Identifier: GPL-3.0-only
#include "gui/charts/plot_table.h"

#include <QCoreApplication>
#include <set>

namespace memwall::gui {

void PlotTable::fill(const Axis& x, const Axis& y, const std::map<QString, Line>& lines,
                     const std::map<QString, Band>& bands, const Stack& stack,
                     const std::vector<Dots>& dots) {
    beginResetModel();
    headers_ = {x.name};
    rows_.clear();
    std::vector<std::map<double, double>> columns;
    const auto column = [&](const QString& name) -> std::map<double, double>& {
        headers_.append(name);
        return columns.emplace_back();
    };
    for (const auto& [key, l] : lines)
        if (!l.name.isEmpty()) {
            auto& c = column(l.name);
            for (const Point& p : l.points) c[p.x] = p.y;
        }
    for (const auto& [key, b] : bands)
        if (!b.name.isEmpty()) {
            auto& low = column(QCoreApplication::translate("memwall::gui::Plot", "%1, low").arg(b.name));
            for (const Spread& p : b.points) low[p.x] = p.low;
            auto& high = column(QCoreApplication::translate("memwall::gui::Plot", "%1, high").arg(b.name));
            for (const Spread& p : b.points) high[p.x] = p.high;
        }
    for (const Layer& l : stack.layers) {
        auto& c = column(l.name);
        for (std::size_t i = 0; i < stack.x.size(); ++i) c[stack.x[i]] = l.heights[i];
    }
    std::set<double> places;
    for (const auto& c : columns)
        for (const auto& [place, value] : c) places.insert(place);
    for (const double place : places) {
        std::vector<QVariant> row{place};
        for (const auto& c : columns) {
            const auto it = c.find(place);
            row.push_back(it == c.end() ? QVariant() : QVariant(it->second));
        }
        rows_.push_back(std::move(row));
    }
    if (columns.empty()) {
        headers_ = {QCoreApplication::translate("memwall::gui::Plot", "series"), x.name, y.name};
        for (const Dots& d : dots)
            if (!d.name.isEmpty())
                for (const Point& p : d.points) rows_.push_back({d.name, p.x, p.y});
    }
    endResetModel();
}

int PlotTable::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int PlotTable::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(headers_.size());
}

QVariant PlotTable::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) return {};
    const QVariant& v =
        rows_[static_cast<std::size_t>(index.row())][static_cast<std::size_t>(index.column())];
    if (role == Qt::DisplayRole)
        return v.typeId() == QMetaType::Double ? QVariant(QString::number(v.toDouble(), 'g', 6)) : v;
    if (role == Qt::UserRole) return v;
    if (role == Qt::TextAlignmentRole && v.typeId() == QMetaType::Double)
        return QVariant::fromValue(Qt::Alignment(Qt::AlignRight | Qt::AlignVCenter));
    return {};
}

QVariant PlotTable::headerData(int section, Qt::Orientation orientation, int role) const {
    if (role != Qt::DisplayRole) return {};
    if (orientation == Qt::Vertical) return section + 1;
    return section >= 0 && section < headers_.size() ? QVariant(headers_[section]) : QVariant();
}

}  // namespace memwall::gui
