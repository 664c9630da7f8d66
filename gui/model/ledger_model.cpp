#include "gui/model/ledger_model.h"

#include <QCoreApplication>
#include <algorithm>
#include <array>

#include "core/plan/curves.h"
#include "core/view/ledger_view.h"
#include "core/view/quantity_text.h"
#include "gui/model/numbers.h"
#include "gui/model/vocabulary.h"

namespace memwall::gui {
namespace {

struct ItemWords {
    std::string_view name;
    const char* words;
};
// The items people meet first; the rest read well enough with blanks.
constexpr ItemWords kItemWords[] = {
    {"memory", QT_TRANSLATE_NOOP("ledger", "Memory")},
    {"weights", QT_TRANSLATE_NOOP("ledger", "Weights")},
    {"kv_cache", QT_TRANSLATE_NOOP("ledger", "KV cache")},
    {"recurrent_state", QT_TRANSLATE_NOOP("ledger", "Recurrent state")},
    {"compute_buffer", QT_TRANSLATE_NOOP("ledger", "Compute buffer")},
    {"kld", QT_TRANSLATE_NOOP("ledger", "KL divergence, nats")},
    {"top1_disagreement", QT_TRANSLATE_NOOP("ledger", "Tokens that differ")},
    {"evidence", QT_TRANSLATE_NOOP("ledger", "Evidence")},
    {"full_layers", QT_TRANSLATE_NOOP("ledger", "full-context layers")},
    {"window_layers", QT_TRANSLATE_NOOP("ledger", "layers with a window")},
    {"output_buffer", QT_TRANSLATE_NOOP("ledger", "Output buffer")},
    {"repacked", QT_TRANSLATE_NOOP("ledger", "Repacked copies")},
    {"draft", QT_TRANSLATE_NOOP("ledger", "Draft model")},
    {"projector", QT_TRANSLATE_NOOP("ledger", "Projector")},
    {"adapter", QT_TRANSLATE_NOOP("ledger", "Adapter")},
    {"overhead", QT_TRANSLATE_NOOP("ledger", "Overhead")},
    {"budget", QT_TRANSLATE_NOOP("ledger", "Budget")},
    {"speed", QT_TRANSLATE_NOOP("ledger", "Speed")},
    {"decode", QT_TRANSLATE_NOOP("ledger", "Decode")},
    {"prefill", QT_TRANSLATE_NOOP("ledger", "Prefill")},
    {"decode_operators", QT_TRANSLATE_NOOP("ledger", "Operators of decode")},
    {"prefill_operators", QT_TRANSLATE_NOOP("ledger", "Operators of prefill")},
    {"batching", QT_TRANSLATE_NOOP("ledger", "More sequences at once")},
    {"decode_without_cache", QT_TRANSLATE_NOOP("ledger", "Decode without a cache")},
    {"quality", QT_TRANSLATE_NOOP("ledger", "Quality")},
    {"embedding", QT_TRANSLATE_NOOP("ledger", "embedding")},
    {"attention_projections", QT_TRANSLATE_NOOP("ledger", "attention projections")},
    {"attention", QT_TRANSLATE_NOOP("ledger", "attention")},
    {"feed_forward", QT_TRANSLATE_NOOP("ledger", "feed-forward")},
    {"experts", QT_TRANSLATE_NOOP("ledger", "experts")},
    {"shared_expert", QT_TRANSLATE_NOOP("ledger", "shared expert")},
    {"router", QT_TRANSLATE_NOOP("ledger", "router")},
    {"recurrent", QT_TRANSLATE_NOOP("ledger", "recurrent part")},
    {"norms", QT_TRANSLATE_NOOP("ledger", "norms")},
    {"output", QT_TRANSLATE_NOOP("ledger", "output head")},
};

/// As in the results above the pages; columns are narrow.
constexpr QLatin1String kRate("tok/s");

/// "10.16 GiB  [10.15 GiB - 10.19 GiB]" and "1.00 GiB (1,073,741,824 bytes)" without what follows the number.
QString without_range(const QString& text) {
    const qsizetype ends[] = {text.indexOf(QStringLiteral(" (")), text.indexOf(QStringLiteral("  ["))};
    qsizetype end = text.size();
    for (const qsizetype at : ends)
        if (at >= 0) end = std::min(end, at);
    return text.left(end);
}

/// Ledger and operators spell a name with underscores, hyphens or blanks.
bool same_name(std::string_view a, std::string_view b) {
    const auto plain = [](char c) { return c == '-' || c == ' ' ? '_' : c; };
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [&](char x, char y) { return plain(x) == plain(y); });
}

int part_of_item(std::string_view name) {
    for (std::size_t i = 0; i < plan::kItems; ++i)
        if (plan::item_name(static_cast<plan::Item>(i)) == name)
            return static_cast<int>(plan::part_of(static_cast<plan::Item>(i)));
    return -1;
}

}  // namespace

QString item_words(std::string_view name) {
    for (const ItemWords& w : kItemWords)
        if (same_name(w.name, name)) return QCoreApplication::translate("ledger", w.words);
    return text_of(name).replace('_', ' ');
}

QString ledger_value(const LedgerItem& item) {
    const QString all = text_of(view::value_text(item));
    // The exact bytes and the range have lines of their own.
    return shown(without_range(all)).replace(QLatin1String("tokens/s"), kRate);
}

bool stated_exact(const LedgerItem& item) {
    return item.value.is_exact() && item.value.level > 0;
}

