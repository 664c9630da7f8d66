// SPDX-License-Identifier: GPL-3.0-only
// The charts of the Triangle page and its card.
#include <QLabel>
#include <algorithm>
#include <cmath>

#include "core/base/size_text.h"
#include "core/quality/words.h"
#include "core/view/quantity_text.h"
#include "gui/app/card.h"
#include "gui/app/limits_panel.h"
#include "gui/app/triangle_page.h"
#include "gui/charts/balance_triangle.h"
#include "gui/charts/plot.h"
#include "gui/model/numbers.h"
#include "gui/theme/theme.h"

namespace memwall::gui {
namespace {

QString seconds_tick(double s) {
    if (s < 0.9995) return QString::number(std::lround(s * 1000)) + QStringLiteral(" ms");
    return tick_text(s) + QStringLiteral(" s");
}

/// Corners: latency left, memory right, quality on top.
Shares shares_of(const plan::Merits& m) {
    return {m.balance[0], m.balance[1], m.balance[2]};
}

struct Ends {
    double low = 1e300, high = -1e300;
    void take(double v) {
        if (!std::isfinite(v)) return;
        low = std::min(low, v);
        high = std::max(high, v);
    }
    bool any() const { return high >= low; }
};

}  // namespace

void TrianglePage::draw_axes() {
    Ends memory, job, quality, decode;
    for (std::size_t i = 0; i < triangle_.size(); ++i) {
        if (!triangle_.drawable(i)) continue;
        memory.take(triangle_.gibibytes(i));
        job.take(triangle_.job_seconds(i));
        quality.take(triangle_.quality_percent(i));
        if (triangle_.candidate(i).timed) decode.take(triangle_.candidate(i).decode.central.value);
    }
    const bool across = triangle_.scope() == Scope::catalogue;
    if (!memory.any()) {
        for (Plot* plot : {job_memory_, quality_memory_, quality_job_})
            plot->set_placeholder(tr("No configuration of this model can be planned on this device."));
        return;
    }
    for (Plot* plot : {job_memory_, quality_memory_, quality_job_}) plot->set_placeholder({});
    if (!job.any()) job = {1, 10};
    if (!quality.any()) quality = {0, 100};
    // Room for the rings of what has no score.
    const double span = std::max(quality.high - quality.low, 1.0);
    const Axis memory_axis{tr("memory, GiB"),
                           memory.low / 1.12,
                           memory.high * 1.12,
                           Scale::logarithmic,
                           memory.high / memory.low > 6 ? Ticks::doubling : Ticks::decimal,
                           tick_text,
                           {}};
    const Axis job_axis{tr("job time, s"),
                        job.low / 1.12,
                        job.high * 1.12,
                        Scale::logarithmic,
                        Ticks::decimal,
                        seconds_tick,
                        {}};
    const Axis quality_axis{
        across ? text_of(quality::lane_name(triangle_.lane())) : tr("tokens kept, %"),
        quality.low - 0.09 * span,
        across ? quality.high + 0.07 * span : std::min(100.0, quality.high + 0.07 * span),
        Scale::linear,
        Ticks::decimal,
        [across](double v) { return tick_text(v) + (across ? QString() : QStringLiteral(" %")); },
        {}};
    job_memory_->set_axes(memory_axis, job_axis);
    quality_memory_->set_axes(memory_axis, quality_axis);
    quality_job_->set_axes(job_axis, quality_axis);
    quality_memory_->set_title(across ? quality_axis.name : tr("Tokens kept"), tr("against memory, GiB"));
    quality_job_->set_title(across ? quality_axis.name : tr("Tokens kept"), tr("against job time"));
    const auto& d = session().deployment();
    const devices::Planned& p = session().planned();
    Q_UNUSED(d)
    job_memory_->set_title(
        tr("Job time"),
        tr("%1 + %2 tokens, against GiB").arg(shown_count(p.knobs.prompt), shown_count(p.knobs.generate)));
    panel_->set_range("max-memory", memory_axis.low, memory_axis.high, true);
    panel_->set_range("max-job", job_axis.low, job_axis.high, true);
    panel_->set_range("min-quality", across ? 50 : quality_axis.low, 100, false);
    panel_->set_range("min-score", std::max(quality_axis.low, 0.0), quality_axis.high, false);
    if (decode.any()) panel_->set_range("min-decode", decode.low / 1.1, decode.high * 1.1, true);
}

void TrianglePage::draw() {
    if (!triangle_.ready()) return;
    groups_ = {{"excluded", {}}, {"dominated", {}}, {"front", {}}};
    for (std::size_t i = 0; i < triangle_.size(); ++i)
        if (triangle_.drawable(i))
            groups_[!triangle_.admitted(i) ? 0 : triangle_.on_front(i) ? 2 : 1].members.push_back(i);

    const Theme& t = theme();
    QColor ring = t.second;
    ring.setAlphaF(t.dark ? 0.30F : 0.26F);
    QColor dim = t.second;
    dim.setAlphaF(0.70F);
    const QString names[] = {tr("excluded"), tr("admitted"), tr("front")};
    const double floor_of_quality = quality_memory_->y_axis().low;
    const auto fill = [&](Plot* plot, auto x, auto y) {
        for (std::size_t g = 0; g < groups_.size(); ++g) {
            Dots dots;
            dots.key = groups_[g].key;
            dots.name = names[g];
            dots.order = static_cast<int>(g);
            dots.shape = g == 0 ? Shape::ring : Shape::disc;
            dots.radius = g == 0 ? (triangle_.size() > 1000 ? 2.2 : 2.8) : g == 1 ? 2.6 : 3.8;
            dots.color = g == 0 ? ring : g == 1 ? dim : t.accent;
            if (g == 2) dots.outline = t.card;
            for (const std::size_t i : groups_[g].members) dots.points.push_back({x(i), y(i)});
            plot->draw(dots);
        }
    };
    const auto memory = [&](std::size_t i) { return triangle_.gibibytes(i); };
    // What is unknown stands at the edge of the plot, not nowhere.
    const auto job = [&](std::size_t i) {
        const double s = triangle_.job_seconds(i);
        return std::isfinite(s) ? s : job_memory_->y_axis().high;
    };
    const auto quality = [&](std::size_t i) {
        const double q = triangle_.quality_percent(i);
        return std::isfinite(q) ? q : floor_of_quality;
    };
    fill(job_memory_, memory, job);
    fill(quality_memory_, memory, quality);
    fill(quality_job_, job, quality);
    draw_front(job_memory_, memory, job, false);
    draw_front(quality_memory_, memory, quality, true);
    draw_front(quality_job_, job, quality, true);

    std::vector<ShareDots> shares;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
        ShareDots dots{groups_[g].key,
                       {},
                       g == 0   ? ring
                       : g == 1 ? dim
                                : t.accent,
                       g == 0   ? (triangle_.size() > 1000 ? 2.2 : 2.8)
                       : g == 1 ? 2.6
                                : 4,
                       g == 0 ? Shape::ring : Shape::disc,
                       g == 2 ? t.card : QColor()};
        for (const std::size_t i : groups_[g].members) dots.points.push_back(shares_of(triangle_.merits(i)));
        shares.push_back(std::move(dots));
    }
    const bool across = triangle_.scope() == Scope::catalogue;
    balance_->set_corners({{{tr("Latency"), tr("job done soon")},
                            {tr("Memory"), tr("small footprint")},
                            {tr("Quality"), across ? tr("best score") : tr("closest to the original")}}});
    balance_->set_dots(std::move(shares));
    balance_->set_remark(triangle_.agreeing());
    draw_limits();
    draw_marks();
    draw_card();
    panel_->refresh();
    Q_EMIT results_changed();
}

