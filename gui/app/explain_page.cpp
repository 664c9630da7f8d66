// SPDX-License-Identifier: GPL-3.0-only
#include "gui/app/explain_page.h"

#include <QClipboard>
#include <QEvent>
#include <QFile>
#include <QGridLayout>
#include <QGuiApplication>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPainter>
#include <QPushButton>
#include <QScrollArea>
#include <QSignalBlocker>
#include <QSplitter>
#include <QStyledItemDelegate>
#include <QTreeView>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "core/base/size_text.h"
#include "core/view/json.h"
#include "core/view/ledger_view.h"
#include "gui/app/card.h"
#include "gui/app/elided_label.h"
#include "gui/charts/export.h"
#include "gui/model/ledger_model.h"
#include "gui/model/vocabulary.h"
#include "gui/theme/theme.h"

namespace memwall::gui {
namespace {

/// Chapters bold, a square of its colour before each class of memory, interval and basis grey.
class LedgerDelegate : public QStyledItemDelegate {
  public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
        QStyledItemDelegate::initStyleOption(option, index);
        if (!index.parent().isValid() && index.column() < LedgerModel::interval_column)
            option->font.setWeight(QFont::DemiBold);
        if (index.column() >= LedgerModel::interval_column)
            for (const QPalette::ColorRole role : {QPalette::Text, QPalette::HighlightedText})
                option->palette.setColor(role, theme().second);
        option->displayAlignment = index.data(Qt::TextAlignmentRole).value<Qt::Alignment>();
        const int part = index.column() == 0 ? index.data(LedgerModel::part_role).toInt() : -1;
        if (part >= 0) {
            const int size = 10;
            QPixmap square(QSize(size, size) * qGuiApp->devicePixelRatio());
            square.setDevicePixelRatio(qGuiApp->devicePixelRatio());
            square.fill(theme().of(static_cast<DataClass>(part)));
            option->icon = QIcon(square);
            option->features |= QStyleOptionViewItem::HasDecoration;
            option->decorationSize = {size, size};
        }
    }
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override {
        QSize size = QStyledItemDelegate::sizeHint(option, index);
        size.setHeight(option.fontMetrics.height() + 8);
        return size;
    }
};

QLabel* label(const char* role, bool wrap = false) {
    auto* l = new QLabel;
    set_role(l, role);
    l->setWordWrap(wrap);
    l->setTextFormat(Qt::PlainText);
    l->setTextInteractionFlags(Qt::TextSelectableByMouse);
    return l;
}

}  // namespace

