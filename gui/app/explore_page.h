// SPDX-License-Identifier: GPL-3.0-only
// Memory, speed and what bounds them, moving together as the context is dragged.
#pragma once

#include "gui/app/page.h"
#include "gui/model/curves.h"

namespace memwall::gui {

class Card;
class MemoryBar;
class Plot;

class ExplorePage : public Page {
    Q_OBJECT
  public:
    explicit ExplorePage(Session& session, QWidget* parent = nullptr);
    QString title() const override { return tr("Explore"); }
    void refresh() override;
    bool export_as(const QString& path, QString* why) override;
    void select_item(const QString& item) override;

    Plot* memory_plot() const { return memory_; }
    Plot* decode_plot() const { return decode_; }
    Plot* prompt_plot() const { return prompt_; }
    Plot* roofline_plot() const { return roofline_; }
    MemoryBar* bar() const { return bar_; }

  protected:
    void changeEvent(QEvent* event) override;

  private:
    void draw_memory(const devices::Planned& p, const Curves& c);
    void draw_decode(const devices::Planned& p, const Curves& c);
    void draw_prompt(const devices::Planned& p, const Curves& c);
    void draw_roofline(const devices::Planned& p, const Curves& c);
    void drag(const QString& option, double value, bool finished);

    CurveSampler sampler_;
    Card* bar_card_;
    MemoryBar* bar_;
    Plot *memory_, *decode_, *prompt_, *roofline_;
    std::vector<QString> decode_items_, prefill_items_;  // ledger items of the dots
    bool dragging_ = false;
};

}  // namespace memwall::gui
