// A scenario run in the worker, and what came of it as plain data: memory by class over time, events,
// temperature, battery, the distribution of first tokens, and the metrics with their definitions. All from
// sim/.
#pragma once

#include <QAbstractTableModel>
#include <QObject>
#include <QStringList>
#include <atomic>
#include <memory>
#include <vector>

#include "gui/model/worker.h"
#include "sim/run.h"
#include "sim/scenario.h"
#include "sim/setup.h"

namespace memwall::gui {

/// What a run is started with: a preset's name or a file, and what the page changes of it.
struct SimulationChoice {
    QString scenario = QStringLiteral("phone-day");
    bool own_deployment = true;   ///< the scenario's; else the session's model, recipe, KV types and device
    plan::Deployment deployment;  ///< of the session
    qint64 seed = -1;             ///< -1 = the scenario's
    int replications = 0;         ///< 0 = the scenario's
};

/// Something that happened, for the list and the chart.
struct SimulationEvent {
    enum Kind { load, unload, throttle, peak, battery_off };
    Kind kind = load;
    double seconds = 0;
    double value = 0;  ///< seconds of a load, lowest speed of a throttling, bytes of the peak
    QString owner;     ///< of the peak
};

/// At most `most` points, each the one with the largest memory of its stretch: peaks stay.
std::vector<sim::TimelinePoint> thinned(const std::vector<sim::TimelinePoint>& timeline, std::size_t most);

/// Counts of values between bounds that grow by a constant factor.
struct Bars {
    std::vector<double> bounds;  ///< one more than counts
    std::vector<std::int64_t> counts;
};
Bars bars_of(const sim::Histogram& histogram, std::size_t most = 24);

class Simulation : public QObject {
    Q_OBJECT
  public:
    explicit Simulation(QObject* parent = nullptr);
    ~Simulation() override;

    static QStringList presets();
    /// What a preset says of itself; the error's line for a file that cannot be read.
    static QString about(const QString& scenario);

    void start(const SimulationChoice& choice);
    /// Ends the run early; it still gives what it has.
    void stop();
    Worker& worker() { return worker_; }
    bool running() const { return worker_.busy(); }

    bool ready() const { return result_ != nullptr; }
    const sim::Setup& setup() const { return *setup_; }
    const sim::RunResult& result() const { return *result_; }  ///< of the first run
    const std::vector<sim::RunResult>& runs() const { return *runs_; }
    double milliseconds() const { return milliseconds_; }
    const std::vector<SimulationEvent>& events() const { return events_; }
    /// "18:21" of the day at that simulated second.
    QString clock(double seconds) const;
    /// Over all runs, with the half width of its interval when there are several.
    sim::Estimate metric(const char* name) const;

    /// "memwall simulate ..." of a choice.
    static QString command(const SimulationChoice& choice);

  Q_SIGNALS:
    void finished();
    void failed(const QString& message);

  private:
    void find_events();
    Worker worker_;
    std::shared_ptr<std::atomic<bool>> stop_;
    std::shared_ptr<const sim::Setup> setup_;
    std::shared_ptr<const std::vector<sim::RunResult>> runs_;
    const sim::RunResult* result_ = nullptr;
    double milliseconds_ = 0;
    std::vector<SimulationEvent> events_;
};

/// Every metric that applies: name, value, half width, definition as tool tip.
class MetricsModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    explicit MetricsModel(Simulation& simulation, QObject* parent = nullptr);
    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

  private:
    struct Row {
        const sim::Metric* metric;
        sim::Estimate estimate;
    };
    void reset();
    const Simulation& simulation_;
    std::vector<Row> rows_;
};

/// A metric's value as text by its unit.
QString metric_text(double value, sim::MetricUnit unit);

}  // namespace memwall::gui