ExplainPage::ExplainPage(Session& session, QWidget* parent)
    : Page(session, parent),
      model_(new LedgerModel(this)),
      filter_(new LedgerFilter(this)),
      field_(new QLineEdit),
      tree_(new QTreeView),
      name_(label("title")),
      value_(label("result")),
      raw_(label("note", true)),
      formula_head_(label("note")),
      formula_(label("", true)),
      inputs_head_(label("note")),
      place_(new ElidedLabel),
      inputs_(new QWidget),
      input_rows_(new QGridLayout(inputs_)),
      copy_text_(new QPushButton(tr("Copy as text"))),
      copy_json_(new QPushButton(tr("Copy as JSON"))),
      to_chart_(new QPushButton(tr("Show in chart"))) {
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(8);

    auto* left = new Card(tr("Ledger"), tr("every number, where it comes from"));
    auto* body = new QWidget;
    auto* column = new QVBoxLayout(body);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(6);
    field_->setPlaceholderText(tr("Filter by item, formula or source"));
    field_->setAccessibleName(tr("Filter"));
    field_->setClearButtonEnabled(true);
    column->addWidget(field_);
    filter_->setSourceModel(model_);
    tree_->setModel(filter_);
    tree_->setItemDelegate(new LedgerDelegate(tree_));
    tree_->setAlternatingRowColors(true);
    tree_->setUniformRowHeights(true);
    tree_->setAllColumnsShowFocus(true);
    tree_->setSelectionBehavior(QAbstractItemView::SelectRows);
    tree_->setAccessibleName(tr("Ledger"));
    tree_->setTextElideMode(Qt::ElideRight);
    tree_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    column->addWidget(tree_, 1);
    left->set_content(body);
    row->addWidget(left, 3);

    auto* right = new QFrame;
    set_role(right, "card");
    auto* detail = new QVBoxLayout(right);
    detail->setContentsMargins(12, 9, 12, 9);
    auto* head = new QHBoxLayout;
    set_role(place_, "note");
    head->addWidget(name_);
    head->addWidget(place_, 1);
    detail->addLayout(head);
    detail->addWidget(value_);
    detail->addWidget(raw_);
    detail->addSpacing(8);
    formula_head_->setText(tr("Formula"));
    inputs_head_->setText(tr("Inputs"));
    detail->addWidget(formula_head_);
    detail->addWidget(formula_);
    detail->addSpacing(8);
    detail->addWidget(inputs_head_);
    input_rows_->setContentsMargins(0, 0, 0, 0);
    input_rows_->setHorizontalSpacing(14);
    input_rows_->setVerticalSpacing(7);
    auto* scroll = new QScrollArea;
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    auto* holder = new QWidget;
    set_role(holder, "panel");
    auto* holder_column = new QVBoxLayout(holder);
    holder_column->setContentsMargins(0, 0, 4, 0);
    holder_column->addWidget(inputs_);
    holder_column->addStretch(1);
    scroll->setWidget(holder);
    detail->addWidget(scroll, 1);
    // In two rows: beside each other they would leave the ledger of a small window no room for names.
    auto* buttons = new QGridLayout;
    buttons->addWidget(copy_text_, 0, 0);
    buttons->addWidget(copy_json_, 0, 1);
    buttons->addWidget(to_chart_, 1, 0, 1, 2, Qt::AlignLeft);
    buttons->setColumnStretch(2, 1);
    detail->addLayout(buttons);
    row->addWidget(right, 2);

    tree_->viewport()->installEventFilter(this);
    connect(tree_, &QTreeView::expanded, this, &ExplainPage::fit_columns);
    connect(field_, &QLineEdit::textChanged, this, [this](const QString& words) {
        filter_->set_words(words);
        const QSignalBlocker quiet(tree_);  // columns are fitted once
        if (words.isEmpty())
            tree_->expandToDepth(0);
        else
            tree_->expandAll();
        fit_columns();
    });
    connect(tree_->selectionModel(), &QItemSelectionModel::currentChanged, this,
            [this](const QModelIndex& now) {
                if (now.isValid()) show_item(filter_->mapToSource(now));
                Q_EMIT results_changed();
            });
    const auto selected = [this] { return model_->item(filter_->mapToSource(tree_->currentIndex())); };
    connect(copy_text_, &QPushButton::clicked, this, [selected] {
        QGuiApplication::clipboard()->setText(text_of(view::ledger_text(*selected(), false)));
    });
    connect(copy_json_, &QPushButton::clicked, this,
            [selected] { QGuiApplication::clipboard()->setText(text_of(view::ledger_json(*selected()))); });
    connect(to_chart_, &QPushButton::clicked, this, [this] { Q_EMIT show_page("explore"); });
}

QString ExplainPage::selected_path() const {
    const QModelIndex at = tree_->currentIndex();
    return at.isValid() ? at.siblingAtColumn(0).data(LedgerModel::path_role).toString() : QString();
}

QString ExplainPage::command() const {
    // "memwall plan MODEL --option ..." -> "memwall explain MODEL --option ... ITEM" gives the same line in a
    // terminal.
    QString line = session().command();
    line.replace(QStringLiteral("memwall plan "), QStringLiteral("memwall explain "));
    const QString path = selected_path();
    if (path.isEmpty()) return line;
    const QString item = path.section('/', -1);
    const qsizetype model_end = line.indexOf(QStringLiteral(" --"));
    return model_end < 0 ? line + ' ' + item : line.left(model_end) + ' ' + item + line.mid(model_end);
}

