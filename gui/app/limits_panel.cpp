// SPDX-License-Identifier: GPL-3.0-only
#include "gui/app/limits_panel.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSlider>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "gui/app/side_column.h"
#include "gui/model/numbers.h"
#include "gui/theme/theme.h"

namespace memwall::gui {
namespace {

constexpr int kSteps = 200;

/// A slider whose far end means "any": the right one for what must not be exceeded, the left one for what
/// must be reached.
bool any_is_high(const QString& option) {
    return option.startsWith("max");
}

}  // namespace

LimitsPanel::LimitsPanel(Triangle& triangle, QWidget* parent)
    : QScrollArea(parent),
      triangle_(triangle),
      scope_(new QComboBox),
      lane_(new QComboBox),
      lane_note_(new QLabel),
      facts_(new QLabel),
      why_title_(new QLabel(tr("Why not?"))),
      why_reasons_(new QLabel),
      why_change_(new QLabel),
      clear_(new QPushButton(tr("clear"))),
      show_change_(new QPushButton(tr("Show this change"))),
      move_limits_(new QPushButton(tr("Move the limits"))),
      clear_pins_(new QPushButton(tr("Unpin all"))),
      progress_(new QProgressBar) {
    QVBoxLayout* column = make_side_column(*this);

    auto* head = new QHBoxLayout;
    auto* title = new QLabel(tr("Limits"));
    set_role(title, "title");
    auto* hint = new QLabel(tr("drag here or in a chart"));
    set_role(hint, "note");
    set_role(clear_, "link");
    head->addWidget(title);
    head->addWidget(hint, 1);
    head->addWidget(clear_);
    column->addLayout(head);
    connect(clear_, &QPushButton::clicked, &triangle_, &Triangle::clear_limits);

    add_row(column, "max-memory", tr("&Memory at most"));
    add_row(column, "max-job", tr("&Job at most"));
    add_row(column, "min-decode", tr("&Decode at least"));
    add_row(column, "min-quality", tr("Tokens &kept at least"));
    add_row(column, "min-score", tr("&Score at least"));
    add_row(column, "min-context", tr("Conte&xt at least"));

    column->addSpacing(4);
    column->addWidget(side_line());
    auto* what = new QLabel(tr("&Candidates"));
    set_role(what, "title");
    what->setBuddy(scope_);
    column->addWidget(what);
    scope_->addItem(tr("Configurations of this model"));
    scope_->addItem(tr("All models that fit"));
    scope_->setAccessibleName(tr("What is compared"));
    scope_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    lane_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    for (std::size_t i = 0; i < quality::kLanes; ++i)
        lane_->addItem(text_of(quality::lane_name(static_cast<quality::Lane>(i))));
    lane_->setAccessibleName(tr("Benchmark that quality is read from"));
    column->addWidget(scope_);
    column->addWidget(lane_);
    for (QLabel* label : {lane_note_, facts_, why_reasons_, why_change_}) {
        label->setWordWrap(true);
        label->setMinimumWidth(1);
    }
    set_role(lane_note_, "note");
    set_role(facts_, "note");
    column->addWidget(lane_note_);
    column->addWidget(facts_);
    progress_->setRange(0, 1000);
    progress_->setAccessibleName(tr("Search"));
    progress_->hide();
    column->addWidget(progress_);

    column->addSpacing(4);
    column->addWidget(side_line());
    set_role(why_title_, "title");
    column->addWidget(why_title_);
    column->addWidget(why_reasons_);
    column->addWidget(why_change_);
    why_change_->setProperty("tone", "good");
    column->addWidget(show_change_);
    column->addWidget(move_limits_);
    column->addStretch(1);
    column->addWidget(clear_pins_);

    connect(scope_, &QComboBox::currentIndexChanged, this, [this](int i) {
        if (!refreshing_) triangle_.set_scope(i == 0 ? Scope::one_model : Scope::catalogue);
        refresh();
    });
    connect(lane_, &QComboBox::currentIndexChanged, this, [this](int i) {
        if (!refreshing_) triangle_.set_lane(static_cast<quality::Lane>(i));
    });
    connect(&triangle_.worker(), &Worker::busy_changed, this, [this](bool busy) {
        progress_->setValue(0);
        progress_->setVisible(busy);
    });
    connect(&triangle_.worker(), &Worker::progressed, this,
            [this](double share) { progress_->setValue(static_cast<int>(1000 * share)); });
    connect(show_change_, &QPushButton::clicked, this, [this] {
        if (!why_) return;
        if (const auto w = triangle_.why_not(*why_); w.instead) Q_EMIT shown_instead(*w.instead);
    });
    connect(move_limits_, &QPushButton::clicked, this, [this] {
        if (!why_) return;
        const auto limits = triangle_.why_not(*why_).limits;
        for (auto it = limits.cbegin(); it != limits.cend(); ++it) triangle_.set_limit(it.key(), it.value());
    });
    connect(clear_pins_, &QPushButton::clicked, &triangle_, &Triangle::clear_pins);
    show_why_not(std::nullopt);
    refresh();
}

void LimitsPanel::add_row(QVBoxLayout* column, const QString& option, const QString& name) {
    Row row;
    row.name = new QLabel(name);
    row.value = new QLabel;
    row.slider = new QSlider(Qt::Horizontal);
    row.slider->setRange(0, kSteps);
    row.slider->setAccessibleName(QString(name).remove('&'));
    row.name->setBuddy(row.slider);
    set_role(row.name, "name");
    set_role(row.value, "fact");
    auto* line = new QHBoxLayout;
    line->addWidget(row.name);
    line->addStretch(1);
    line->addWidget(row.value);
    column->addLayout(line);
    column->addWidget(row.slider);
    connect(row.slider, &QSlider::valueChanged, this, [this, option](int at) {
        if (refreshing_) return;
        const Row& r = rows_.at(option);
        QString text;
        if (option == "min-context") {
            const auto stops = triangle_.contexts();
            text = QString::number(
                stops[static_cast<std::size_t>(std::clamp<int>(at, 0, static_cast<int>(stops.size()) - 1))]);
        } else if (at != (any_is_high(option) ? kSteps : 0)) {
            const double share = at / static_cast<double>(kSteps);
            const double value =
                r.logarithmic ? r.low * std::pow(r.high / r.low, share) : r.low + share * (r.high - r.low);
            text = Triangle::limit_text(option, value);
        }
        triangle_.set_limit(option, text);
    });
    rows_[option] = row;
}

void LimitsPanel::set_range(const QString& option, double low, double high, bool logarithmic) {
    Row& r = rows_.at(option);
    r.low = low;
    r.high = std::max(high, low + 1e-9);
    r.logarithmic = logarithmic;
}

double LimitsPanel::value_of(const QString& option) const {
    const plan::Constraints& l = triangle_.limits();
    if (option == "max-memory") return gib(l.max_memory);
    if (option == "max-job") return l.max_job;
    if (option == "min-decode") return l.min_decode;
    if (option == "min-quality") return 100 * l.min_quality;
    if (option == "min-score") return triangle_.min_score();
    return 0;
}

void LimitsPanel::refresh() {
    refreshing_ = true;
    const bool across = triangle_.scope() == Scope::catalogue;
    scope_->setCurrentIndex(across ? 1 : 0);
    lane_->setCurrentIndex(static_cast<int>(triangle_.lane()));
    lane_->setVisible(across);
    lane_note_->setText(
        across ? tr("Quality is the published score of the unquantized model; quantization can only take "
                    "off it. Models without one are rings below.")
               : tr("Quality is the share of tokens that stay what the unquantized model says."));
    for (auto& [option, row] : rows_) {
        const bool applies = option != "min-score" || across;
        for (QWidget* w : {static_cast<QWidget*>(row.name), static_cast<QWidget*>(row.value),
                           static_cast<QWidget*>(row.slider)})
            w->setVisible(applies);
        const QString text = triangle_.limit(option);
        if (option == "min-context") {
            const auto stops = triangle_.contexts();
            row.slider->setRange(0, static_cast<int>(stops.size()) - 1);
            const auto at = std::lower_bound(stops.begin(), stops.end(), triangle_.limits().min_context);
            row.slider->setValue(static_cast<int>(
                std::min<std::ptrdiff_t>(at - stops.begin(), static_cast<std::ptrdiff_t>(stops.size()) - 1)));
            row.value->setText(text.isEmpty() ? tr("any") : shown_count(triangle_.limits().min_context));
            row.value->setProperty("raw", static_cast<double>(triangle_.limits().min_context));
            continue;
        }
        row.slider->setPageStep(kSteps / 10);
        row.value->setProperty("raw", value_of(option));
        if (text.isEmpty()) {
            row.value->setText(tr("any"));
            row.slider->setValue(any_is_high(option) ? kSteps : 0);
            continue;
        }
        const double value = value_of(option);
        const double share = row.logarithmic ? std::log(value / row.low) / std::log(row.high / row.low)
                                             : (value - row.low) / (row.high - row.low);
        row.slider->setValue(static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * kSteps)));
        QString words = gui::shown(text);
        if (option == "max-memory") words.replace("GiB", " GiB");
        if (option == "max-job") words.replace("s", " s");
        if (option == "min-decode") words += QStringLiteral(" tok/s");
        if (option == "min-quality") words.replace("%", " %");
        row.value->setText(words);
    }
    clear_pins_->setVisible(!triangle_.pins().empty());
    if (triangle_.ready()) {
        QStringList facts;
        if (across) facts << tr("%1 models").arg(triangle_.models());
        facts << tr("searched in %1 ms").arg(std::lround(triangle_.search_milliseconds()))
              << tr("decided in %1 ms").arg(triangle_.decide_milliseconds(), 0, 'f', 1);
        facts_->setText(facts.join(QStringLiteral(" · ")));
    }
    refreshing_ = false;
    if (why_) show_why_not(*why_ < triangle_.size() ? why_ : std::nullopt);
}

