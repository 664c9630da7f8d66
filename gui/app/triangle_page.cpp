// SPDX-License-Identifier: GPL-3.0-only
#include "gui/app/triangle_page.h"

#include <QEvent>
#include <QGridLayout>
#include <QLabel>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "core/base/size_text.h"
#include "core/quality/words.h"
#include "core/view/quantity_text.h"
#include "gui/app/card.h"
#include "gui/app/limits_panel.h"
#include "gui/app/pinned_table.h"
#include "gui/charts/balance_triangle.h"
#include "gui/charts/export.h"
#include "gui/charts/plot.h"
#include "gui/model/numbers.h"
#include "gui/theme/theme.h"

namespace memwall::gui {
TrianglePage::TrianglePage(Session& session, QWidget* parent)
    : Page(session, parent),
      pinned_(new PinnedModel(triangle_, this)),
      panel_(new LimitsPanel(triangle_)),
      balance_(new BalanceTriangle(tr("Balance"), tr("where a plan is strong"))),
      job_memory_(new Plot(tr("Job time"), tr("against memory, GiB"))),
      quality_memory_(new Plot(tr("Quality"), tr("against memory, GiB"))),
      quality_job_(new Plot(tr("Quality"), tr("against job time"))),
      card_(new Card(tr("Under the pointer"))),
      pinned_card_(
          new Card(tr("Pinned"), tr("differences from A beside each number; the best in a column is bold"))),
      card_name_(new QLabel),
      card_about_(new QLabel),
      card_numbers_(new QLabel),
      card_hint_(new QLabel),
      table_(new PinnedTable(*pinned_)),
      no_pins_(new QLabel(tr("Click a point, or press Enter on it, to pin it here: up to six, A to F."))) {
    auto* grid = new QGridLayout(this);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setSpacing(8);
    grid->addWidget(balance_, 0, 0, 2, 1);
    grid->addWidget(job_memory_, 0, 1);
    grid->addWidget(card_, 0, 2);
    grid->addWidget(quality_memory_, 1, 1);
    grid->addWidget(quality_job_, 1, 2);
    grid->addWidget(pinned_card_, 2, 0, 1, 3);
    grid->setColumnStretch(0, 44);
    grid->setColumnStretch(1, 28);
    grid->setColumnStretch(2, 28);
    grid->setRowStretch(0, 1);
    grid->setRowStretch(1, 1);
    for (QWidget* w : {static_cast<QWidget*>(job_memory_), static_cast<QWidget*>(quality_memory_),
                       static_cast<QWidget*>(quality_job_), static_cast<QWidget*>(card_),
                       static_cast<QWidget*>(balance_)}) {
        w->setMinimumSize(200, 150);
        w->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Ignored);
    }

    auto* inside = new QWidget;
    auto* column = new QVBoxLayout(inside);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(3);
    set_role(card_name_, "title");
    set_role(card_about_, "note");
    set_role(card_hint_, "note");
    for (QLabel* label : {card_name_, card_about_, card_numbers_, card_hint_}) {
        label->setWordWrap(true);
        label->setMinimumWidth(1);
        column->addWidget(label);
        if (label == card_numbers_) column->addStretch(1);
    }
    card_numbers_->setTextFormat(Qt::RichText);
    card_->set_content(inside);