/// What of the front is best in the two goals of a plot, as the steps that no admitted point lies beyond.
template <class X, class Y>
void TrianglePage::draw_front(Plot* plot, X x, Y y, bool higher_is_better) {
    std::vector<Point> points;
    for (const std::uint32_t i : triangle_.front()) points.push_back({x(i), y(i)});
    std::sort(points.begin(), points.end(), [&](const Point& a, const Point& b) {
        return a.x != b.x ? a.x < b.x : higher_is_better ? a.y > b.y : a.y < b.y;
    });
    Line line{"steps", {}, {}, theme().accent, 1.1};
    for (const Point& p : points) {
        if (!line.points.empty()) {
            const double last = line.points.back().y;
            if (higher_is_better ? p.y <= last : p.y >= last) continue;
            line.points.push_back({p.x, last});
        }
        line.points.push_back(p);
    }
    plot->draw(line);
}

void TrianglePage::draw_limits() {
    const Theme& t = theme();
    const bool across = triangle_.scope() == Scope::catalogue;
    const auto limit = [&](const QString& option, Qt::Orientation o, double value, const Axis& axis,
                           const QString& words) {
        Limit l;
        l.key = option;
        l.orientation = o;
        l.draggable = true;
        const bool set = value > 0;
        l.value = set                        ? std::clamp(value, axis.low, axis.high)
                  : option.startsWith("max") ? axis.high
                                             : axis.low;
        l.color = t.good;
        l.width = set ? 1.8 : 1;
        l.stroke = set ? Stroke::solid : Stroke::dotted;
        l.hint = set ? words : tr("%1: any").arg(words);
        return l;
    };
    const plan::Constraints& c = triangle_.limits();
    const double most = gib(c.max_memory);
    const QString option = across ? QStringLiteral("min-score") : QStringLiteral("min-quality");
    const double quality = across ? triangle_.min_score() : 100 * c.min_quality;
    const QString memory_words = tr("memory at most"), job_words = tr("job at most"),
                  quality_words = tr("quality at least");
    job_memory_->set_limits({limit("max-memory", Qt::Vertical, most, job_memory_->x_axis(), memory_words),
                             limit("max-job", Qt::Horizontal, c.max_job, job_memory_->y_axis(), job_words)});
    quality_memory_->set_limits(
        {limit("max-memory", Qt::Vertical, most, quality_memory_->x_axis(), memory_words),
         limit(option, Qt::Horizontal, quality, quality_memory_->y_axis(), quality_words)});
    quality_job_->set_limits({limit("max-job", Qt::Vertical, c.max_job, quality_job_->x_axis(), job_words),
                              limit(option, Qt::Horizontal, quality, quality_job_->y_axis(), quality_words)});
}

