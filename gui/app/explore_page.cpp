// SPDX-License-Identifier: GPL-3.0-only
#include "gui/app/explore_page.h"

#include <QEvent>
#include <QGridLayout>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "core/base/size_text.h"
#include "core/view/quantity_text.h"
#include "gui/app/card.h"
#include "gui/app/memory_bar.h"
#include "gui/charts/export.h"
#include "gui/charts/plot.h"
#include "gui/model/ledger_model.h"
#include "gui/theme/theme.h"

namespace memwall::gui {

ExplorePage::ExplorePage(Session& session, QWidget* parent)
    : Page(session, parent),
      bar_card_(new Card(tr("Memory by class"), tr("click a segment to see where it comes from"))),
      bar_(new MemoryBar),
      memory_(new Plot(tr("Memory against context"), tr("GiB"))),
      decode_(new Plot(tr("Decode speed against context"), tr("tokens/s"))),
      prompt_(new Plot(tr("Time to first token against prompt"), tr("both axes logarithmic"))),
      roofline_(new Plot(tr("Roofline"), tr("G operations/s; dot area = share of time"))) {
    auto* grid = new QGridLayout(this);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setSpacing(8);
    bar_card_->set_content(bar_);
    grid->addWidget(bar_card_, 0, 0, 1, 2);
    grid->addWidget(memory_, 1, 0);
    grid->addWidget(decode_, 1, 1);
    grid->addWidget(prompt_, 2, 0);
    grid->addWidget(roofline_, 2, 1);
    grid->setRowStretch(1, 6);
    grid->setRowStretch(2, 5);
    for (const int column : {0, 1}) grid->setColumnStretch(column, 1);
    for (Plot* plot : {memory_, decode_, prompt_, roofline_}) {
        set_role(plot, "card");
        plot->setMinimumSize(200, 120);
        plot->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Ignored);
    }
    connect(bar_, &MemoryBar::clicked, this, &Page::open_ledger);
    for (Plot* plot : {memory_, decode_})
        connect(plot, &Plot::cursor_moved, this,
                [this](double x, bool finished) { drag("context", x, finished); });
    connect(prompt_, &Plot::cursor_moved, this,
            [this](double x, bool finished) { drag("prompt", x, finished); });
    connect(memory_, &Plot::clicked_at, this, [this](double x, double y) {
        // Which layer was hit, at the nearest sample.
        const devices::Planned& p = this->session().planned();
        const Curves& c = sampler_.of(p, true);
        const auto at =
            std::min_element(c.context.begin(), c.context.end(), [x](const auto& a, const auto& b) {
                return std::abs(static_cast<double>(a.context) - x) <
                       std::abs(static_cast<double>(b.context) - x);
            });
        if (at == c.context.end()) return;
        double sum = 0;
        for (std::size_t part = 0; part < plan::kParts; ++part) {
            sum += gib(at->parts[part]);
            if (y <= sum && at->parts[part] > 0) {
                Q_EMIT open_ledger(ledger_item_of(static_cast<plan::Part>(part)));
                return;
            }
        }
    });
    connect(roofline_, &Plot::clicked, this, [this](const QString& key, int index) {
        const auto& items = key == "prefill" ? prefill_items_ : decode_items_;
        if (index >= 0 && static_cast<std::size_t>(index) < items.size())
            Q_EMIT open_ledger(items[static_cast<std::size_t>(index)]);
    });
}

void ExplorePage::changeEvent(QEvent* event) {
    if (event->type() == QEvent::PaletteChange) {
        if (session().planned_once()) refresh();
    }
    Page::changeEvent(event);
}

void ExplorePage::drag(const QString& option, double value, bool finished) {
    dragging_ = !finished;
    std::int64_t tokens = std::llround(value);
    // Between stops a context moves in steps that engines can have.
    if (option == "context" && tokens > 256) {
        const std::int64_t grain = tokens >= 8192 ? 256 : tokens >= 1024 ? 64 : 16;
        tokens = (tokens + grain / 2) / grain * grain;
    }
    session().set_option(option, QString::number(std::max<std::int64_t>(tokens, 1)), true);
    if (finished) {
        session().finish_step();
        refresh();
    }
}

void ExplorePage::refresh() {
    const devices::Planned& p = session().planned();
    const Curves& c = sampler_.of(p, dragging_);
    bar_->set_plan(p.plan);
    draw_memory(p, c);
    draw_decode(p, c);
    draw_prompt(p, c);
    draw_roofline(p, c);
}

bool ExplorePage::export_as(const QString& path, QString* why) {
    if (path.endsWith(".csv", Qt::CaseInsensitive)) return export_table(*memory_->table(), path, why);
    return export_picture(*this, path, why);
}

void ExplorePage::select_item(const QString& item) {
    if (item.contains(QStringLiteral("decode")) || item.startsWith(QStringLiteral("speed")))
        decode_->canvas()->setFocus();
    else
        bar_->select(item);
}

Page* make_explore_page(Session& session) {
    return new ExplorePage(session);
}

}  // namespace memwall::gui
