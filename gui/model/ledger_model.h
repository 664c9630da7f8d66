// The ledger as a tree for views, and a filter by item, formula, input or source.
#pragma once

#include <QAbstractItemModel>
#include <QSortFilterProxyModel>
#include <memory>
#include <unordered_map>

#include "core/base/ledger.h"

namespace memwall::gui {

/// "kv_cache" -> "KV cache", in the user's language where it is a known item.
QString item_words(std::string_view name);
/// "1.00 GiB", "1.93 tokens/s".
QString ledger_value(const LedgerItem& item);
/// A single value that claims to hold no share of cases (level 0) is an estimate, not an exact number.
bool stated_exact(const LedgerItem& item);
QString ledger_range(const LedgerItem& item);

class LedgerModel : public QAbstractItemModel {
    Q_OBJECT
  public:
    enum Column { item_column, value_column, interval_column, basis_column, columns };
    enum Role {
        raw_role = Qt::UserRole,  ///< central value, double
        path_role,                ///< "memory/kv_cache/full_layers"
        quantity_role,            ///< JSON path in a plan with its ledger: "ledger.children.0.value.central"
        search_role,              ///< everything a filter looks at
        part_role                 ///< index of DataClass for the items of memory; -1 = none
    };

    explicit LedgerModel(QObject* parent = nullptr);
    ~LedgerModel() override;
    /// Shows the children of `root`.
    void set_ledger(LedgerItem root);
    const LedgerItem* item(const QModelIndex& index) const;
    /// A path, or the first item of that name; invalid when there is none.
    QModelIndex find(const QString& path) const;

    QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
    QModelIndex parent(const QModelIndex& index) const override;
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  private:
    struct Node {
        const LedgerItem* parent = nullptr;
        int row = 0;
    };
    void note_children(const LedgerItem& item);

    std::unique_ptr<LedgerItem> root_;
    std::unordered_map<const LedgerItem*, Node> nodes_;
};

/// Rows that match, with their ancestors and all below them.
class LedgerFilter : public QSortFilterProxyModel {
    Q_OBJECT
  public:
    explicit LedgerFilter(QObject* parent = nullptr);
    void set_words(const QString& words);

  protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

  private:
    QStringList words_;
};

}  // namespace memwall::gui
