// SPDX-License-Identifier: GPL-3.0-only
// The four charts of the page: what is drawn in them, and what their cursors say.
#include <algorithm>
#include <cmath>

#include "core/base/size_text.h"
#include "core/view/quantity_text.h"
#include "gui/app/explore_page.h"
#include "gui/app/memory_bar.h"
#include "gui/charts/plot.h"
#include "gui/model/ledger_model.h"
#include "gui/theme/theme.h"

namespace memwall::gui {
namespace {

QColor faded(QColor color, float alpha) {
    color.setAlphaF(alpha);
    return color;
}

/// Powers of two up to `last`, and `last`.
std::vector<double> context_stops(double first, double last) {
    std::vector<double> stops;
    for (double s = first; s < last; s *= 2) stops.push_back(s);
    stops.push_back(last);
    return stops;
}

QString seconds_tick(double s) {
    if (s < 0.9995) return QString::number(std::lround(s * 1000)) + QStringLiteral(" ms");
    return QString::number(s) + QStringLiteral(" s");
}

QString giga_tick(double v) {
    return tick_text(v);
}

}  // namespace

void ExplorePage::draw_memory(const devices::Planned& p, const Curves& c) {
    const Theme& t = theme();
    const plan::PoolUse& pool = p.plan.memory.pools[p.plan.memory.deciding_pool];
    const double end = static_cast<double>(c.context_end);
    double highest = gib(pool.needed.high);
    Stack stack;
    std::array<std::vector<double>, plan::kParts> heights;
    Band uncertain{"uncertain", tr("uncertain"), {}, t.text, true};
    bool any_uncertain = false;
    for (const plan::ContextPoint& at : c.context) {
        stack.x.push_back(static_cast<double>(at.context));
        for (std::size_t part = 0; part < plan::kParts; ++part) heights[part].push_back(gib(at.parts[part]));
        uncertain.points.push_back(
            {static_cast<double>(at.context), gib(at.needed.low), gib(at.needed.high)});
        any_uncertain |= at.needed.high.value - at.needed.low.value > (1 << 20);
        highest = std::max(highest, gib(at.needed.high));
    }
    for (std::size_t part = 0; part < plan::kParts; ++part) {
        if (std::all_of(heights[part].begin(), heights[part].end(), [](double h) { return h <= 0; }))
            continue;
        const auto which = static_cast<plan::Part>(part);
        stack.layers.push_back(
            {part_words(which), heights[part], t.of(data_class(which)), false, part_words(which)});
    }
    const bool limited = pool.limited;
    double top = highest;
    // The budget belongs in the picture unless the plan is far below it.
    if (limited && gib(pool.budget) < 4 * highest) top = std::max(top, gib(pool.budget) * 1.06);
    if (pool.capacity.value > 0 && gib(pool.capacity) < 1.4 * top)
        top = std::max(top, gib(pool.capacity) * 1.08);
    memory_->set_axes({tr("context, tokens"), 0, end, Scale::linear, Ticks::binary, token_text},
                      {tr("memory, GiB"), 0, top * 1.03, Scale::linear, Ticks::decimal});
    memory_->draw(stack);
    if (any_uncertain)
        memory_->draw(uncertain);
    else
        memory_->remove("uncertain");
    std::vector<Limit> limits;
    const QString budget_words = tr("budget %1").arg(shown(bytes_text(pool.budget)));
    const QString capacity_words = text_of(pool.name).toUpper() + ' ' + shown(bytes_text(pool.capacity));
    const bool both = pool.capacity.value > 0 && gib(pool.capacity) <= top * 1.03;
    // Two lines close together share one label above the upper one.
    const bool close =
        both && limited && pool.capacity >= pool.budget && gib(pool.capacity) - gib(pool.budget) < top * 0.08;
    if (both)
        limits.push_back({"capacity", Qt::Horizontal, gib(pool.capacity),
                          close ? tr("%1 of %2").arg(budget_words, capacity_words) : capacity_words,
                          close ? t.text : t.second, 1, Stroke::dashed});
    if (limited && gib(pool.budget) <= top * 1.03)
        limits.push_back({"budget", Qt::Horizontal, gib(pool.budget), close ? QString() : budget_words,
                          t.text, 2.5, Stroke::solid});
    memory_->set_limits(limits);
    const double most = static_cast<double>(p.advice.max_context_tokens);
    std::vector<Region> regions;
    std::vector<Label> labels;
    Dots dot{"largest", {}, {}, t.text, 4.5};
    dot.hoverable = false;
    if (p.advice.max_context_tokens < c.context_end && limited && !p.advice.max_context_is_trained) {
        regions.push_back(
            {most, std::numeric_limits<double>::infinity(), Qt::Horizontal, tr("does not fit"), t.bad});
        if (most > 0 && gib(pool.budget) <= top * 1.03) {
            dot.points.push_back({most, gib(pool.budget)});
            Label label{{most, gib(pool.budget)},
                        tr("largest %1").arg(shown_count(p.advice.max_context_tokens)),
                        t.text};
            label.side =
                most > end * 0.7 ? Qt::AlignLeft | Qt::AlignBottom : Qt::AlignRight | Qt::AlignBottom;
            label.bold = true;
            label.plate = true;
            labels.push_back(label);
        }
    }
    if (dot.points.empty())
        memory_->remove("largest");
    else
        memory_->draw(dot);
    memory_->set_regions(regions);
    memory_->set_labels(labels);
    Cursor cursor;
    cursor.x = static_cast<double>(p.knobs.context);
    cursor.stops = context_stops(256, end);
    cursor.label = token_text(cursor.x) + QStringLiteral(" · ") + shown(view::text(pool.needed));
    memory_->set_cursor(cursor);
    const double headroom = p.plan.memory.headroom.central.as_double();
    memory_->set_description(
        limited ? (headroom >= 0 ? tr("context %1, %2, %3 below the budget")
                                 : tr("context %1, %2, %3 above the budget"))
                      .arg(shown_count(p.knobs.context), shown(view::text(pool.needed)),
                           shown(bytes_text(Bytes(std::llround(std::abs(headroom))))))
                : tr("context %1, %2").arg(shown_count(p.knobs.context), shown(view::text(pool.needed))));
    memory_->set_hover_text([&c](double x) -> QString {
        const plan::ContextPoint* best = nullptr;
        for (const plan::ContextPoint& at : c.context)
            if (!best || std::abs(static_cast<double>(at.context) - x) <
                             std::abs(static_cast<double>(best->context) - x))
                best = &at;
        return best ? token_text(static_cast<double>(best->context)) + QStringLiteral(" · ") +
                          shown(view::text(best->needed))
                    : QString();
    });
    QVariantMap numbers{{"memory.needed_bytes.central", pool.needed.central.as_double()},
                        {"deployment.context", static_cast<double>(p.knobs.context)}};
    if (limited) numbers["memory.budget_bytes"] = p.plan.memory.budget.as_double();
    if (!labels.empty()) numbers["max_context_tokens"] = most;
    memory_->setProperty("numbers", numbers);
}

void ExplorePage::draw_decode(const devices::Planned& p, const Curves& c) {
    const Theme& t = theme();
    const plan::Speed& s = p.plan.speed;
    if (!s.decode_known || c.context.empty()) {
        decode_->clear();
        decode_->set_cursor(std::nullopt);
        decode_->set_limits({});
        decode_->set_labels({});
        decode_->set_regions({});
        decode_->set_placeholder(
            tr("No memory bandwidth or no prior is known for this processor, so no speed is given."));
        decode_->setProperty("numbers", QVariantMap());
        return;
    }
    decode_->set_placeholder({});
    decode_->set_title(tr("Decode speed against context"),
                       s.speculative ? tr("tokens/s with the draft") : tr("tokens/s, band = uncertainty"));
    const QColor color = t.of(DataClass::weights);
    const std::int64_t most = p.advice.max_context_is_trained ? c.context_end : p.advice.max_context_tokens;
    Line inside{"fits", tr("tokens/s"), {}, color, 2.2},
        beyond{"beyond", {}, {}, faded(color, 0.55F), 2.2, Stroke::dashed};
    Band band{"band", tr("uncertainty"), {}, faded(color, 0.20F)};
    double top = 0;
    for (const plan::ContextPoint& at : c.context) {
        if (!at.timed) continue;
        const double x = static_cast<double>(at.context);
        (at.context <= most || most <= 0 ? inside : beyond).points.push_back({x, at.decode.central.value});
        band.points.push_back({x, at.decode.low.value, at.decode.high.value});
        top = std::max(top, at.decode.high.value);
    }
    if (!inside.points.empty() && !beyond.points.empty())
        beyond.points.insert(beyond.points.begin(), inside.points.back());
    // Runs measured on the device with this very model and recipe.
    Dots crosses{"measured", tr("measured"), {}, t.text, 5};
    crosses.shape = Shape::cross;
    std::vector<Label> labels;
    for (const device::Measurement& m : p.target.device.measurements)
        if (m.decode_per_second > 0 && m.model == p.prepared.deployment.model &&
            m.quant == p.prepared.recipe) {
            crosses.points.push_back(
                {static_cast<double>(m.context > 0 ? m.context : 128), m.decode_per_second});
            top = std::max(top, m.decode_per_second);
        }
    if (!crosses.points.empty())
        labels.push_back({crosses.points.front(), tr("measured"), t.text, Qt::AlignRight | Qt::AlignTop});
    decode_->set_axes({tr("context, tokens"), 0, static_cast<double>(c.context_end), Scale::linear,
                       Ticks::binary, token_text},
                      {tr("tokens/s"), 0, top * 1.08});
    decode_->draw(band);
    decode_->draw(inside);
    if (beyond.points.empty())
        decode_->remove("beyond");
    else
        decode_->draw(beyond);
    if (crosses.points.empty())
        decode_->remove("measured");
    else
        decode_->draw(crosses);
    std::vector<Region> regions;
    if (most < c.context_end && p.plan.memory.pools[p.plan.memory.deciding_pool].limited)
        regions.push_back({static_cast<double>(most), std::numeric_limits<double>::infinity(), Qt::Horizontal,
                           tr("does not fit"), t.bad});
    decode_->set_regions(regions);
    decode_->set_labels(labels);
    Cursor cursor;
    cursor.x = static_cast<double>(p.knobs.context);
    cursor.stops = context_stops(256, static_cast<double>(c.context_end));
    const QString range = shown_range(text_of(view::range_text(s.decode)));
    cursor.label =
        shown(view::text(s.decode)) + (range.isEmpty() ? QString() : QStringLiteral(" (%1)").arg(range));
    cursor.label_y = s.decode.central.value;
    decode_->set_cursor(cursor);
    decode_->draw(Dots{
        "now", {}, {{cursor.x, s.decode.central.value}}, t.accent, 5, {}, {}, Shape::disc, t.card, false, 2});
    decode_->set_description(
        tr("context %1, %2 tokens/s").arg(shown_count(p.knobs.context), shown(view::text(s.decode))));
    decode_->setProperty("numbers",
                         QVariantMap{{"speed.decode_tokens_per_second.central", s.decode.central.value},
                                     {"speed.decode_tokens_per_second.low", s.decode.low.value},
                                     {"speed.decode_tokens_per_second.high", s.decode.high.value}});
}

void ExplorePage::draw_prompt(const devices::Planned& p, const Curves& c) {
    const Theme& t = theme();
    const plan::Speed& s = p.plan.speed;
    if (!s.prefill_known || c.prompt.size() < 2) {
        prompt_->clear();
        prompt_->set_cursor(std::nullopt);
        prompt_->set_placeholder(
            tr("No compute peak is known for this processor, so no time to first token is given."));
        prompt_->setProperty("numbers", QVariantMap());
        return;
    }
    prompt_->set_placeholder({});
    const QColor color = t.of(DataClass::compute);
    Line line{"time", tr("seconds"), {}, t.good, 2.2};
    Band band{"band", tr("uncertainty"), {}, faded(color, 0.30F)};
    double low = 1e30, high = 0;
    for (const plan::PromptPoint& at : c.prompt) {
        const double x = static_cast<double>(at.prompt);
        line.points.push_back({x, at.first_token.central.value});
        band.points.push_back({x, at.first_token.low.value, at.first_token.high.value});
        low = std::min(low, at.first_token.low.value);
        high = std::max(high, at.first_token.high.value);
    }
    prompt_->set_axes(
        {tr("prompt, tokens"), static_cast<double>(c.prompt.front().prompt),
         static_cast<double>(c.prompt.back().prompt), Scale::logarithmic, Ticks::doubling, token_text},
        {tr("time to first token, s"), low / 1.3, high * 1.3, Scale::logarithmic, Ticks::decimal,
         seconds_tick});
    prompt_->draw(band);
    prompt_->draw(line);
    Cursor cursor;
    cursor.x = static_cast<double>(p.knobs.prompt);
    cursor.stops = context_stops(static_cast<double>(c.prompt.front().prompt),
                                 static_cast<double>(c.prompt.back().prompt));
    cursor.label = shown_count(p.knobs.prompt) + QStringLiteral(" → ") + shown(view::text(s.first_token));
    cursor.label_y = s.first_token.central.value;
    prompt_->set_cursor(cursor);
    prompt_->draw(Dots{"now",
                       {},
                       {{cursor.x, s.first_token.central.value}},
                       t.accent,
                       5,
                       {},
                       {},
                       Shape::disc,
                       t.card,
                       false,
                       2});
    prompt_->set_description(tr("prompt of %1 tokens, first token after %2")
                                 .arg(shown_count(p.knobs.prompt), shown(view::text(s.first_token))));
    prompt_->setProperty(
        "numbers", QVariantMap{{"speed.time_to_first_token_seconds.central", s.first_token.central.value},
                               {"deployment.prompt", static_cast<double>(p.knobs.prompt)}});
}

void ExplorePage::draw_roofline(const devices::Planned& p, const Curves& c) {
    const Theme& t = theme();
    const speed::Machine& m = p.target.machine;
    if (!p.target.machine_known || c.decode.empty()) {
        roofline_->clear();
        roofline_->set_labels({});
        roofline_->set_placeholder(
            tr("No memory bandwidth is known for this processor, so there is no roof."));
        return;
    }
    roofline_->set_placeholder({});
    constexpr double kGiga = 1e9;
    double left = 1e30, right = 0, low = 1e30, high = 0;
    const auto widen = [&](const std::vector<plan::OperatorTime>& ops) {
        for (const plan::OperatorTime& o : ops) {
            if (!(o.operations > 0) || !(o.weight_bytes + o.cache_bytes > 0)) continue;
            left = std::min(left, o.intensity());
            right = std::max(right, o.intensity());
            low = std::min(low, o.operations / o.time.value);
            high = std::max(high, o.operations / o.time.value);
        }
    };
    widen(c.decode);
    widen(c.prefill);
    if (right <= 0) {
        roofline_->clear();
        return;
    }
    const double ridge = m.compute > 0 ? m.compute / m.bandwidth : right;
    left = std::min(left / 2.2, 0.5);
    right = std::max(right * 2.5, ridge * 6);
    high = std::max(high, m.compute > 0 ? m.compute : right * m.bandwidth);
    low = std::min(low / 2.5, left * m.weights_rate());
    roofline_->set_axes({tr("operations a byte"), left, right, Scale::logarithmic, Ticks::decimal, giga_tick},
                        {tr("G operations/s"), low / kGiga, high * 2.4 / kGiga, Scale::logarithmic,
                         Ticks::decimal, giga_tick});
    const auto roof = [&](const QString& key, const QString& name, double bandwidth, double peak,
                          const QColor& color, double width, Stroke stroke) {
        Line line{key, name, {}, color, width, stroke};
        const double from = std::max(left, low / bandwidth);
        line.points.push_back({from, from * bandwidth / kGiga});
        if (peak > 0 && peak / bandwidth < right) line.points.push_back({peak / bandwidth, peak / kGiga});
        line.points.push_back(
            {right, (peak > 0 ? std::min(peak, right * bandwidth) : right * bandwidth) / kGiga});
        roofline_->draw(line);
    };
    roof("roof", tr("roof"), m.bandwidth, m.compute, t.text, 2, Stroke::solid);
    roof("reachable", tr("reachable"), m.weights_rate(), m.compute > 0 ? m.compute_rate() : 0, t.second, 1.5,
         Stroke::dashed);
    std::vector<Label> labels;
    const auto dots = [&](const QString& key, const QString& name, const QString& chapter,
                          const std::vector<plan::OperatorTime>& ops, const QColor& color,
                          std::vector<QString>& items, bool prefill) {
        Dots d{key, name, {}, color, 4};
        d.outline = t.card;
        items.clear();
        double all = 0, largest = 0;
        for (const plan::OperatorTime& o : ops)
            all += o.time.value, largest = std::max(largest, o.time.value);
        for (const plan::OperatorTime& o : ops) {
            if (!(o.operations > 0) || !(o.weight_bytes + o.cache_bytes > 0)) continue;
            const double share = o.time.value / all;
            d.points.push_back({o.intensity(), o.operations / o.time.value / kGiga});
            d.radii.push_back(2.5 + 9 * std::sqrt(share));
            d.colors.push_back(o.cache_bytes > 0 ? t.of(DataClass::kv_cache) : color);
            items.push_back(QStringLiteral("speed/") + chapter + '/' + text_of(o.name));
            if (share > 0.1) {
                // The largest names the phase of its colour.
                QString words = item_words(o.name);
                if (o.time.value == largest) words = name + QStringLiteral(": ") + words;
                Label label{d.points.back(), words, t.text};
                label.gap = d.radii.back() + 4;
                label.side = prefill ? Qt::AlignLeft | Qt::AlignVCenter : Qt::AlignRight | Qt::AlignVCenter;
                label.plate = true;
                labels.push_back(label);
            }
        }
        roofline_->draw(d);
    };
    dots("decode", tr("decode"), "decode_operators", c.decode, t.of(DataClass::weights), decode_items_,
         false);
    dots("prefill", tr("prefill"), "prefill_operators", c.prefill, t.of(DataClass::compute), prefill_items_,
         true);
    if (m.compute > 0)
        labels.push_back({{right, m.compute / kGiga},
                          tr("%1 peak").arg(shown(ops_text(OpsPerSecond(m.compute)))),
                          t.text,
                          Qt::AlignLeft | Qt::AlignTop,
                          3});
    const double slope = std::max(left, low / m.bandwidth) * 1.6;
    labels.push_back({{slope, slope * m.bandwidth / kGiga},
                      shown(rate_text(BytesPerSecond(m.bandwidth))),
                      t.text,
                      Qt::AlignRight | Qt::AlignBottom,
                      6});
    labels.back().plate = true;
    roofline_->set_labels(labels);
    roofline_->set_description(tr("decode is bound by %1").arg(text_of(p.plan.speed.bound)));
}

}  // namespace memwall::gui