    auto* pins = new QWidget;
    auto* pins_column = new QVBoxLayout(pins);
    pins_column->setContentsMargins(0, 0, 0, 0);
    set_role(no_pins_, "note");
    pins_column->addWidget(no_pins_);
    pins_column->addWidget(table_);
    pinned_card_->set_content(pins);
    pinned_card_->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Maximum);

    wire(balance_);
    for (Plot* plot : {job_memory_, quality_memory_, quality_job_}) {
        wire(plot);
        plot->set_placeholder(tr("Searching…"));
        connect(plot, &Plot::limit_moved, this,
                [this](const QString& option, double value) { limit_moved(option, value); });
    }
    connect(balance_, &BalanceTriangle::wanted_moved, this, [this](const Shares& w) {
        triangle_.set_wanted({w[0], w[1], w[2]});
    });
    connect(panel_, &LimitsPanel::shown_instead, this, [this](std::size_t i) { point_at(i); });
    connect(&triangle_, &Triangle::searched, this, [this] {
        pointed_.reset();
        panel_->show_why_not(std::nullopt);
        draw_axes();
        draw();
    });
    connect(&triangle_, &Triangle::decided, this, &TrianglePage::draw);
    connect(&triangle_, &Triangle::pins_changed, this, [this] {
        panel_->refresh();
        table_->setVisible(!triangle_.pins().empty());
        no_pins_->setVisible(triangle_.pins().empty());
        table_->setFixedHeight(table_->sizeHint().height());
        draw_marks();
    });
    connect(&triangle_.worker(), &Worker::failed, this, [this](const QString& why) {
        for (Plot* plot : {job_memory_, quality_memory_, quality_job_}) plot->set_placeholder(why);
        Q_EMIT message(why);
    });
    connect(table_, &PinnedTable::unpinned, this, [this](std::size_t row) { triangle_.unpin(row); });
    connect(table_, &PinnedTable::opened, this, [this](std::size_t row) {
        if (this->session().apply(triangle_.pins()[row].deployment))
            Q_EMIT show_page(QStringLiteral("explore"));
    });
    table_->hide();
    draw_card();
}

template <class Chart>
void TrianglePage::wire(Chart* chart) {
    connect(chart, &Chart::hovered, this,
            [this](const QString& key, int index) { point_at(member(key, index)); });
    connect(chart, &Chart::clicked, this, [this](const QString& key, int index) { pin(member(key, index)); });
    connect(chart, &Chart::stepped, this, &TrianglePage::step);
    connect(chart, &Chart::activated, this, [this] { pin(current()); });
    connect(chart, &Chart::opened, this, [this] { open(current()); });
    connect(chart, &Chart::left, this, [this] { point_at(std::nullopt); });
    connect(chart, &Chart::key_pressed, this, &TrianglePage::letter);
}

void TrianglePage::refresh() {
    triangle_.search(session().deployment());
    panel_->refresh();
}

QWidget* TrianglePage::side_panel() {
    return panel_;
}

void TrianglePage::changeEvent(QEvent* event) {
    if (event->type() == QEvent::PaletteChange && triangle_.ready()) draw();
    Page::changeEvent(event);
}

// ---------------------------------------------------------------- hands

std::optional<std::size_t> TrianglePage::member(const QString& key, int index) const {
    for (const Group& g : groups_)
        if (g.key == key && index >= 0 && static_cast<std::size_t>(index) < g.members.size())
            return g.members[static_cast<std::size_t>(index)];
    return std::nullopt;
}

std::optional<std::size_t> TrianglePage::current() const {
    return pointed_ ? pointed_ : triangle_.nearest();
}

void TrianglePage::point_at(std::optional<std::size_t> candidate) {
    if (candidate == pointed_) return;
    pointed_ = candidate;
    draw_marks();
    draw_card();
}

void TrianglePage::step(int direction) {
    // Along the front in the order of job time.
    const auto& front = triangle_.front();
    if (front.empty()) return;
    const auto at = current() ? std::find(front.begin(), front.end(), *current()) : front.end();
    const auto last = static_cast<std::ptrdiff_t>(front.size()) - 1;
    const std::ptrdiff_t next =
        at == front.end() ? 0 : std::clamp<std::ptrdiff_t>(at - front.begin() + direction, 0, last);
    point_at(front[static_cast<std::size_t>(next)]);
}

void TrianglePage::pin(std::optional<std::size_t> candidate) {
    if (candidate && !triangle_.toggle_pin(*candidate))
        Q_EMIT message(tr("All six pins are in use: unpin one first."));
}

void TrianglePage::open(std::optional<std::size_t> candidate) {
    if (candidate && session().apply(triangle_.deployment(*candidate)))
        Q_EMIT show_page(QStringLiteral("explore"));
}

