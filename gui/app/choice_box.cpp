// SPDX-License-Identifier: GPL-3.0-only
#include "gui/app/choice_box.h"

#include <QFrame>
#include <QGuiApplication>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QPainter>
#include <QScreen>
#include <QStyleOptionButton>
#include <QStylePainter>
#include <QStyledItemDelegate>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>

#include "gui/theme/theme.h"

namespace memwall::gui {
namespace {

constexpr int kWidth = 540, kRows = 14;

/// Impossible rows grey, what does not fit in the colour of a warning, the current one bold.
class ChoiceDelegate : public QStyledItemDelegate {
  public:
    using QStyledItemDelegate::QStyledItemDelegate;
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
        QStyledItemDelegate::initStyleOption(option, index);
        const bool possible = index.data(ChoicesModel::possible_role).toBool();
        const QString verdict = index.siblingAtColumn(ChoicesModel::verdict_column).data().toString();
        QColor color = theme().text;
        if (!possible || index.column() == ChoicesModel::about_column || verdict == QStringLiteral("…"))
            color = theme().second;
        else if (index.column() == ChoicesModel::verdict_column)
            color = index.data(ChoicesModel::fits_role).toBool() ? theme().good : theme().bad;
        for (const QPalette::ColorRole role : {QPalette::Text, QPalette::HighlightedText})
            option->palette.setColor(role, color);
    }
};

}  // namespace

ChoiceBox::ChoiceBox(const QString& option, QWidget* parent)
    : QPushButton(parent),
      option_(option),
      model_(new ChoicesModel(this)),
      proxy_(new ChoicesFilter(this)),
      popup_(new QFrame(this, Qt::Popup)),
      filter_(new QLineEdit),
      table_(new QTableView),
      reason_(new QLabel) {
    set_role(this, "choice");
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);  // a button would take its hint for a minimum
    proxy_->setSourceModel(model_);
    set_role(popup_, "card");
    auto* column = new QVBoxLayout(popup_);
    column->setContentsMargins(8, 8, 8, 8);
    column->setSpacing(6);
    filter_->setPlaceholderText(tr("Type to filter"));
    filter_->setAccessibleName(tr("Filter"));
    filter_->installEventFilter(this);
    column->addWidget(filter_);
    table_->setModel(proxy_);
    table_->setItemDelegate(new ChoiceDelegate(table_));
    table_->setSelectionBehavior(QAbstractItemView::SelectRows);
    table_->setSelectionMode(QAbstractItemView::SingleSelection);
    table_->setEditTriggers(QAbstractItemView::NoEditTriggers);
    table_->setShowGrid(false);
    table_->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    table_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    table_->verticalHeader()->hide();
    table_->horizontalHeader()->setHighlightSections(false);
    table_->setFocusPolicy(Qt::NoFocus);
    table_->setMouseTracking(true);
    column->addWidget(table_, 1);
    set_role(reason_, "note");
    reason_->setWordWrap(true);
    reason_->hide();
    column->addWidget(reason_);
    popup_->installEventFilter(this);

    connect(this, &QPushButton::clicked, this, &ChoiceBox::open);
    connect(filter_, &QLineEdit::textChanged, this, [this](const QString& words) {
        proxy_->set_words(words);
        if (proxy_->rowCount() > 0) table_->selectRow(0);
    });
    connect(table_, &QTableView::clicked, this, &ChoiceBox::choose);
    connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this, &ChoiceBox::show_reason);
}

QWidget* ChoiceBox::popup() const {
    return popup_;
}

void ChoiceBox::set_value(const QString& shown) {
    if (shown == shown_) return;
    shown_ = shown;
    setAccessibleDescription(shown);
    setToolTip(shown);
    update();
}

void ChoiceBox::set_invalid(bool invalid) {
    if (property("invalid").toBool() == invalid) return;
    setProperty("invalid", invalid);
    restyle(this);
}

QSize ChoiceBox::sizeHint() const {
    return {fontMetrics().averageCharWidth() * 18, fontMetrics().height() + 10};
}

QSize ChoiceBox::minimumSizeHint() const {
    return {fontMetrics().averageCharWidth() * 7, fontMetrics().height() + 10};
}

void ChoiceBox::paintEvent(QPaintEvent*) {
    QStylePainter painter(this);
    QStyleOptionButton option;
    initStyleOption(&option);
    option.text.clear();
    painter.drawControl(QStyle::CE_PushButtonBevel, option);
    const QRect inner = rect().adjusted(9, 0, -8, 0);
    painter.setPen(isEnabled() ? theme().text : theme().second);
    const QRect text = inner.adjusted(0, 0, -14, 0);
    painter.drawText(text, Qt::AlignVCenter | Qt::AlignLeft,
                     fontMetrics().elidedText(shown_, Qt::ElideMiddle, text.width()));
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(theme().second, 1.5));
    const QPointF tip(inner.right() - 4, height() / 2.0 + 2);
    painter.drawPolyline(QPolygonF{tip + QPointF(-4, -4), tip, tip + QPointF(4, -4)});
}

