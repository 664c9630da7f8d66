// The pinned configurations as a table: a row each, numbers with their difference to the first.
#pragma once

#include <QAbstractTableModel>

#include "gui/model/triangle.h"

namespace memwall::gui {

class PinnedModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Column { letter, model, recipe, kv, context, memory, decode, first_token, job, quality, columns };
    enum Role {
        raw_role = Qt::UserRole,  ///< the number, in bytes, tokens/s, seconds, percent
        difference_role,          ///< to row A, as text; empty in row A and where nothing differs
        tone_role,                ///< "good", "bad" or empty
        best_role,                ///< true: no other row is better in this column
        quantity_role,            ///< its path in memwall/plan/1
    };

    explicit PinnedModel(Triangle& triangle, QObject* parent = nullptr);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

  private:
    void reset();
    const Triangle& triangle_;
    std::vector<Pin> pins_;  // what the view was told of
};

}  // namespace memwall::gui