void LimitsPanel::show_why_not(std::optional<std::size_t> candidate) {
    why_ = candidate;
    for (QWidget* w : {static_cast<QWidget*>(why_change_), static_cast<QWidget*>(show_change_),
                       static_cast<QWidget*>(move_limits_)})
        w->hide();
    if (!candidate || !triangle_.ready()) {
        why_title_->setText(tr("Why not?"));
        why_reasons_->setText(tr("Point at an excluded candidate (a ring) and press W."));
        set_role(why_reasons_, "note");
        restyle(why_reasons_);
        return;
    }
    const Triangle::WhyNot w = triangle_.why_not(*candidate);
    set_role(why_reasons_, "");
    restyle(why_reasons_);
    if (w.reasons.isEmpty()) {
        why_title_->setText(tr("Admitted"));
        why_reasons_->setText(
            triangle_.on_front(*candidate)
                ? tr("%1 is on the front: nothing beats it.").arg(triangle_.label(*candidate))
                : tr("%1 is admitted; others beat it in every goal.").arg(triangle_.label(*candidate)));
        return;
    }
    why_title_->setText(tr("Why not %1?").arg(triangle_.label(*candidate)));
    why_title_->setWordWrap(true);
    why_reasons_->setText(shown(w.reasons.join(QStringLiteral("; ")) + u'.'));
    QStringList changes;
    if (w.instead) changes << tr("Smallest change that is admitted: %1").arg(w.change);
    if (!w.limit_words.isEmpty())
        changes << tr("Or as it is, with %1").arg(shown(w.limit_words.join(QStringLiteral(", "))));
    if (changes.isEmpty()) changes << tr("No change of its options or of the limits admits it.");
    why_change_->setText(changes.join(u'\n'));
    why_change_->show();
    show_change_->setVisible(w.instead.has_value());
    move_limits_->setVisible(!w.limits.isEmpty());
}

QString LimitsPanel::why_text() const {
    return why_reasons_->text() + u'\n' + (why_change_->isHidden() ? QString() : why_change_->text());
}

}  // namespace memwall::gui
