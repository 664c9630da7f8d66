#include "gui/model/simulation.h"

#include <QElapsedTimer>
#include <algorithm>
#include <cmath>

#include "core/base/size_text.h"
#include "core/plan/options.h"
#include "core/view/quantity_text.h"
#include "gui/model/numbers.h"
#include "gui/model/vocabulary.h"
#include "sim/event/clock.h"

namespace memwall::gui {
namespace {

constexpr int kTimeColumns = 2;

sim::Scenario scenario_of(const SimulationChoice& choice) {
    sim::Scenario s = sim::open_scenario(choice.scenario.toStdString());
    if (!choice.own_deployment) {
        // How it is deployed comes from the window, how it is used from the scenario.
        const plan::Deployment& d = choice.deployment;
        s.deployment.model = d.model;
        s.deployment.device = d.device;
        s.deployment.processor = d.processor;
        s.deployment.quant = d.quant;
        s.deployment.kv_k = d.kv_k;
        s.deployment.kv_v = d.kv_v;
        s.deployment.runtime = d.runtime;
        if (d.context > 0) s.deployment.context = d.context;
    }
    if (choice.seed >= 0) s.seed = static_cast<std::uint64_t>(choice.seed);
    if (choice.replications > 0) s.replications = choice.replications;
    return s;
}

}  // namespace

std::vector<sim::TimelinePoint> thinned(const std::vector<sim::TimelinePoint>& timeline, std::size_t most) {
    if (timeline.size() <= most) return timeline;
    std::vector<sim::TimelinePoint> out;
    for (std::size_t k = 0; k < most; ++k) {
        const std::size_t from = k * timeline.size() / most, to = (k + 1) * timeline.size() / most;
        sim::TimelinePoint p = *std::max_element(
            timeline.begin() + static_cast<std::ptrdiff_t>(from),
            timeline.begin() + static_cast<std::ptrdiff_t>(to),
            [](const auto& a, const auto& b) { return a.memory.total() < b.memory.total(); });
        // The stretch ends where its last point does; the hottest and slowest of it are shown.
        p.seconds = timeline[to - 1].seconds;
        p.battery = timeline[to - 1].battery;
        for (std::size_t i = from; i < to; ++i) {
            p.temperature = std::max(p.temperature, timeline[i].temperature);
            p.speed = std::min(p.speed, timeline[i].speed);
        }
        out.push_back(p);
    }
    return out;
}

Bars bars_of(const sim::Histogram& h, std::size_t most) {
    Bars b;
    if (h.count() == 0) return b;
    // From the first percentile to the largest, in steps of half an octave or wider.
    const double first = std::max(h.quantile(0.005), 1e-3), last = std::max(h.largest() * 1.0001, first * 2);
    const double octaves = std::log2(last / first);
    const double step = std::max(0.5, octaves / static_cast<double>(most));
    const double begin = std::exp2(std::floor(std::log2(first) / step) * step);
    b.bounds.push_back(begin);
    std::int64_t below = h.at_most(begin);
    while (b.bounds.back() < last && b.counts.size() < 4 * most) {
        b.bounds.push_back(b.bounds.back() * std::exp2(step));
        const std::int64_t n = h.at_most(b.bounds.back());
        b.counts.push_back(n - below + (b.counts.empty() ? below : 0));  // the few below the first bound too
        below = n;
    }
    return b;
}

Simulation::Simulation(QObject* parent) : QObject(parent) {
    connect(&worker_, &Worker::failed, this, &Simulation::failed);
}

Simulation::~Simulation() {
    stop();
}

QStringList Simulation::presets() {
    QStringList names;
    for (const EmbeddedFile& f : sim::scenario_presets())
        names << text_of(sim::read_scenario(std::string(f.text()), std::string(f.path)).name);
    return names;
}

QString Simulation::about(const QString& scenario) {
    try {
        return text_of(sim::open_scenario(scenario.toStdString()).about);
    } catch (const std::exception& e) {
        return text_of(e.what());
    }
}

void Simulation::start(const SimulationChoice& choice) {
    stop();
    stop_ = std::make_shared<std::atomic<bool>>(false);
    struct Answer {
        std::shared_ptr<const sim::Setup> setup;
        std::shared_ptr<const std::vector<sim::RunResult>> runs;
        double milliseconds = 0;
    };
    worker_.submit(
        [choice, stop = stop_](const JobControl& control) {
            QElapsedTimer timer;
            timer.start();
            Answer a;
            const sim::Scenario scenario = scenario_of(choice);
            a.setup = std::make_shared<const sim::Setup>(sim::prepare(scenario));
            sim::RunOptions options;
            options.seed = scenario.seed;
            options.slices = true;
            options.stop = stop.get();
            a.runs = std::make_shared<const std::vector<sim::RunResult>>(sim::replicate(
                *a.setup, scenario.replications, options, [&](std::size_t done, std::size_t all) {
                    control.progress(static_cast<double>(done) / static_cast<double>(all));
                }));
            a.milliseconds = static_cast<double>(timer.nsecsElapsed()) / 1e6;
            return a;
        },
        [this](Answer a) {
            if (a.runs->empty()) return;
            setup_ = a.setup;
            runs_ = a.runs;
            result_ = &runs_->front();
            milliseconds_ = a.milliseconds;
            find_events();
            Q_EMIT finished();
        });
}

void Simulation::stop() {
    if (stop_) *stop_ = true;
}

void Simulation::find_events() {
    events_.clear();
    const sim::RunResult& r = *result_;
    for (const sim::TraceSlice& s : r.slices)
        if (s.what == "load")
            events_.push_back(
                {SimulationEvent::load, sim::seconds_of(s.from), sim::seconds_of(s.to - s.from), {}});
    const sim::TimelinePoint* before = nullptr;
    SimulationEvent* hot = nullptr;
    for (const sim::TimelinePoint& p : r.timeline) {
        if (before && before->memory.weights > 0 && p.memory.weights == 0)
            events_.push_back({SimulationEvent::unload, p.seconds, 0, {}}), hot = nullptr;
        if (p.speed < 1) {
            if (!before || before->speed >= 1) {
                events_.push_back({SimulationEvent::throttle, p.seconds, p.speed, {}});
                hot = &events_.back();
            } else if (hot) {
                hot->value = std::min(hot->value, p.speed);
            }
        }
        before = &p;
    }
    if (r.peak.ours() > 0)
        events_.push_back({SimulationEvent::peak, r.peak_seconds, static_cast<double>(r.peak.ours()),
                           text_of(r.peak_owner)});
    if (r.off_seconds > 0)
        for (const sim::TimelinePoint& p : r.timeline)
            if (p.battery <= setup_->scenario.battery.cut_off) {
                events_.push_back({SimulationEvent::battery_off, p.seconds, r.off_seconds, {}});
                break;
            }
    std::stable_sort(events_.begin(), events_.end(),
                     [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
}

QString Simulation::clock(double seconds) const {
    const double hour = std::fmod(setup_->scenario.start_hour + seconds / 3600, 24);
    // Short scenarios count from their start, long ones by the clock.
    const int minutes = static_cast<int>(std::lround(hour * 60)) % (24 * 60);
    if (setup_->scenario.seconds < 3600) {
        const auto s = static_cast<int>(std::lround(seconds));
        return QStringLiteral("%1:%2").arg(s / 60).arg(s % 60, 2, 10, QChar(u'0'));
    }
    return QStringLiteral("%1:%2")
        .arg(minutes / 60, 2, 10, QChar(u'0'))
        .arg(minutes % 60, 2, 10, QChar(u'0'));
}

sim::Estimate Simulation::metric(const char* name) const {
    const sim::Metric* m = sim::find_metric(name);
    if (m == nullptr) return {};
    std::vector<double> values;
    for (const sim::RunResult& r : *runs_) values.push_back(m->value(r, r.all()));
    return sim::estimate(values);
}

QString Simulation::command(const SimulationChoice& choice) {
    QString line = QStringLiteral("memwall simulate ") + choice.scenario;
    if (!choice.own_deployment) {
        const plan::Deployment& d = choice.deployment;
        const auto add = [&](const char* option, const std::string& value) {
            if (!value.empty()) line += QStringLiteral(" --%1 %2").arg(QLatin1String(option), text_of(value));
        };
        add("model", d.model);
        add("device", d.device);
        add("processor", d.processor);
        add("quant", d.quant);
        add("kv-k", d.kv_k);
        add("kv-v", d.kv_v);
        add("runtime", d.runtime == plan::Deployment{}.runtime ? "" : d.runtime);
        add("context", d.context > 0 ? std::to_string(d.context) : "");
    }
    if (choice.seed >= 0) line += QStringLiteral(" --seed %1").arg(choice.seed);
    if (choice.replications > 0) line += QStringLiteral(" --replications %1").arg(choice.replications);
    return line;
}

// ---------------------------------------------------------------- metrics

QString metric_text(double value, sim::MetricUnit unit) {
    switch (unit) {
        case sim::MetricUnit::count:
        case sim::MetricUnit::tokens:
            return value == std::floor(value) ? text_of(count_text(std::llround(value)))
                                              : text_of(view::number_text(value));
        case sim::MetricUnit::seconds:
            return value < 0 ? QStringLiteral("–") : text_of(seconds_text(Seconds(value)));
        case sim::MetricUnit::per_second:
            return text_of(view::number_text(value)) + QStringLiteral("/s");
        case sim::MetricUnit::share:
            return QString::number(100 * value, 'f', 1) + QStringLiteral(" %");
        case sim::MetricUnit::bytes:
            return text_of(bytes_text(Bytes(std::llround(value))));
        case sim::MetricUnit::joules:
            return text_of(view::number_text(value)) + QStringLiteral(" J");
        case sim::MetricUnit::celsius:
            return QString::number(value, 'f', 1) + QStringLiteral(" °C");
    }
    return {};
}

MetricsModel::MetricsModel(Simulation& simulation, QObject* parent)
    : QAbstractTableModel(parent), simulation_(simulation) {
    connect(&simulation, &Simulation::finished, this, &MetricsModel::reset);
}

void MetricsModel::reset() {
    beginResetModel();
    rows_.clear();
    for (const sim::Metric& m : sim::metrics())
        if (!m.applies || m.applies(simulation_.result()))
            rows_.push_back({&m, simulation_.metric(std::string(m.name).c_str())});
    endResetModel();
}

int MetricsModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
}

int MetricsModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : kTimeColumns;
}

QVariant MetricsModel::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) return {};
    const Row& row = rows_[static_cast<std::size_t>(index.row())];
    if (role == Qt::ToolTipRole) return text_of(row.metric->definition);
    if (role == Qt::UserRole) return index.column() == 1 ? QVariant(row.estimate.mean) : QVariant();
    if (role != Qt::DisplayRole) return {};
    if (index.column() == 0) {
        std::string name(row.metric->name);
        std::replace(name.begin(), name.end(), '_', ' ');
        return in_words(name);
    }
    const QString value = shown(metric_text(row.estimate.mean, row.metric->unit));
    return row.estimate.half > 0
               ? value + QStringLiteral(" ± ") + shown(metric_text(row.estimate.half, row.metric->unit))
               : value;
}

QVariant MetricsModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (role != Qt::DisplayRole || orientation != Qt::Horizontal) return {};
    return section == 0 ? tr("Metric") : tr("Value");
}

}  // namespace memwall::gui
