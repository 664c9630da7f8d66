// SPDX-License-Identifier: GPL-3.0-only
#include "gui/charts/plot.h"

#include <QAccessible>
#include <QEvent>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPainter>
#include <QShortcut>
#include <QStackedLayout>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>

#include "gui/charts/plot_table.h"
#include "gui/charts/plot_view.h"
#include "gui/theme/theme.h"

namespace memwall::gui {

Plot::Plot(const QString& title, const QString& note, QWidget* parent)
    : QFrame(parent),
      title_label_(new QLabel(this)),
      note_label_(new QLabel(this)),
      pages_(new QStackedLayout),
      view_(new PlotView(this)),
      own_table_(new PlotTable(this)),
      table_(own_table_) {
    set_role(title_label_, "title");
    set_role(note_label_, "note");
    auto* all = new QVBoxLayout(this);
    all->setContentsMargins(12, 9, 6, 6);
    all->setSpacing(4);
    auto* head = new QHBoxLayout;
    head->setSpacing(9);
    head->addWidget(title_label_);
    head->addWidget(note_label_, 1);
    note_label_->setMinimumWidth(1);
    all->addLayout(head);
    all->addLayout(pages_, 1);
    pages_->addWidget(view_);
    setFocusProxy(view_);
    auto* toggle = new QShortcut(QKeySequence(Qt::CTRL | Qt::Key_T), this);
    toggle->setContext(Qt::WidgetWithChildrenShortcut);
    connect(toggle, &QShortcut::activated, this, [this] { show_table(!table_shown()); });
    set_title(title, note);
}

Plot::~Plot() = default;

void Plot::set_title(const QString& title, const QString& note) {
    title_ = title;
    note_ = note;
    update_title();
}

void Plot::update_title() {
    title_label_->setText(title_);
    note_label_->setToolTip(note_);
    title_label_->setVisible(!title_.isEmpty());
    note_label_->setVisible(!title_.isEmpty());
    fit_note();
    setAccessibleName(title_);
    view_->setAccessibleName(title_);
}

QString Plot::title() const {
    return title_;
}

void Plot::set_axes(const Axis& x, const Axis& y) {
    view_->set_axes(x, y);
}
const Axis& Plot::x_axis() const {
    return view_->x_;
}
const Axis& Plot::y_axis() const {
    return view_->y_;
}

void Plot::draw(const Line& line) {
    const bool fresh = !view_->lines_.contains(line.key);
    view_->lines_[line.key] = line;
    view_->touch(fresh);
}

void Plot::draw(const Band& band) {
    const bool fresh = !view_->bands_.contains(band.key);
    view_->bands_[band.key] = band;
    view_->touch(fresh);
}

void Plot::draw(const Stack& stack) {
    const bool fresh = view_->stack_.layers.size() != stack.layers.size();
    view_->stack_ = stack;
    view_->touch(fresh);
}

void Plot::draw(const Dots& dots) {
    auto& all = view_->dots_;
    const auto it = std::find_if(all.begin(), all.end(), [&](const Dots& d) { return d.key == dots.key; });
    if (it == all.end())
        all.push_back(dots);
    else
        *it = dots;
    view_->viewport()->update();
}

void Plot::remove(const QString& key) {
    const bool gone = view_->lines_.erase(key) + view_->bands_.erase(key) > 0;
    std::erase_if(view_->dots_, [&](const Dots& d) { return d.key == key; });
    view_->touch(gone);
}

void Plot::clear() {
    view_->lines_.clear();
    view_->bands_.clear();
    view_->stack_ = {};
    view_->dots_.clear();
    view_->limits_.clear();
    view_->labels_.clear();
    view_->regions_.clear();
    view_->badges_.clear();
    view_->cursor_.reset();
    view_->touch(true);
}

void Plot::set_limits(std::vector<Limit> limits) {
    view_->limits_ = std::move(limits);
    view_->viewport()->update();
}
void Plot::set_labels(std::vector<Label> labels) {
    view_->labels_ = std::move(labels);
    view_->viewport()->update();
}
void Plot::set_regions(std::vector<Region> regions) {
    view_->regions_ = std::move(regions);
    view_->viewport()->update();
}
void Plot::set_badges(std::vector<Badge> badges) {
    view_->badges_ = std::move(badges);
    view_->viewport()->update();
}
void Plot::set_cursor(std::optional<Cursor> cursor) {
    view_->cursor_ = std::move(cursor);
    view_->viewport()->update();
}
void Plot::set_hover_text(std::function<QString(double x)> text) {
    view_->hover_text_ = std::move(text);
}
const std::optional<Cursor>& Plot::cursor() const {
    return view_->cursor_;
}
const std::vector<Limit>& Plot::limits() const {
    return view_->limits_;
}

void Plot::set_description(const QString& words) {
    if (view_->accessibleDescription() == words) return;
    setAccessibleDescription(words);
    view_->setAccessibleDescription(words);
    if (QAccessible::isActive()) {
        QAccessibleEvent event(view_, QAccessible::DescriptionChanged);
        QAccessible::updateAccessibility(&event);
    }
}

QAbstractItemModel* Plot::table() const {
    if (table_ == own_table_)
        static_cast<PlotTable*>(own_table_)
            ->fill(view_->x_, view_->y_, view_->lines_, view_->bands_, view_->stack_, view_->dots_);
    return table_;
}

void Plot::set_table(QAbstractItemModel* model) {
    table_ = model != nullptr ? model : own_table_;
    if (table_view_ != nullptr) table_view_->setModel(table());
}

bool Plot::table_shown() const {
    return table_view_ != nullptr && pages_->currentWidget() == table_view_;
}

void Plot::show_table(bool on) {
    if (on && table_view_ == nullptr) {
        table_view_ = new QTableView(this);
        table_view_->verticalHeader()->hide();
        table_view_->setAlternatingRowColors(true);
        table_view_->setFrameShape(QFrame::NoFrame);
        table_view_->setAccessibleName(title_);
        pages_->addWidget(table_view_);
    }
    if (on) {
        table_view_->setModel(table());
        table_view_->resizeColumnsToContents();
    }
    pages_->setCurrentWidget(on ? static_cast<QWidget*>(table_view_) : view_);
    pages_->currentWidget()->setFocus();
}

void Plot::set_placeholder(const QString& text) {
    view_->placeholder_ = text;
    view_->viewport()->update();
}

QPointF Plot::to_pixels(Point value) const {
    view_->flush();
    return {view_->px(value.x), view_->py(value.y)};
}
Point Plot::to_values(QPointF pixels) const {
    view_->flush();
    return view_->values(pixels);
}
QRectF Plot::plot_area() const {
    view_->flush();
    return view_->area();
}
QWidget* Plot::canvas() const {
    return view_->viewport();
}
QStringList Plot::clipped_texts() const {
    return view_->clipped_;
}

void Plot::fit_note() {
    if (note_.contains(u'<')) {
        note_label_->setText(note_);
        return;
    }
    const int room = width() - 12 - 6 - title_label_->sizeHint().width() - 9;
    note_label_->setText(room > 20 ? note_label_->fontMetrics().elidedText(note_, Qt::ElideRight, room)
                                   : note_);
}

void Plot::resizeEvent(QResizeEvent* event) {
    QFrame::resizeEvent(event);
    fit_note();
}

void Plot::paintEvent(QPaintEvent*) {
    QPainter p(this);
    p.setRenderHint(QPainter::Antialiasing);
    p.setPen(QPen(theme().border, 1));
    p.setBrush(theme().card);
    p.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 7, 7);
}

void Plot::changeEvent(QEvent* event) {
    QFrame::changeEvent(event);
    if (event->type() == QEvent::FontChange || event->type() == QEvent::StyleChange ||
        event->type() == QEvent::PaletteChange)
        view_->touch(false);
}

}  // namespace memwall::gui