void TrianglePage::limit_moved(const QString& option, double value) {
    const Axis& axis = option == "max-memory" ? job_memory_->x_axis()
                       : option == "max-job"  ? job_memory_->y_axis()
                                              : quality_memory_->y_axis();
    const double share =
        (scaled(axis, value) - scaled(axis, axis.low)) / (scaled(axis, axis.high) - scaled(axis, axis.low));
    const bool any = option.startsWith("max") ? share > 0.995 : share < 0.005;
    triangle_.set_limit(option, any ? QString() : Triangle::limit_text(option, value));
}

void TrianglePage::draw_marks() {
    if (!triangle_.ready()) return;
    const Theme& t = theme();
    const auto place = [&](std::size_t i, auto add) {
        const double m = triangle_.gibibytes(i), j = triangle_.job_seconds(i),
                     q = triangle_.quality_percent(i);
        const double job = std::isfinite(j) ? j : job_memory_->y_axis().high;
        const double quality = std::isfinite(q) ? q : quality_memory_->y_axis().low;
        add(job_memory_, Point{m, job});
        add(quality_memory_, Point{m, quality});
        add(quality_job_, Point{job, quality});
    };
    std::map<Plot*, std::vector<Badge>> badges;
    std::vector<BalanceTriangle::Mark> marks;
    for (std::size_t k = 0; k < triangle_.pins().size(); ++k) {
        const auto i = triangle_.shown_as(triangle_.pins()[k]);
        if (!i) continue;
        const QString name(QChar(static_cast<char16_t>(u'A' + k)));
        const QColor fill = t.dark ? QColor("#FFFFFF") : t.text,
                     ink = t.dark ? QColor("#10161F") : QColor("#FFFFFF");
        place(*i, [&](Plot* plot, Point at) { badges[plot].push_back({at, name, fill, ink}); });
        marks.push_back({shares_of(triangle_.merits(*i)), name, fill, ink});
    }
    for (Plot* plot : {job_memory_, quality_memory_, quality_job_}) {
        plot->set_badges(badges[plot]);
        plot->remove("wanted");
        plot->remove("ring");
    }
    balance_->set_badges(std::move(marks));
    const auto mark = [&](std::size_t i, const QString& key, Shape shape, double radius, const QColor& color,
                          const QColor& outline) {
        place(i, [&](Plot* plot, Point at) {
            Dots dots;
            dots.key = key;
            dots.points = {at};
            dots.shape = shape;
            dots.radius = radius;
            dots.color = color;
            dots.outline = outline;
            dots.hoverable = false;
            dots.order = 10;
            plot->draw(dots);
        });
    };
    balance_->set_wanted({triangle_.wanted()[0], triangle_.wanted()[1], triangle_.wanted()[2]});
    if (const auto i = triangle_.nearest()) {
        mark(*i, "wanted", Shape::diamond, 6.5, t.warning, t.card);
        balance_->set_chosen(shares_of(triangle_.merits(*i)), triangle_.label(*i));
    } else {
        balance_->set_chosen({}, {});
    }
    if (pointed_) {
        mark(*pointed_, "ring", Shape::ring, 7.5, t.text, QColor());
        balance_->set_ring(shares_of(triangle_.merits(*pointed_)), true);
    } else {
        balance_->set_ring({}, false);
    }
}

