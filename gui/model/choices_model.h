// The rows of a control's list as a table: option, fact, verdict, memory, tokens/s, quality.
#pragma once

#include <QAbstractTableModel>
#include <QSortFilterProxyModel>
#include <vector>

#include "gui/model/choices.h"

namespace memwall::gui {

class ChoicesModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Column {
        option_column,
        about_column,
        verdict_column,
        memory_column,
        decode_column,
        kept_column,
        columns
    };
    enum Role { value_role = Qt::UserRole, possible_role, reason_role, fits_role };

    using QAbstractTableModel::QAbstractTableModel;
    void set_rows(std::vector<Choice> rows);
    void set_row(int row, const Choice& choice);
    const std::vector<Choice>& rows() const { return rows_; }
    int current_row() const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;

  private:
    std::vector<Choice> rows_;
};

/// Rows whose option or fact holds every word.
class ChoicesFilter : public QSortFilterProxyModel {
    Q_OBJECT
  public:
    using QSortFilterProxyModel::QSortFilterProxyModel;
    void set_words(const QString& words);

  protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

  private:
    QStringList words_;
};

}  // namespace memwall::gui
