// SPDX-License-Identifier: GPL-3.0-only
#include "gui/app/simulate_page.h"

#include <QCheckBox>
#include <QComboBox>
#include <QEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QGridLayout>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QProgressBar>
#include <QPushButton>
#include <QRegularExpressionValidator>
#include <QScrollArea>
#include <QSpinBox>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "core/base/size_text.h"
#include "core/view/quantity_text.h"
#include "gui/app/card.h"
#include "gui/app/side_column.h"
#include "gui/charts/export.h"
#include "gui/charts/plot.h"
#include "gui/model/numbers.h"
#include "gui/theme/theme.h"

namespace memwall::gui {
namespace {

constexpr std::size_t kPoints = 240;  // of each curve: a repaint stays within a frame

QString seconds_words(double s) {
    return shown(seconds_text(Seconds(s)));
}

}  // namespace

SimulatePage::SimulatePage(Session& session, QWidget* parent)
    : Page(session, parent),
      metrics_(new MetricsModel(simulation_, this)),
      memory_(new Plot(tr("Memory over time"), tr("GiB"))),
      heat_(new Plot(tr("Temperature"), QStringLiteral("°C"))),
      latency_(new Plot(tr("Time to first token"), tr("requests"))),
      battery_(new Plot(tr("Battery"), QStringLiteral("%"))),
      metrics_card_(new Card(tr("Metrics"), tr("point at one for its definition"))),
      metrics_table_(new QTableView) {
    auto* grid = new QGridLayout(this);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setSpacing(8);
    grid->addWidget(memory_, 0, 0, 1, 3);
    grid->addWidget(metrics_card_, 0, 3, 2, 1);
    grid->addWidget(heat_, 1, 0);
    grid->addWidget(latency_, 1, 1);
    grid->addWidget(battery_, 1, 2);
    grid->setRowStretch(0, 10);
    grid->setRowStretch(1, 8);
    for (const int c : {0, 1, 2}) grid->setColumnStretch(c, 25);
    grid->setColumnStretch(3, 25);
    for (QWidget* w :
         {static_cast<QWidget*>(memory_), static_cast<QWidget*>(heat_), static_cast<QWidget*>(latency_),
          static_cast<QWidget*>(battery_), static_cast<QWidget*>(metrics_card_)}) {
        w->setMinimumSize(150, 140);
        w->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Ignored);
    }
    metrics_table_->setModel(metrics_);
    metrics_table_->setShowGrid(false);
    metrics_table_->setAlternatingRowColors(true);
    metrics_table_->setSelectionBehavior(QAbstractItemView::SelectRows);
    metrics_table_->verticalHeader()->hide();
    metrics_table_->verticalHeader()->setMinimumSectionSize(10);
    metrics_table_->verticalHeader()->setDefaultSectionSize(QFontMetrics(type(Type::control)).height() + 6);
    metrics_table_->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    metrics_table_->horizontalHeader()->setSectionResizeMode(0, QHeaderView::Stretch);
    metrics_table_->horizontalHeader()->setSectionResizeMode(1, QHeaderView::ResizeToContents);
    metrics_table_->setAccessibleName(tr("Metrics"));
    metrics_card_->set_content(metrics_table_);
    for (Plot* plot : {memory_, heat_, latency_, battery_}) plot->set_placeholder(tr("Press Run."));
    for (Plot* plot : {memory_, heat_, battery_})
        connect(plot, &Plot::cursor_moved, this, [this](double seconds) { set_time(seconds); });
    build_panel();
    connect(&simulation_, &Simulation::finished, this, [this] {
        points_ = thinned(simulation_.result().timeline, kPoints);
        time_ = simulation_.result().peak_seconds;
        progress_note_->setText(simulation_.result().interrupted
                                    ? tr("Stopped: the numbers are those of the time simulated until then.")
                                    : tr("simulated in %1 ms").arg(std::lround(simulation_.milliseconds())));
        draw();
        Q_EMIT results_changed();
    });
    connect(&simulation_, &Simulation::failed, this, [this](const QString& why) {
        progress_note_->setText(why);
        Q_EMIT message(why);
    });
    connect(&simulation_.worker(), &Worker::busy_changed, this, &SimulatePage::show_busy);
    connect(&simulation_.worker(), &Worker::progressed, this, [this](double share) {
        progress_->setRange(0, 1000);
        progress_->setValue(static_cast<int>(1000 * share));
    });
}

