// SPDX-License-Identifier: GPL-3.0-only
// The charts of the Simulate page, its events and the time cursor through all.
#include <QLabel>
#include <QListWidget>
#include <algorithm>
#include <cmath>

#include "core/base/size_text.h"
#include "gui/app/simulate_page.h"
#include "gui/charts/plot.h"
#include "gui/model/numbers.h"
#include "gui/theme/theme.h"

namespace memwall::gui {
namespace {

QString seconds_words(double s) {
    return shown(seconds_text(Seconds(s)));
}

QString latency_tick(double s) {
    if (s < 0.9995) return QString::number(std::lround(s * 1000)) + QStringLiteral(" ms");
    return tick_text(s) + QStringLiteral(" s");
}

}  // namespace

void SimulatePage::draw() {
    if (!simulation_.ready() || points_.empty()) return;
    draw_memory();
    draw_track(heat_, true);
    draw_track(battery_, false);
    draw_latency();
    draw_events();
    set_time(time_);
}

void SimulatePage::draw_memory() {
    const Theme& t = theme();
    const sim::Setup& setup = simulation_.setup();
    const double ram = gib(setup.spread ? 0 : setup.scenario.pressure.ram);
    Stack stack;
    stack.stepped = true;
    Layer system{tr("system"), {}, t.dark ? t.other_apps.lighter(120) : t.other_apps.darker(112), false, {}};
    Layer others{tr("other apps"), {}, t.other_apps, true, {}};
    Layer weights{tr("weights"), {}, t.of(DataClass::weights), false, {}};
    Layer kv{tr("KV cache"), {}, t.of(DataClass::kv_cache), false, {}};
    Layer scratch{tr("compute"), {}, t.of(DataClass::compute), false, {}};
    double most = 0;
    // A point tells of the stretch that ends at it: the first begins at zero.
    const auto add = [&](double seconds, const sim::MemoryClasses& m) {
        stack.x.push_back(seconds);
        system.heights.push_back(gib(m.system));
        others.heights.push_back(gib(m.others));
        weights.heights.push_back(gib(m.weights));
        kv.heights.push_back(gib(m.kv));
        scratch.heights.push_back(gib(m.scratch));
        most = std::max(most, gib(m.total()));
    };
    double before = 0;
    for (const sim::TimelinePoint& p : points_) {
        add(before, p.memory);
        before = p.seconds;
    }
    add(before, points_.back().memory);
    const auto used = [](const Layer& l) {
        return std::any_of(l.heights.begin(), l.heights.end(), [](double h) { return h > 0; });
    };
    for (const Layer* l : {&system, &others, &weights, &kv, &scratch})
        if (used(*l)) stack.layers.push_back(*l);
    Axis x{tr("time"),
           0,
           simulation_.result().seconds,
           Scale::linear,
           Ticks::decimal,
           [this](double s) { return simulation_.clock(s); },
           {}};
    // Ticks on whole hours of the day.
    if (simulation_.result().seconds >= 3600) {
        const double hours = simulation_.result().seconds / 3600;
        const double step = hours > 12 ? 4 : hours > 6 ? 2 : hours > 2 ? 1 : 0.5;
        const double start = setup.scenario.start_hour;
        for (double h = std::ceil(start / step) * step; h <= start + hours + 1e-9; h += step)
            x.at.push_back((h - start) * 3600);
    }
    memory_->set_placeholder({});
    memory_->set_axes(
        x, {tr("memory, GiB"), 0, std::max(most, ram) * 1.12, Scale::linear, Ticks::decimal, tick_text, {}});
    memory_->draw(stack);
    std::vector<Limit> limits;
    if (ram > 0) {
        Limit l{"ram",  Qt::Horizontal,
                ram,    tr("RAM %1").arg(shown(bytes_text(Bytes(setup.scenario.pressure.ram)))),
                t.text, 2};
        limits.push_back(l);
    }
    memory_->set_limits(std::move(limits));
    const sim::RunResult& r = simulation_.result();
    memory_->draw(
        Dots{"peak", {}, {{r.peak_seconds, gib(r.peak.total())}}, t.text, 4.5, {}, {}, Shape::disc, t.card});
    memory_->set_labels(
        {{{r.peak_seconds, gib(r.peak.total())},
          r.peak_owner.empty()
              ? tr("peak %1").arg(shown(bytes_text(Bytes(r.peak.ours()))))
              : tr("peak %1 by %2").arg(shown(bytes_text(Bytes(r.peak.ours()))), text_of(r.peak_owner)),
          t.text,
          Qt::AlignRight | Qt::AlignTop,
          9,
          true,
          true}});
    // Layers come and go too fast to be labelled where they are.
    QString legend =
        tr("GiB · %1 on %2")
            .arg(text_of(setup.scenario.deployment.model), text_of(setup.scenario.deployment.device))
            .toHtmlEscaped();
    for (const Layer& l : stack.layers)
        legend += QStringLiteral(" &nbsp; <span style='color:%1'>■</span>&nbsp;%2")
                      .arg(l.fill.name(), l.name.toHtmlEscaped());
    memory_->set_title(tr("Memory over time"), legend);
}

void SimulatePage::draw_track(Plot* plot, bool heat) {
    const Theme& t = theme();
    const sim::RunResult& r = simulation_.result();
    const sim::Scenario& s = simulation_.setup().scenario;
    if (heat ? !r.thermal : !r.battery) {
        plot->clear();
        plot->set_placeholder(heat ? tr("This scenario does not simulate heat.")
                                   : tr("This device runs from the wall."));
        return;
    }
    plot->set_placeholder({});
    Line line;
    line.key = "track";
    line.name = heat ? tr("temperature, °C") : tr("battery, %");
    line.color = heat ? t.of(DataClass::kv_cache) : t.good;
    line.points.push_back({0, heat ? s.thermal.start : 100 * s.battery.start});
    double low = line.points[0].y, high = low;
    for (const sim::TimelinePoint& p : points_) {
        line.points.push_back({p.seconds, heat ? p.temperature : 100 * p.battery});
        low = std::min(low, line.points.back().y);
        high = std::max(high, line.points.back().y);
    }
    Axis x = memory_->x_axis();
    std::vector<Limit> limits;
    if (heat) {
        const double from = !s.thermal.levels.empty() ? s.thermal.levels.front().enter : s.thermal.from;
        if (from < 1000) {
            high = std::max(high, from);
            Limit l{"throttle", Qt::Horizontal, from, tr("%1 °C: slower from here").arg(from), t.bad, 1.2};
            l.stroke = Stroke::dashed;
            l.label_at = 1;
            limits.push_back(l);
        }
        plot->set_axes(x, {line.name,
                           std::floor(low - 1),
                           high + (high - low) * 0.15,
                           Scale::linear,
                           Ticks::decimal,
                           tick_text,
                           {}});
    } else {
        plot->set_axes(x, {line.name, 0, 104, Scale::linear, Ticks::decimal, tick_text, {}});
    }
    plot->set_limits(std::move(limits));
    plot->draw(line);
}

void SimulatePage::draw_latency() {
    const Theme& t = theme();
    const sim::AppResult all = simulation_.result().all();
    const Bars bars = bars_of(all.ttft);
    if (bars.counts.empty()) {
        latency_->clear();
        latency_->set_placeholder(tr("No request had a first token."));
        return;
    }
    latency_->set_placeholder({});
    Stack stack;
    stack.stepped = false;
    Layer layer{tr("requests"), {}, t.of(DataClass::weights), false, {}};
    std::int64_t most = 0;
    for (std::size_t i = 0; i < bars.counts.size(); ++i) {
        // Upright sides: two points at each bound, a hair of air between two bars.
        const double a = bars.bounds[i] * std::pow(bars.bounds[i + 1] / bars.bounds[i], 0.03);
        const double b = bars.bounds[i + 1] / std::pow(bars.bounds[i + 1] / bars.bounds[i], 0.03);
        const auto n = static_cast<double>(bars.counts[i]);
        for (const auto& [x, h] : {std::pair(a, 0.0), std::pair(a, n), std::pair(b, n), std::pair(b, 0.0)}) {
            stack.x.push_back(x);
            layer.heights.push_back(h);
        }
        most = std::max(most, bars.counts[i]);
    }
    stack.layers = {layer};
    latency_->set_axes(
        {tr("seconds to the first token"),
         bars.bounds.front(),
         bars.bounds.back(),
         Scale::logarithmic,
         Ticks::decimal,
         latency_tick,
         {}},
        {tr("requests"), 0, static_cast<double>(most) * 1.25, Scale::linear, Ticks::decimal, tick_text, {}});
    latency_->draw(stack);
    const double p50 = all.ttft.quantile(0.5), p95 = all.ttft.quantile(0.95);
    Limit half{"p50", Qt::Vertical, p50, QStringLiteral("p50 ") + seconds_words(p50), t.text, 1.6};
    Limit most_of_them{"p95", Qt::Vertical, p95, QStringLiteral("p95 ") + seconds_words(p95), t.warning, 1.6};
    std::vector<Limit> limits{half, most_of_them};
    if (const double asked = simulation_.setup().scenario.objectives.ttft_p95; asked > 0) {
        Limit l{"asked", Qt::Vertical, asked, tr("asked %1").arg(seconds_words(asked)), t.good, 1.2};
        l.stroke = Stroke::dashed;
        limits.push_back(l);
    }
    latency_->set_limits(std::move(limits));
    latency_->set_title(tr("Time to first token"), tr("%1 requests").arg(shown_count(all.ttft.count())));
    latency_->set_description(
        tr("half within %1, 95 % within %2").arg(seconds_words(p50), seconds_words(p95)));
}

void SimulatePage::draw_events() {
    const Theme& t = theme();
    events_->clear();
    for (const SimulationEvent& e : simulation_.events()) {
        QString words;
        QColor color = t.text;
        switch (e.kind) {
            case SimulationEvent::load:
                words = tr("loaded in %1").arg(seconds_words(e.value));
                break;
            case SimulationEvent::unload:
                words = tr("model left memory");
                color = t.second;
                break;
            case SimulationEvent::throttle:
                words = tr("heat: down to %1 % speed").arg(std::lround(100 * e.value));
                color = t.warning;
                break;
            case SimulationEvent::peak:
                words =
                    e.owner.isEmpty()
                        ? tr("peak %1").arg(shown(bytes_text(Bytes(std::llround(e.value)))))
                        : tr("peak %1 by %2").arg(shown(bytes_text(Bytes(std::llround(e.value)))), e.owner);
                color = t.accent;
                break;
            case SimulationEvent::battery_off:
                words = tr("battery empty, off for %1").arg(seconds_words(e.value));
                color = t.bad;
                break;
        }
        auto* item =
            new QListWidgetItem(simulation_.clock(e.seconds) + QStringLiteral("  ") + words, events_);
        item->setForeground(color);
    }
}

void SimulatePage::set_time(double seconds) {
    if (!simulation_.ready() || points_.empty()) return;
    time_ = std::clamp(seconds, 0.0, simulation_.result().seconds);
    const auto at = std::lower_bound(points_.begin(), points_.end(), time_,
                                     [](const sim::TimelinePoint& p, double s) { return p.seconds < s; });
    const sim::TimelinePoint& p = at == points_.end() ? points_.back() : *at;
    std::vector<double> stops;
    for (const SimulationEvent& e : simulation_.events()) stops.push_back(e.seconds);
    const auto cursor = [&](const QString& label) {
        Cursor c;
        c.x = time_;
        c.stops = stops;
        c.label = label;
        return c;
    };
    const QString clock = simulation_.clock(time_), bytes = shown(bytes_text(Bytes(p.memory.ours())));
    memory_->set_cursor(cursor(clock + QStringLiteral(" · ") + bytes));
    memory_->set_description(tr("%1: model %2, other apps %3, %4 running")
                                 .arg(clock, bytes, shown(bytes_text(Bytes(p.memory.others))))
                                 .arg(p.running));
    const QString heat = QString::number(p.temperature, 'f', 1) + QStringLiteral(" °C");
    const QString battery = QString::number(100 * p.battery, 'f', 0) + QStringLiteral(" %");
    if (simulation_.result().thermal) {
        Cursor c = cursor(heat);
        c.grip = false;
        c.label_y = p.temperature;
        heat_->set_cursor(c);
        heat_->set_description(clock + QStringLiteral(": ") + heat);
    }
    if (simulation_.result().battery) {
        Cursor c = cursor(battery);
        c.grip = false;
        c.label_y = 100 * p.battery;
        battery_->set_cursor(c);
        battery_->set_description(clock + QStringLiteral(": ") + battery);
    }
}

}  // namespace memwall::gui