void ExplainPage::refresh() {
    if (shown_ == session().shared_plan()) return;
    const bool first = !shown_;
    shown_ = session().shared_plan();
    const QString path = selected_path();
    // What the user has opened stays open.
    QStringList open;
    const auto note_open = [&](const auto& self, const QModelIndex& parent) -> void {
        for (int i = 0; i < filter_->rowCount(parent); ++i) {
            const QModelIndex at = filter_->index(i, 0, parent);
            if (!tree_->isExpanded(at)) continue;
            open << at.data(LedgerModel::path_role).toString();
            self(self, at);
        }
    };
    note_open(note_open, {});
    model_->set_ledger(session().ledger());
    if (first) {
        tree_->expandToDepth(0);
        if (const QModelIndex kv = model_->find("memory/kv_cache"); kv.isValid())
            tree_->expand(filter_->mapFromSource(kv));
        tree_->header()->setStretchLastSection(true);
    }
    for (const QString& p : open)
        if (const QModelIndex at = model_->find(p); at.isValid())
            tree_->setExpanded(filter_->mapFromSource(at), true);
    QModelIndex at = path.isEmpty() ? QModelIndex() : model_->find(path);
    if (!at.isValid()) at = model_->find("memory/kv_cache");
    if (!at.isValid()) at = model_->index(0, 0);
    tree_->setCurrentIndex(filter_->mapFromSource(at));
    fit_columns();
}

/// Numbers are never cut, and names have what they need; what the numbers rest on takes the rest, for the
/// detail beside says it in full.
void ExplainPage::fit_columns() {
    const QAbstractItemView& view = *tree_;  // where the hint is public
    const int all = tree_->viewport()->width(), least = tree_->fontMetrics().horizontalAdvance('0') * 10;
    int rest = all;
    for (const int column : {LedgerModel::value_column, LedgerModel::interval_column}) {
        const int width = std::max(view.sizeHintForColumn(column) + 6, least);
        tree_->header()->resizeSection(column, width);
        rest -= width;
    }
    tree_->header()->resizeSection(
        LedgerModel::item_column,
        std::clamp(view.sizeHintForColumn(LedgerModel::item_column) + 10, least, std::max(least, rest)));
}

bool ExplainPage::eventFilter(QObject* watched, QEvent* event) {
    if (watched == tree_->viewport() && event->type() == QEvent::Resize && shown_) fit_columns();
    return Page::eventFilter(watched, event);
}

void ExplainPage::select_item(const QString& item) {
    refresh();
    field_->clear();
    const QModelIndex source = model_->find(item);
    if (!source.isValid()) return;
    const QModelIndex at = filter_->mapFromSource(source);
    for (QModelIndex up = at.parent(); up.isValid(); up = up.parent()) tree_->expand(up);
    tree_->expand(at);
    tree_->setCurrentIndex(at);
    tree_->scrollTo(at, QAbstractItemView::PositionAtCenter);
}

