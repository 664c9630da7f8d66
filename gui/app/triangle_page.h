// SPDX-License-Identifier: GPL-3.0-only
// Every candidate as a point in latency, memory and quality: balance triangle and three linked plots.
#pragma once

#include "gui/app/page.h"
#include "gui/model/pinned_model.h"
#include "gui/model/triangle.h"

class QLabel;

namespace memwall::gui {

class BalanceTriangle;
class Card;
class LimitsPanel;
class PinnedTable;
class Plot;

class TrianglePage : public Page {
    Q_OBJECT
  public:
    explicit TrianglePage(Session& session, QWidget* parent = nullptr);
    QString title() const override { return tr("Triangle"); }
    void refresh() override;
    QWidget* side_panel() override;
    std::vector<ResultCell> results() const override;
    QString command() const override { return triangle_.command(); }
    bool export_as(const QString& path, QString* why) override;
    bool ready() const override { return !triangle_.worker().busy(); }
    void demonstrate() override;

    Triangle& triangle() { return triangle_; }
    LimitsPanel& limits() { return *panel_; }
    BalanceTriangle* balance() const { return balance_; }
    Plot* job_memory() const { return job_memory_; }
    Plot* quality_memory() const { return quality_memory_; }
    Plot* quality_job() const { return quality_job_; }
    PinnedModel& pinned() { return *pinned_; }
    std::optional<std::size_t> pointed() const { return pointed_; }
    void point_at(std::optional<std::size_t> candidate);

  protected:
    void changeEvent(QEvent* event) override;

  private:
    /// The dots of one look, as indices into the triangle's candidates.
    struct Group {
        QString key;
        std::vector<std::size_t> members;
    };
    void draw();  ///< all four after a search or a decision
    void draw_axes();
    template <class X, class Y>
    void draw_front(Plot* plot, X x, Y y, bool higher_is_better);
    void draw_limits();
    void draw_marks();  ///< ring, pins and the wanted one
    void draw_card();
    void limit_moved(const QString& option, double value);
    std::optional<std::size_t> member(const QString& key, int index) const;
    std::optional<std::size_t> current() const;  ///< pointed at, else nearest to the wanted balance
    void step(int direction);
    void pin(std::optional<std::size_t> candidate);
    void open(std::optional<std::size_t> candidate);
    void letter(int key);
    template <class Chart>
    void wire(Chart* chart);

    Triangle triangle_;
    PinnedModel* pinned_;
    LimitsPanel* panel_;
    BalanceTriangle* balance_;
    Plot *job_memory_, *quality_memory_, *quality_job_;
    Card *card_, *pinned_card_;
    QLabel *card_name_, *card_about_, *card_numbers_, *card_hint_;
    PinnedTable* table_;
    QLabel* no_pins_;
    std::vector<Group> groups_;
    std::optional<std::size_t> pointed_;
};

}  // namespace memwall::gui