void TrianglePage::draw_card() {
    std::optional<std::size_t> i;
    if (triangle_.ready()) i = current();
    card_->set_title(pointed_ ? tr("Under the pointer") : tr("Nearest plan"));
    if (!i) {
        card_name_->setText(triangle_.ready() ? tr("Nothing is admitted") : QString());
        card_about_->setText(triangle_.ready() ? tr("Move a limit: lines and sliders show what they exclude.")
                                               : QString());
        card_numbers_->clear();
        card_hint_->clear();
        return;
    }
    const plan::Candidate& c = triangle_.candidate(*i);
    const plan::Deployment d = triangle_.deployment(*i);
    card_name_->setText(triangle_.model(*i));
    QString about = triangle_.recipe(*i) + QStringLiteral(" · KV ") + triangle_.kv(*i) +
                    QStringLiteral(" · ") + tr("%1 tokens").arg(shown_count(c.context));
    if (!d.draft.empty()) about += QStringLiteral(" · ") + tr("draft %1").arg(text_of(d.draft));
    if (c.offload) about += QStringLiteral(" · ") + tr("spills to the host");
    card_about_->setText(about);
    QString rows;
    const auto row = [&](const QString& name, const QString& value, const QString& range = {}) {
        rows += QStringLiteral(
                    "<tr><td style='color:%1; padding-right:9px'>%2</td><td>%3 <span "
                    "style='color:%1'>%4</span></td></tr>")
                    .arg(theme().second.name(), name.toHtmlEscaped(), value.toHtmlEscaped(),
                         range.isEmpty() ? QString() : (QStringLiteral("(") + range.toHtmlEscaped() + u')'));
    };
    row(tr("Memory"), shown(view::text(c.footprint)), shown_range(text_of(view::range_text(c.footprint))));
    if (c.timed) {
        row(tr("Job"), shown(view::text(c.job)), shown_range(text_of(view::range_text(c.job))));
        row(tr("First token"), shown(view::text(c.first_token)));
        row(tr("Decode"), shown(view::text(c.decode)) + QStringLiteral(" tok/s"),
            shown_range(text_of(view::range_text(c.decode))));
    } else {
        row(tr("Job"), tr("unknown"));
    }
    if (const quality::Score* s = triangle_.scope() == Scope::catalogue ? triangle_.published(*i) : nullptr) {
        const quality::ScoreBand band = triangle_.band(*i);
        row(text_of(quality::lane_name(s->lane)), QString::number(s->value, 'f', 1),
            band.open         ? tr("quantized: lower, by how much is not measured")
            : band.points > 0 ? tr("quantized: at most %1 lower").arg(band.points)
                              : QString());
        row(tr("Reported by"), text_of(s->reporter));
    } else if (triangle_.scope() == Scope::catalogue) {
        row(text_of(quality::lane_name(triangle_.lane())), tr("no published score"));
    }
    if (c.loss.known())
        row(tr("Tokens kept"),
            QString::number(100 * (1 - c.loss.top1_disagreement.central), 'f', 1) + QStringLiteral(" %"),
            QStringLiteral("%1–%2")
                .arg(100 * (1 - c.loss.top1_disagreement.high), 0, 'f', 1)
                .arg(100 * (1 - c.loss.top1_disagreement.low), 0, 'f', 1));
    else
        row(tr("Tokens kept"), tr("unknown"));
    card_numbers_->setText(
        QStringLiteral("<table cellspacing='0' cellpadding='0' style='font-size:%1pt'>%2</table>")
            .arg(type(Type::note).pointSizeF(), 0, 'f', 2)
            .arg(rows));
    card_numbers_->setProperty("raw_memory", c.footprint.central.as_double());
    card_numbers_->setProperty("raw_job", c.job.central.value);
    card_hint_->setText(triangle_.admitted(*i) ? tr("Enter pins it · Space opens it in Explore")
                                               : tr("Excluded · W says why not"));
    const QString words =
        tr("%1, %2, memory %3, job %4")
            .arg(triangle_.label(*i), triangle_.admitted(*i) ? tr("admitted") : tr("excluded"),
                 shown(view::text(c.footprint)), c.timed ? shown(view::text(c.job)) : tr("unknown"));
    for (Plot* plot : {job_memory_, quality_memory_, quality_job_}) plot->set_description(words);
    balance_->set_description(words);
}

}  // namespace memwall::gui