void TrianglePage::letter(int key) {
    if (key == Qt::Key_W) panel_->show_why_not(current());
}

// ---------------------------------------------------------------- frame

std::vector<ResultCell> TrianglePage::results() const {
    if (!triangle_.ready()) return {};
    std::vector<ResultCell> cells;
    const auto cell = [&](const QString& caption, const QString& value, const QString& note,
                          double raw) -> ResultCell& {
        ResultCell c;
        c.caption = caption;
        c.value = value;
        c.note = note;
        c.raw = raw;
        cells.push_back(c);
        return cells.back();
    };
    if (const auto i = triangle_.nearest()) {
        ResultCell& c = cell(
            tr("Nearest to the wanted balance"), triangle_.label(*i),
            shown(view::text(triangle_.candidate(*i).footprint)) + QStringLiteral(" · ") +
                (triangle_.candidate(*i).timed ? shown(view::text(triangle_.candidate(*i).job))
                                               : tr("speed unknown")) +
                QStringLiteral(" · ") + tr("context %1").arg(shown_count(triangle_.candidate(*i).context)),
            static_cast<double>(*i));
        c.tone = "warning";
        c.stretch = 2;
    } else {
        ResultCell& c = cell(tr("Nearest to the wanted balance"), tr("none"), tr("nothing is admitted"), -1);
        c.tone = "bad";
        c.stretch = 2;
    }
    const std::size_t n = triangle_.size(), a = triangle_.admitted_count(), f = triangle_.front().size();
    cell(tr("Candidates"), shown_count(static_cast<std::int64_t>(n)),
         tr("in %1 ms").arg(std::lround(triangle_.search_milliseconds())), static_cast<double>(n));
    cell(tr("Admitted"), shown_count(static_cast<std::int64_t>(a)),
         tr("%1 excluded").arg(shown_count(static_cast<std::int64_t>(n - a))), static_cast<double>(a));
    cell(tr("On the front"), shown_count(static_cast<std::int64_t>(f)), tr("nothing beats these"),
         static_cast<double>(f))
        .tone = "accent";
    const Triangle::Tightest t = triangle_.tightest();
    cell(tr("Tightest limit"), t.text.isEmpty() ? tr("none") : shown(t.text),
         t.text.isEmpty() ? tr("drag a line in a chart")
                          : tr("alone excludes %1").arg(shown_count(static_cast<std::int64_t>(t.excludes))),
         static_cast<double>(t.excludes))
        .stretch = 2;
    return cells;
}

bool TrianglePage::export_as(const QString& path, QString* why) {
    if (!path.endsWith(QStringLiteral(".csv"), Qt::CaseInsensitive)) return export_picture(*this, path, why);
    return export_table(
        triangle_.pins().empty() ? *job_memory_->table() : *static_cast<QAbstractItemModel*>(pinned_), path,
        why);
}

void TrianglePage::demonstrate() {
    // All models with limits drawn and three of the front pinned, once the search is done.
    const auto show = [this] {
        if (!triangle_.pins().empty() || triangle_.size() == 0 || triangle_.scope() != Scope::catalogue)
            return;
        triangle_.set_limit(QStringLiteral("max-job"), QStringLiteral("300s"));
        triangle_.set_limit(QStringLiteral("min-quality"), QStringLiteral("85%"));
        triangle_.set_limit(QStringLiteral("min-score"), QStringLiteral("35.0"));
        const auto front = triangle_.front();
        for (const double share : {0.95, 0.5, 0.1})
            if (!front.empty())
                triangle_.toggle_pin(
                    front[static_cast<std::size_t>(share * static_cast<double>(front.size() - 1))]);
    };
    connect(&triangle_, &Triangle::searched, this, show, Qt::SingleShotConnection);
    triangle_.set_scope(Scope::catalogue);
    show();
}

Page* make_triangle_page(Session& session) {
    return new TrianglePage(session);
}

}  // namespace memwall::gui