void SimulatePage::build_panel() {
    panel_ = new QScrollArea;
    QVBoxLayout* column = make_side_column(*panel_);
    const auto label = [&](const QString& text, const char* role, QWidget* buddy = nullptr) {
        return add_side_text(*column, text, role, buddy);
    };
    scenario_ = new QComboBox;
    scenario_->addItems(Simulation::presets());
    scenario_->setCurrentText(QStringLiteral("phone-day"));
    scenario_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    label(tr("S&cenario"), "name", scenario_);
    column->addWidget(scenario_);
    about_ = label({}, "note");
    open_ = new QPushButton(tr("Open a scenario &file…"));
    column->addWidget(open_);
    own_ = new QCheckBox(tr("&Deployed as in the scenario"));
    own_->setChecked(true);
    column->addWidget(own_);
    deployment_note_ = label({}, "note");
    seed_ = new QLineEdit;
    seed_->setPlaceholderText(tr("the scenario's"));
    seed_->setValidator(
        new QRegularExpressionValidator(QRegularExpression(QStringLiteral("[0-9]{0,18}")), seed_));
    label(tr("Random &seed"), "name", seed_);
    column->addWidget(seed_);
    replications_ = new QSpinBox;
    replications_->setRange(0, 1000);
    replications_->setButtonSymbols(QAbstractSpinBox::NoButtons);
    replications_->setSpecialValueText(tr("the scenario's"));
    label(tr("&Replications"), "name", replications_);
    column->addWidget(replications_);
    label(tr("several give intervals; they run on all cores"), "note");
    run_ = new QPushButton(tr("R&un"));
    set_role(run_, "primary");
    column->addWidget(run_);
    progress_ = new QProgressBar;
    progress_->setAccessibleName(tr("Simulation"));
    progress_->hide();
    column->addWidget(progress_);
    progress_note_ = label({}, "note");
    column->addWidget(side_line());
    events_ = new QListWidget;
    label(tr("&Events"), "title", events_);
    events_->setFrameShape(QFrame::NoFrame);
    events_->setWordWrap(true);
    events_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    events_->setAccessibleName(tr("Events"));
    events_->setMinimumHeight(120);
    column->addWidget(events_, 1);

    const auto changed = [this] {
        refresh();
        Q_EMIT results_changed();
    };
    connect(scenario_, &QComboBox::currentTextChanged, this, [this, changed] {
        changed();
        if (asked_) start();
    });
    connect(own_, &QCheckBox::toggled, this, changed);
    connect(seed_, &QLineEdit::textChanged, this, changed);
    connect(replications_, &QSpinBox::valueChanged, this, changed);
    connect(open_, &QPushButton::clicked, this, &SimulatePage::choose_file);
    connect(run_, &QPushButton::clicked, this, [this] {
        if (simulation_.running())
            simulation_.stop();
        else
            start();
    });
    connect(events_, &QListWidget::currentRowChanged, this, [this](int row) {
        if (row >= 0 && static_cast<std::size_t>(row) < simulation_.events().size())
            set_time(simulation_.events()[static_cast<std::size_t>(row)].seconds);
    });
}

QWidget* SimulatePage::side_panel() {
    return panel_;
}

SimulationChoice SimulatePage::choice() const {
    SimulationChoice c;
    c.scenario = scenario_->currentText();
    c.own_deployment = own_->isChecked();
    c.deployment = session().deployment();
    c.seed = seed_->text().isEmpty() ? -1 : seed_->text().toLongLong();
    c.replications = replications_->value();
    return c;
}

void SimulatePage::refresh() {
    about_->setText(Simulation::about(scenario_->currentText()));
    const plan::Deployment& d = session().deployment();
    deployment_note_->setText(own_->isChecked()
                                  ? tr("Untick to simulate what the window shows instead.")
                                  : QStringLiteral("%1 · %2").arg(text_of(d.model), text_of(d.device)));
    // The first look shows a run, not a button.
    if (!asked_) {
        asked_ = true;
        start();
    }
}