void ChoiceBox::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Down || event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) {
        open();
        return;
    }
    QPushButton::keyPressEvent(event);
}

void ChoiceBox::open() {
    filter_->clear();
    proxy_->set_words({});
    Q_EMIT opening();
    const int row = model_->current_row();
    // Wide enough for the columns, inside the screen, below the field or above it.
    auto* header = table_->horizontalHeader();
    header->setSectionResizeMode(QHeaderView::Fixed);
    header->setStretchLastSection(false);
    const QFontMetrics fm(type(Type::control));
    const int number = fm.horizontalAdvance(QStringLiteral("+000.00 GiB")) + 14;
    const int widths[] = {0,
                          std::max(fm.horizontalAdvance(QStringLiteral("000.0 GB/s")), 0) + 14,
                          fm.horizontalAdvance(ChoicesModel::tr("cannot apply")) + 16,
                          number,
                          fm.horizontalAdvance(QStringLiteral("+0000.0")) + 14,
                          fm.horizontalAdvance(ChoicesModel::tr("Tokens kept")) + 14};
    const bool about = std::any_of(model_->rows().begin(), model_->rows().end(), [this](const Choice& c) {
        return !c.about.isEmpty() || option_ == "model";
    });
    table_->setColumnHidden(ChoicesModel::about_column, !about);
    int rest = kWidth - 16;
    for (int c = 1; c < ChoicesModel::columns; ++c) {
        header->resizeSection(c, widths[c]);
        if (c != ChoicesModel::about_column || about) rest -= widths[c];
    }
    header->resizeSection(0, std::max(rest - 12, fm.averageCharWidth() * 16));
    const int row_height = fm.height() + 7;
    table_->verticalHeader()->setDefaultSectionSize(row_height);
    const int shown = std::clamp(model_->rowCount(), 1, kRows);
    const QSize size(std::max(kWidth, kWidth - rest + fm.averageCharWidth() * 16 + 24),
                     shown * row_height + header->sizeHint().height() + filter_->sizeHint().height() + 34);
    const QRect room = screen()->availableGeometry();
    QPoint at = mapToGlobal(QPoint(0, height() + 2));
    at.setX(std::max(room.left(), std::min(at.x(), room.right() - size.width())));
    if (at.y() + size.height() > room.bottom())
        at.setY(std::max(room.top(), mapToGlobal(QPoint(0, -size.height() - 2)).y()));
    popup_->setGeometry(QRect(at, size));
    popup_->show();
    filter_->setFocus(Qt::PopupFocusReason);
    if (row >= 0) {
        table_->selectRow(row);
        table_->scrollTo(proxy_->mapFromSource(model_->index(row, 0)), QAbstractItemView::PositionAtCenter);
    }
}

void ChoiceBox::show_reason(const QModelIndex& index) {
    const QString reason = index.data(ChoicesModel::reason_role).toString();
    reason_->setText(reason);
    reason_->setVisible(!reason.isEmpty());
}

void ChoiceBox::choose(const QModelIndex& index) {
    if (!index.isValid()) return;
    if (!index.data(ChoicesModel::possible_role).toBool()) {
        show_reason(index);
        return;
    }
    const QString value = index.data(ChoicesModel::value_role).toString();
    popup_->hide();
    Q_EMIT chosen(value);
}

bool ChoiceBox::eventFilter(QObject* object, QEvent* event) {
    if (object == popup_ && event->type() == QEvent::Hide) Q_EMIT closed();
    if (object == filter_ && event->type() == QEvent::KeyPress) {
        auto* key = static_cast<QKeyEvent*>(event);
        switch (key->key()) {
            case Qt::Key_Down:
            case Qt::Key_Up:
            case Qt::Key_PageDown:
            case Qt::Key_PageUp: {
                const int step = key->key() == Qt::Key_Down       ? 1
                                 : key->key() == Qt::Key_Up       ? -1
                                 : key->key() == Qt::Key_PageDown ? 10
                                                                  : -10;
                const int last = proxy_->rowCount() - 1;
                if (last >= 0) {
                    const QModelIndex now = table_->currentIndex();
                    table_->selectRow(std::clamp((now.isValid() ? now.row() : -1) + step, 0, last));
                }
                return true;
            }
            case Qt::Key_Return:
            case Qt::Key_Enter:
                if (proxy_->rowCount() == 0 && !filter_->text().trimmed().isEmpty()) {
                    const QString typed =
                        filter_->text().trimmed();  // not listed: the plan says whether it exists
                    popup_->hide();
                    Q_EMIT chosen(typed);
                } else {
                    choose(table_->currentIndex());
                }
                return true;
            case Qt::Key_Escape:
                popup_->hide();
                return true;
        }
    }
    return QPushButton::eventFilter(object, event);
}

}  // namespace memwall::gui
