// SPDX-License-Identifier: GPL-3.0-only
// A scenario over time: memory by class, heat, battery, first tokens, with one time cursor through all.
#pragma once

#include "gui/app/page.h"
#include "gui/model/simulation.h"

class QCheckBox;
class QComboBox;
class QLabel;
class QLineEdit;
class QListWidget;
class QProgressBar;
class QPushButton;
class QScrollArea;
class QSpinBox;
class QTableView;

namespace memwall::gui {

class Card;
class Plot;

class SimulatePage : public Page {
    Q_OBJECT
  public:
    explicit SimulatePage(Session& session, QWidget* parent = nullptr);
    QString title() const override { return tr("Simulate"); }
    void refresh() override;
    QWidget* side_panel() override;
    std::vector<ResultCell> results() const override;
    QString command() const override { return Simulation::command(choice()); }
    bool export_as(const QString& path, QString* why) override;
    bool ready() const override { return !simulation_.running(); }

    Simulation& simulation() { return simulation_; }
    SimulationChoice choice() const;
    Plot* memory_plot() const { return memory_; }
    Plot* heat_plot() const { return heat_; }
    Plot* battery_plot() const { return battery_; }
    Plot* latency_plot() const { return latency_; }
    QComboBox* scenario_box() const { return scenario_; }
    QPushButton* run_button() const { return run_; }
    QListWidget* event_list() const { return events_; }
    void set_time(double seconds);

  protected:
    void changeEvent(QEvent* event) override;

  private:
    void build_panel();
    void choose_file();
    void start();
    void draw();
    void draw_memory();
    void draw_track(Plot* plot, bool heat);
    void draw_latency();
    void draw_events();
    void show_busy(bool busy);

    Simulation simulation_;
    MetricsModel* metrics_;
    Plot *memory_, *heat_, *latency_, *battery_;
    Card* metrics_card_;
    QTableView* metrics_table_;
    QScrollArea* panel_ = nullptr;
    QComboBox* scenario_;
    QLabel *about_, *deployment_note_, *progress_note_;
    QCheckBox* own_;
    QLineEdit* seed_;
    QSpinBox* replications_;
    QPushButton *run_, *open_;
    QProgressBar* progress_;
    QListWidget* events_;
    std::vector<sim::TimelinePoint> points_;
    double time_ = 0;
    bool asked_ = false;
};

}  // namespace memwall::gui