void ExplainPage::show_item(const QModelIndex& source) {
    const LedgerItem& item = *model_->item(source);
    const QModelIndex index = source.siblingAtColumn(0);
    name_->setText(item_words(item.name));
    QStringList above;
    for (QModelIndex up = index.parent(); up.isValid(); up = up.parent()) above.prepend(up.data().toString());
    place_->set_text(above.join(QStringLiteral(" › ")));
    value_->setText(ledger_value(item));
    value_->setProperty("quantity", index.data(LedgerModel::quantity_role));
    value_->setProperty("raw", item.value.central);
    QString exact;
    if (item.unit == Unit::bytes) exact = tr("%1 bytes").arg(shown_count(std::llround(item.value.central)));
    const QString range = ledger_range(item);
    QStringList words;
    if (!exact.isEmpty()) words << exact;
    if (item.value.is_exact())
        words << range;  // "exact", or what it rests on instead of an interval
    else
        words << tr("%1, holds in %2 of 100 cases").arg(range).arg(std::lround(item.value.level * 100));
    if (!stated_exact(item)) words << tr("basis: %1").arg(in_words(item.value.basis));
    raw_->setText(words.join(QStringLiteral(" · ")));
    const QString formula = item.formula.empty() && !item.children.empty() ? tr("sum of the lines below it")
                                                                           : text_of(item.formula);
    formula_->setText(formula);
    formula_head_->setVisible(!formula.isEmpty());
    formula_->setVisible(!formula.isEmpty());
    while (QLayoutItem* old = input_rows_->takeAt(0)) {
        delete old->widget();
        delete old;
    }
    inputs_head_->setVisible(!item.inputs.empty() || !item.children.empty());
    inputs_head_->setText(item.inputs.empty() ? tr("Parts") : tr("Inputs"));
    int row = 0;
    if (item.inputs.empty())
        for (const LedgerItem& child : item.children) {
            QLabel* name = label("", true);
            name->setText(item_words(child.name));
            QLabel* value = label("");
            value->setText(ledger_value(child));
            QLabel* ends = label("note", true);
            ends->setText(ledger_range(child));
            input_rows_->addWidget(name, row, 0, Qt::AlignTop);
            input_rows_->addWidget(value, row, 1, Qt::AlignTop);
            input_rows_->addWidget(ends, row, 2, Qt::AlignTop);
            ++row;
        }
    for (const LedgerInput& in : item.inputs) {
        QLabel* name = label("", true);
        name->setText(item_words(in.name));
        QLabel* value = label("", true);
        value->setText(shown(in.value));
        QLabel* from = label("note", true);
        from->setText(text_of(in.source));
        input_rows_->addWidget(name, row, 0, Qt::AlignTop);
        input_rows_->addWidget(value, row, 1, Qt::AlignTop);
        input_rows_->addWidget(from, row, 2, Qt::AlignTop);
        ++row;
    }
    input_rows_->setColumnStretch(0, 3);
    input_rows_->setColumnStretch(1, 3);
    input_rows_->setColumnStretch(2, 4);
}

bool ExplainPage::export_as(const QString& path, QString* why) {
    if (!path.endsWith(".csv", Qt::CaseInsensitive)) return export_picture(*this, path, why);
    // A tree has no rows of its own: one line an item with its path.
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly)) {
        *why = path + ": " + file.errorString();
        return false;
    }
    const auto quoted = [](QString text) {
        return text.contains(',') || text.contains('"') || text.contains('\n')
                   ? '"' + text.replace('"', "\"\"") + '"'
                   : text;
    };
    QString out = QStringLiteral("item,low,central,high,basis,formula\n");
    const auto write = [&](const auto& self, const QModelIndex& parent) -> void {
        for (int i = 0; i < model_->rowCount(parent); ++i) {
            const QModelIndex at = model_->index(i, 0, parent);
            const LedgerItem& item = *model_->item(at);
            QStringList cells{at.data(LedgerModel::path_role).toString(),
                              QString::number(item.value.low, 'g', 17),
                              QString::number(item.value.central, 'g', 17),
                              QString::number(item.value.high, 'g', 17),
                              text_of(item.value.basis),
                              text_of(item.formula)};
            for (QString& cell : cells) cell = quoted(cell);
            out += cells.join(',') + '\n';
            self(self, at);
        }
    };
    write(write, {});
    file.write(out.toUtf8());
    return true;
}

std::vector<FindEntry> ExplainPage::find_entries() {
    std::vector<FindEntry> entries;
    if (!session().planned_once()) return entries;
    const auto add = [&](const auto& self, const LedgerItem& item, const QString& above,
                         const QString& path) -> void {
        for (const LedgerItem& child : item.children) {
            const QString words = above + item_words(child.name);
            const QString at = path + text_of(child.name);
            entries.push_back({words, tr("ledger") + QStringLiteral(" · ") + ledger_value(child),
                               [this, at] { Q_EMIT open_ledger(at); }});
            self(self, child, words + QStringLiteral(" › "), at + '/');
        }
    };
    add(add, session().ledger(), {}, {});
    return entries;
}

void ExplainPage::changeEvent(QEvent* event) {
    if (event->type() == QEvent::PaletteChange) tree_->viewport()->update();
    Page::changeEvent(event);
}

Page* make_explain_page(Session& session) {
    return new ExplainPage(session);
}

}  // namespace memwall::gui
