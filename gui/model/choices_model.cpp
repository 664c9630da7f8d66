#include "gui/model/choices_model.h"

namespace memwall::gui {

void ChoicesModel::set_rows(std::vector<Choice> rows) {
    beginResetModel();
    rows_ = std::move(rows);
    endResetModel();
}

void ChoicesModel::set_row(int row, const Choice& choice) {
    if (row < 0 || static_cast<std::size_t>(row) >= rows_.size() ||
        rows_[static_cast<std::size_t>(row)].value != choice.value)
        return;  // of a list that was replaced meanwhile
    rows_[static_cast<std::size_t>(row)] = choice;
    Q_EMIT dataChanged(index(row, 0), index(row, columns - 1));
}

int ChoicesModel::current_row() const {
    for (std::size_t i = 0; i < rows_.size(); ++i)
        if (rows_[i].current) return static_cast<int>(i);
    return -1;
}

int ChoicesModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int ChoicesModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : columns;
}

QVariant ChoicesModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= rowCount()) return {};
    const Choice& c = rows_[static_cast<std::size_t>(index.row())];
    const bool planned = c.state == Choice::State::planned;
    switch (role) {
        case Qt::DisplayRole:
            switch (index.column()) {
                case option_column:
                    return c.label;
                case about_column:
                    return c.about;
                case verdict_column:
                    return c.state == Choice::State::waiting ? QStringLiteral("…")
                           : !planned                        ? tr("cannot apply")
                           : c.fits                          ? tr("fits")
                                                             : tr("too large");
                case memory_column:
                    return planned ? c.memory : QString();
                case decode_column:
                    return planned ? c.decode : QString();
                case kept_column:
                    return planned ? c.kept : QString();
            }
            return {};
        case Qt::TextAlignmentRole:
            return QVariant::fromValue(index.column() >= memory_column ? Qt::AlignRight | Qt::AlignVCenter
                                                                       : Qt::AlignLeft | Qt::AlignVCenter);
        case Qt::ToolTipRole:
            return c.why_not.isEmpty() ? c.value : c.why_not;
        case value_role:
            return c.value;
        case possible_role:
            return c.state != Choice::State::impossible;
        case reason_role:
            return c.why_not;
        case fits_role:
            return c.fits;
    }
    return {};
}

QVariant ChoicesModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal) return {};
    if (role == Qt::TextAlignmentRole)
        return QVariant::fromValue(section >= memory_column ? Qt::AlignRight | Qt::AlignVCenter
                                                            : Qt::AlignLeft | Qt::AlignVCenter);
    if (role != Qt::DisplayRole) return {};
    switch (section) {
        case option_column:
            return tr("Choice");
        case verdict_column:
            return tr("Verdict");
        case memory_column:
            return tr("Memory");
        case decode_column:
            return tr("tok/s");
        case kept_column:
            return tr("Tokens kept");
    }
    return QString();
}

Qt::ItemFlags ChoicesModel::flags(const QModelIndex& index) const {
    if (!index.isValid()) return {};
    // An impossible one can be selected too, so that its reason is read.
    return Qt::ItemIsSelectable | Qt::ItemIsEnabled | Qt::ItemNeverHasChildren;
}

void ChoicesFilter::set_words(const QString& words) {
    words_ = words.split(' ', Qt::SkipEmptyParts);
    invalidateFilter();
}

bool ChoicesFilter::filterAcceptsRow(int row, const QModelIndex& parent) const {
    const QString all = sourceModel()->index(row, ChoicesModel::option_column, parent).data().toString() +
                        ' ' + sourceModel()->index(row, ChoicesModel::about_column, parent).data().toString();
    for (const QString& word : words_)
        if (!all.contains(word, Qt::CaseInsensitive)) return false;
    return true;
}

}  // namespace memwall::gui