void SimulatePage::choose_file() {
    auto* dialog = new QFileDialog(this, tr("Open a scenario"), {}, tr("Scenarios (*.yaml *.yml)"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& path) {
        if (scenario_->findText(path) < 0) scenario_->addItem(path);
        scenario_->setCurrentText(path);
    });
    dialog->open();
}

void SimulatePage::start() {
    simulation_.start(choice());
}

void SimulatePage::show_busy(bool busy) {
    progress_->setRange(0, 0);  // until the first of several runs is done
    progress_->setVisible(busy);
    run_->setText(busy ? tr("&Stop") : tr("R&un"));
    if (busy) progress_note_->setText(tr("simulating…"));
}

void SimulatePage::changeEvent(QEvent* event) {
    if (event->type() == QEvent::PaletteChange && simulation_.ready()) draw();
    Page::changeEvent(event);
}

// ---------------------------------------------------------------- frame

std::vector<ResultCell> SimulatePage::results() const {
    if (!simulation_.ready()) return {};
    const sim::RunResult& r = simulation_.result();
    const sim::AppResult all = r.all();
    std::vector<ResultCell> cells;
    const auto cell = [&](const QString& caption, const QString& value, const QString& note, double raw,
                          const char* tone = "") {
        ResultCell c;
        c.caption = caption;
        c.value = value;
        c.note = note;
        c.raw = raw;
        c.tone = QLatin1String(tone);
        cells.push_back(c);
    };
    const auto text = [this](const char* name, sim::MetricUnit unit) {
        const sim::Estimate e = simulation_.metric(name);
        return e.half > 0 ? shown(metric_text(e.mean, unit)) + QStringLiteral(" ± ") +
                                shown(metric_text(e.half, unit))
                          : shown(metric_text(e.mean, unit));
    };
    const double p95 = simulation_.metric("ttft_p95").mean;
    const double asked = simulation_.setup().scenario.objectives.ttft_p95;
    cell(tr("First token, p95"), seconds_words(p95),
         asked > 0
             ? tr("%1 asked · p50 %2").arg(seconds_words(asked), text("ttft_p50", sim::MetricUnit::seconds))
             : tr("p50 %1").arg(text("ttft_p50", sim::MetricUnit::seconds)),
         p95, asked > 0 ? (p95 <= asked ? "good" : "bad") : "");
    cell(tr("Requests"), shown_count(all.arrived),
         tr("%1 refused · %2 unfinished").arg(shown_count(all.refused), shown_count(all.unfinished)),
         static_cast<double>(all.arrived));
    cell(tr("Peak memory"), shown(bytes_text(Bytes(r.peak.ours()))),
         tr("at %1").arg(simulation_.clock(r.peak_seconds)) +
             (r.peak_owner.empty() ? QString() : QStringLiteral(" · ") + text_of(r.peak_owner)),
         static_cast<double>(r.peak.ours()));
    if (r.thermal)
        cell(tr("Hottest"), QString::number(r.hottest, 'f', 1) + QStringLiteral(" °C"),
             r.throttled_seconds > 0 ? tr("slower for %1").arg(seconds_words(r.throttled_seconds))
                                     : tr("never slowed"),
             r.hottest, r.throttled_seconds > 0 ? "warning" : "");
    else
        cell(tr("Loads"), shown_count(r.loads), tr("%1 in total").arg(seconds_words(r.loading_seconds)),
             static_cast<double>(r.loads));
    if (r.battery || r.joules > 0)
        cell(tr("Energy"),
             text("joules", sim::MetricUnit::joules).isEmpty()
                 ? QString()
                 : shown(view::number_text(r.joules / 3600)) + QStringLiteral(" Wh"),
             r.battery ? tr("battery at the end %1 %").arg(std::lround(100 * r.battery_end))
                       : tr("from the wall"),
             r.joules);
    else
        cell(tr("Busy"), text("utilization", sim::MetricUnit::share), tr("of the time"), r.busy_seconds);
    return cells;
}

bool SimulatePage::export_as(const QString& path, QString* why) {
    if (!path.endsWith(QStringLiteral(".csv"), Qt::CaseInsensitive)) return export_picture(*this, path, why);
    return export_table(*memory_->table(), path, why);
}

Page* make_simulate_page(Session& session) {
    return new SimulatePage(session);
}

}  // namespace memwall::gui