QString ledger_range(const LedgerItem& item) {
    if (stated_exact(item)) return QCoreApplication::translate("ledger", "exact");
    if (item.value.is_exact()) return QCoreApplication::translate("ledger", "at central rates");
    const Interval<double>& v = item.value;
    LedgerItem low = {}, high = {};
    low.unit = high.unit = item.unit;
    low.value = Interval<double>::exact(v.low);
    high.value = Interval<double>::exact(v.high);
    return shown_range(without_range(text_of(view::value_text(low))) + " - " +
                       without_range(text_of(view::value_text(high))))
        .replace(QLatin1String("tokens/s"), kRate);
}

LedgerModel::LedgerModel(QObject* parent)
    : QAbstractItemModel(parent), root_(std::make_unique<LedgerItem>()) {}
LedgerModel::~LedgerModel() = default;

void LedgerModel::note_children(const LedgerItem& item) {
    for (std::size_t i = 0; i < item.children.size(); ++i) {
        nodes_[&item.children[i]] = {&item, static_cast<int>(i)};
        note_children(item.children[i]);
    }
}

void LedgerModel::set_ledger(LedgerItem root) {
    beginResetModel();
    nodes_.clear();
    root_ = std::make_unique<LedgerItem>(std::move(root));
    note_children(*root_);
    endResetModel();
}

const LedgerItem* LedgerModel::item(const QModelIndex& index) const {
    return index.isValid() ? static_cast<const LedgerItem*>(index.internalPointer()) : root_.get();
}

QModelIndex LedgerModel::index(int row, int column, const QModelIndex& parent) const {
    const auto& children = item(parent)->children;
    if (row < 0 || column < 0 || column >= columns || static_cast<std::size_t>(row) >= children.size())
        return {};
    return createIndex(row, column, &children[static_cast<std::size_t>(row)]);
}

QModelIndex LedgerModel::parent(const QModelIndex& index) const {
    if (!index.isValid()) return {};
    const auto node = nodes_.find(item(index));
    if (node == nodes_.end() || node->second.parent == root_.get()) return {};
    return createIndex(nodes_.at(node->second.parent).row, 0, node->second.parent);
}

int LedgerModel::rowCount(const QModelIndex& parent) const {
    return parent.column() > 0 ? 0 : static_cast<int>(item(parent)->children.size());
}

int LedgerModel::columnCount(const QModelIndex&) const {
    return columns;
}

QVariant LedgerModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) return {};
    const LedgerItem& i = *item(index);
    switch (role) {
        case Qt::DisplayRole:
            switch (index.column()) {
                case item_column:
                    return item_words(i.name);
                case value_column:
                    return ledger_value(i);
                case interval_column:
                    return ledger_range(i);
                case basis_column:
                    return !stated_exact(i)   ? in_words(i.value.basis)
                           : i.inputs.empty() ? QString()
                                              : text_of(i.inputs.front().source);
            }
            return {};
        case Qt::ToolTipRole:
            return index.column() == item_column ? text_of(i.name) : data(index, Qt::DisplayRole);
        case Qt::TextAlignmentRole:
            return QVariant::fromValue(index.column() == value_column ? Qt::AlignRight | Qt::AlignVCenter
                                                                      : Qt::AlignLeft | Qt::AlignVCenter);
        case raw_role:
            return i.value.central;
        case path_role: {
            const QModelIndex up = parent(index);
            return (up.isValid() ? up.data(path_role).toString() + "/" : QString()) + text_of(i.name);
        }
        case quantity_role: {
            QString path = QStringLiteral(".value.central");
            for (QModelIndex at = index; at.isValid(); at = parent(at))
                path = QStringLiteral(".children.%1").arg(at.row()) + path;
            return QStringLiteral("ledger") + path;
        }
        case search_role: {
            QString all = item_words(i.name) + '\n' + text_of(i.name) + '\n' + text_of(i.formula) + '\n' +
                          in_words(i.value.basis);
            for (const LedgerInput& in : i.inputs) all += '\n' + text_of(in.name) + '\n' + text_of(in.source);
            return all;
        }
        case part_role: {
            const QModelIndex up = parent(index);
            return up.isValid() && item(up)->name == "memory" ? part_of_item(i.name) : -1;
        }
    }
    return {};
}

QVariant LedgerModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal) return {};
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(section == value_column ? Qt::AlignRight | Qt::AlignVCenter
                                                           : Qt::AlignLeft | Qt::AlignVCenter);
    if (role != Qt::DisplayRole) return {};
    switch (section) {
        case item_column:
            return tr("Item");
        case value_column:
            return tr("Value");
        case interval_column:
            return tr("Interval");
        default:
            return tr("Basis");
    }
}

QModelIndex LedgerModel::find(const QString& path) const {
    const auto search = [&](const auto& self, const QModelIndex& parent) -> QModelIndex {
        for (int row = 0; row < rowCount(parent); ++row) {
            const QModelIndex at = index(row, 0, parent);
            if (at.data(path_role).toString() == path || text_of(item(at)->name) == path) return at;
            if (const QModelIndex below = self(self, at); below.isValid()) return below;
        }
        return {};
    };
    return search(search, {});
}

LedgerFilter::LedgerFilter(QObject* parent) : QSortFilterProxyModel(parent) {
    setRecursiveFilteringEnabled(true);
    setAutoAcceptChildRows(true);
}

void LedgerFilter::set_words(const QString& words) {
    words_ = words.split(' ', Qt::SkipEmptyParts);
    invalidateFilter();
}

bool LedgerFilter::filterAcceptsRow(int row, const QModelIndex& parent) const {
    const QString all = sourceModel()->index(row, 0, parent).data(LedgerModel::search_role).toString();
    for (const QString& word : words_)
        if (!all.contains(word, Qt::CaseInsensitive)) return false;
    return true;
}

}  // namespace memwall::gui
