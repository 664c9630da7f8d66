#include "cli/report/report_charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/report/chart.h"
#include "core/base/size_text.h"
#include "core/view/decision_view.h"
#include "core/view/quantity_text.h"

namespace memwall::cli {
namespace {

constexpr double kGiB = 1024.0 * 1024 * 1024;

std::string bytes_words(double bytes) {
    return bytes_text(Bytes(std::llround(bytes)));
}

std::string hover(const Found& f) {
    const plan::Candidate& c = f.candidate;
    return fmt::format("{}: {}, {} tokens/s, job {}, {} differs", f.label(), view::text(c.footprint),
                       c.decode_known ? view::text(c.decode) : "?",
                       c.timed ? seconds_text(c.job.central) : "?", view::kept_text(c));
}

std::string context_tick(double v) {
    const auto n = std::llround(v);
    return n >= 1024 && n % 1024 == 0 ? fmt::format("{}Ki", n / 1024) : tick_number(v);
}

std::string answer_name(const Report& r, std::size_t i) {
    std::string name;
    constexpr std::array<std::string_view, plan::kGoals> kNames{"fastest", "smallest", "best quality"};
    for (std::size_t g = 0; g < plan::kGoals; ++g)
        if (r.best[g] == static_cast<std::int64_t>(i))
            name += (name.empty() ? "" : ", ") + std::string(kNames[g]);
    return name;
}

bool chosen(const Report& r, std::size_t i) {
    return r.best[static_cast<std::size_t>(r.priority)] == static_cast<std::int64_t>(i);
}

/// Draws all admitted candidates, the front over the rest and the answers over both.
template <class Where, class Draw, class Name>
void draw_candidates(const Report& r, Where where, Draw draw, Name name) {
    const auto rank = [&](std::size_t i) {
        return !answer_name(r, i).empty() ? 2 : r.found[i].front ? 1 : 0;
    };
    for (const int layer : {0, 1, 2})
        for (std::size_t i = 0; i < r.found.size(); ++i) {
            if (r.found[i].broken != 0 || rank(i) != layer) continue;
            const auto at = where(r.found[i]);
            if (!at) continue;
            constexpr std::array<double, 3> kRadius{2.2, 3.4, 5.5};
            const char* style = layer == 0     ? "admitted"
                                : layer == 1   ? "front"
                                : chosen(r, i) ? "answer"
                                               : "other-answer";
            draw(*at, kRadius[static_cast<std::size_t>(layer)], style, hover(r.found[i]));
        }
    for (std::size_t i = 0; i < r.found.size(); ++i)
        if (const std::string n = answer_name(r, i); !n.empty())
            if (const auto at = where(r.found[i])) name(*at, n);
}

template <class X, class Y>
std::string scatter(const Report& r, const char* title, Axis x, Axis y, X x_of, Y y_of) {
    const auto where = [&](const Found& f) -> std::optional<Place> {
        const Place p{x_of(f), y_of(f)};
        return p.x > 0 && p.y > 0 ? std::optional(p) : std::nullopt;
    };
    bool any = false;
    for (const Found& f : r.found) {
        const auto p = where(f);
        if (f.broken != 0 || !p) continue;
        const auto widen = [&](Axis& a, double v) {
            a.low = any ? std::min(a.low, v) : v;
            a.high = any ? std::max(a.high, v) : v;
        };
        widen(x, p->x);
        widen(y, p->y);
        any = true;
    }
    if (!any) return "";
    for (Axis* a : {&x, &y})
        if (a->logarithmic) a->low /= 1.12, a->high *= 1.12;
    Chart chart(title,
                fmt::format("{} admitted configurations, {} on the front", r.admitted(), r.front_size()),
                std::move(x), std::move(y));
    draw_candidates(
        r, where,
        [&](Place p, double radius, const char* style, const std::string& words) {
            chart.dot(p, radius, style, words);
        },
        [&](Place p, const std::string& words) { chart.label(p, 6, words, "strong"); });
    return chart.svg();
}

double memory_of(const Found& f) {
    return f.candidate.footprint.central.as_double() / kGiB;
}
double job_of(const Found& f) {
    return f.candidate.timed ? f.candidate.job.central.value : 0;
}
double loss_of(const Found& f) {
    return f.candidate.loss.known()
               ? 100 * plan::goals(f.candidate)[static_cast<std::size_t>(plan::Goal::quality)]
               : 0;
}

const Axis kMemoryAxis{"memory, GiB", 0, 1, false, false, nullptr};
const Axis kJobAxis{"job time, seconds", 1, 2, true, false, nullptr};
const Axis kLossAxis{"tokens that differ, %", 1, 2, true, false, nullptr};

}  // namespace

std::string pool_chart(const PoolBar& pool) {
    constexpr double kWidth = 1000, kHeight = 40, kEdge = 6;
    const double most = std::max({pool.needed.high.as_double(), pool.budget, 1.0}) * 1.02;
    const auto x = [&](double bytes) { return bytes / most * kWidth; };
    Canvas canvas(kWidth, kHeight, "Memory of " + pool.name,
                  fmt::format("needs {} of {}", view::text(pool.needed), bytes_words(pool.budget)));
    double at = 0;
    for (std::size_t i = 0; i < kParts; ++i) {
        if (pool.parts[i] <= 0) continue;
        canvas.rectangle(x(at), kEdge, std::max(x(pool.parts[i]) - 1, 0.5), kHeight - 2 * kEdge,
                         fmt::format("fill-{}", kPartWords[i].style),
                         fmt::format("{}: {}", kPartWords[i].name, bytes_words(pool.parts[i])));
        at += pool.parts[i];
    }
    if (!pool.needed.is_exact())
        canvas.rectangle(x(pool.needed.low.as_double()), kEdge / 2,
                         x(pool.needed.high.as_double() - pool.needed.low.as_double()), kHeight - kEdge,
                         "uncertain", "uncertain: " + view::range_text(pool.needed));
    if (pool.budget > 0) canvas.line({{x(pool.budget), 0}, {x(pool.budget), kHeight}}, "budget");
    const std::string budget = pool.budget > 0 ? "budget " + bytes_words(pool.budget) : "no limit known";
    return fmt::format("<div class=\"bar-words\"><span>{}: needs {}</span><b>{}</b></div>",
                       escaped(pool.name), escaped(view::text(pool.needed)), escaped(budget)) +
           canvas.svg("bar");
}

std::string memory_chart(const Report& r) {
    if (r.curve.size() < 2) return "";
    double most = 0;
    for (const CurvePoint& p : r.curve) most = std::max(most, p.needed.high.as_double());
    const double last = r.curve.back().context;
    Chart chart("Memory against context",
                r.max_context > 0
                    ? fmt::format("the largest context that fits is {} tokens", count_text(r.max_context))
                    : "",
                {"context, tokens a sequence", 0, last, false, true, context_tick},
                {"needed, GiB", 0, std::max(most, r.context_budget * 1.06) / kGiB, false, false, nullptr});
    if (!r.curve_from_search)
        for (std::size_t i = 0; i < kParts; ++i) {
            std::vector<Spread> area;
            bool any = false;
            for (const CurvePoint& p : r.curve) {
                double under = 0;
                for (std::size_t k = 0; k < i; ++k) under += p.parts[k];
                area.push_back({p.context, under / kGiB, (under + p.parts[i]) / kGiB});
                any = any || p.parts[i] > 0;
            }
            if (any) chart.band(area, fmt::format("fill-{}", kPartWords[i].style));
        }
    std::vector<Spread> range;
    std::vector<Place> centre;
    for (const CurvePoint& p : r.curve) {
        range.push_back({p.context, p.needed.low.as_double() / kGiB, p.needed.high.as_double() / kGiB});
        centre.push_back({p.context, p.needed.central.as_double() / kGiB});
    }
    chart.band(range, "uncertain");
    chart.line(centre, "total");
    if (r.context_budget > 0) {
        chart.level(r.context_budget / kGiB, "budget",
                    fmt::format("budget {}", bytes_words(r.context_budget)), Anchor::start);
        if (r.max_context > 0 && static_cast<double>(r.max_context) <= last) {
            const Place at{static_cast<double>(r.max_context), r.context_budget / kGiB};
            chart.dot(at, 5, "mark",
                      fmt::format("largest context that fits: {} tokens", count_text(r.max_context)));
            chart.label(at, 7, fmt::format("{} tokens", count_text(r.max_context)), "strong");
        }
    }
    return chart.svg();
}

std::string speed_chart(const Report& r) {
    std::vector<Spread> band;
    std::vector<Place> line;
    double most = 0;
    for (const CurvePoint& p : r.curve)
        if (p.timed) {
            band.push_back({p.context, p.decode.low.value, p.decode.high.value});
            line.push_back({p.context, p.decode.central.value});
            most = std::max(most, p.decode.high.value);
        }
    if (line.size() < 2) return "";
    Chart chart("Speed against context", "decode rate with its 90 % band",
                {"context, tokens a sequence", 0, line.back().x, false, true, context_tick},
                {"tokens/s", 0, std::max(most, r.limits.min_decode * 1.1), false, false, nullptr});
    chart.band(band, "band");
    chart.line(line, "rate");
    if (r.limits.min_decode > 0)
        chart.level(r.limits.min_decode, "budget", fmt::format("asked {:.3g}", r.limits.min_decode),
                    Anchor::end);
    if (r.max_context > 0 && static_cast<double>(r.max_context) < line.back().x) {
        chart.line({{static_cast<double>(r.max_context), 0}, {static_cast<double>(r.max_context), most}},
                   "limit");
        chart.label({static_cast<double>(r.max_context), most * 0.96}, 3, "largest that fits", "");
    }
    const auto at = std::min_element(line.begin(), line.end(), [&](const Place& a, const Place& b) {
        return std::abs(a.x - static_cast<double>(r.context)) <
               std::abs(b.x - static_cast<double>(r.context));
    });
    chart.dot(*at, 5, "answer", fmt::format("{:.3g} tokens/s at {} tokens", at->y, count_text(r.context)));
    chart.label(*at, 7, fmt::format("{:.3g} at {}", at->y, context_tick(static_cast<double>(r.context))),
                "strong");
    return chart.svg();
}

std::string roofline_chart(const Report& r) {
    const Roofline& f = r.roofline;
    if (f.operators.empty() || f.bandwidth <= 0) return "";
    double left = 1e30, right = 0, low = 1e30, high = f.peak;
    for (const Operator& o : f.operators) {
        left = std::min(left, o.intensity), right = std::max(right, o.intensity);
        low = std::min(low, o.rate), high = std::max(high, o.rate);
    }
    const auto giga = [](double x) { return x / 1e9; };
    if (f.peak > 0) right = std::max(right, f.peak / f.bandwidth * 2);
    Axis x{"operations a byte", left / 2, right * 2, true, false, nullptr};
    Axis y{"G operations/s", giga(low) / 3, giga(high) * 2, true, false, nullptr};
    Chart chart("Roofline", "operators of decode and prefill below the machine's roofs", x, y);
    const auto roof = [&](double bandwidth, double peak, const char* style) {
        if (bandwidth <= 0) return;
        std::vector<Place> line;
        const double end = x.high;
        const double ridge = peak > 0 ? peak / bandwidth : end;
        const double start = std::max(x.low, y.low * 1e9 / bandwidth);
        line.push_back({start, giga(start * bandwidth)});
        if (ridge > start && ridge < end) line.push_back({ridge, giga(ridge * bandwidth)});
        line.push_back({end, giga(peak > 0 ? std::min(peak, end * bandwidth) : end * bandwidth)});
        chart.line(line, style);
    };
    roof(f.bandwidth, f.peak, "roof");
    roof(f.reachable_bandwidth, f.reachable_peak, "reachable");
    if (f.peak > 0) chart.label({x.high / 3, giga(f.peak)}, 4, "peak of the data sheet", "");
    for (const Operator& o : f.operators) {
        const Place at{o.intensity, giga(o.rate)};
        const double radius = 3 + 11 * std::sqrt(o.share);
        chart.dot(at, radius, o.prefill ? "prefill" : "decode",
                  fmt::format("{} of {}: {:.0f} % of its time, bound by {}, {:.3g} operations a byte", o.name,
                              o.prefill ? "prefill" : "decode", 100 * o.share, o.bound, o.intensity));
    }
    for (const Operator& o : f.operators)
        if (o.share > 0.08) chart.label({o.intensity, giga(o.rate)}, 3 + 11 * std::sqrt(o.share), o.name, "");
    return chart.svg();
}

std::string triangle_chart(const Report& r) {
    constexpr double kWidth = 460, kHeight = 372, kSide = 340, kTop = 34;
    const double left = (kWidth - kSide) / 2, tall = kSide * std::sqrt(3.0) / 2;
    if (r.admitted() == 0) return "";
    Canvas canvas(kWidth, kHeight, "Latency, memory, quality",
                  "where each admitted configuration is strong; the corners are the goals");
    const std::array<std::pair<double, double>, plan::kGoals> corner{
        {{left, kTop + tall}, {left + kSide, kTop + tall}, {left + kSide / 2, kTop}}};
    canvas.polygon({corner[0], corner[1], corner[2]}, "triangle");
    const auto place = [&](const std::array<double, plan::kGoals>& b) {
        Place p;
        for (std::size_t g = 0; g < plan::kGoals; ++g)
            p.x += b[g] * corner[g].first, p.y += b[g] * corner[g].second;
        return p;
    };
    for (const double share : {0.25, 0.5, 0.75})
        for (std::size_t g = 0; g < plan::kGoals; ++g) {
            std::array<double, plan::kGoals> a{}, b{};
            a[g] = b[g] = share;
            a[(g + 1) % plan::kGoals] = b[(g + 2) % plan::kGoals] = 1 - share;
            const Place from = place(a), to = place(b);
            canvas.line({{from.x, from.y}, {to.x, to.y}}, "grid");
        }
    canvas.text(corner[0].first, kTop + tall + 20, "latency", Anchor::middle, "strong");
    canvas.text(corner[1].first, kTop + tall + 20, "memory", Anchor::middle, "strong");
    canvas.text(corner[2].first, kTop - 12, "quality", Anchor::middle, "strong");
    draw_candidates(
        r,
        [&](const Found& f) -> std::optional<Place> {
            return f.balance ? std::optional(place(*f.balance)) : std::nullopt;
        },
        [&](Place p, double radius, const char* style, const std::string& words) {
            canvas.circle(p.x, p.y, radius, style, words);
        },
        [&](Place p, const std::string& words) { canvas.label(p.x, p.y, 6, words, "strong"); });
    return canvas.svg();
}

std::string job_chart(const Report& r) {
    return scatter(r, "Job time against memory", kMemoryAxis, kJobAxis, memory_of, job_of);
}

std::string loss_chart(const Report& r) {
    return scatter(r, "Quality against memory", kMemoryAxis, kLossAxis, memory_of, loss_of);
}

std::string loss_job_chart(const Report& r) {
    return scatter(r, "Quality against job time", kJobAxis, kLossAxis, job_of, loss_of);
}

}  // namespace memwall::cli
