#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/size_text.h"
#include "core/view/quantity_text.h"
#include "core/view/text_table.h"
#include "sim/result/views.h"

namespace memwall::sim {
namespace {

using view::Style;
using view::styled;

std::string value_text(MetricUnit unit, double x) {
    switch (unit) {
        case MetricUnit::seconds:
            return x < 0 ? "never" : seconds_text(Seconds(x));
        case MetricUnit::bytes:
            return bytes_text(Bytes(std::llround(x)));
        case MetricUnit::share:
            return fmt::format("{:.1f} %", 100 * x);
        case MetricUnit::per_second:
            return view::number_text(x) + "/s";
        case MetricUnit::joules:
            return view::number_text(x) + " J";
        case MetricUnit::celsius:
            return fmt::format("{:.1f} C", x);
        case MetricUnit::count:
        case MetricUnit::tokens:
            break;
    }
    return x == std::floor(x) ? count_text(static_cast<std::int64_t>(x)) : view::number_text(x);
}

std::vector<double> values(const Metric& m, const std::vector<RunResult>& runs) {
    std::vector<double> v;
    for (const RunResult& r : runs) v.push_back(m.value(r, r.all()));
    return v;
}

std::string with_interval(const Metric& m, const std::vector<RunResult>& runs) {
    const Estimate e = estimate(values(m, runs));
    std::string text = value_text(m.unit, e.mean);
    if (runs.size() > 1 && e.half > 0) text += " +- " + value_text(m.unit, e.half);
    return text;
}

/// "name value, name value": of the metrics that say something.
std::string line(const std::vector<RunResult>& runs,
                 std::initializer_list<std::pair<const char*, const char*>> list) {
    std::string text;
    for (const auto& [label, name] : list) {
        const Metric* m = find_metric(name);
        if (m->applies && !m->applies(runs.front())) continue;
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", label, with_interval(*m, runs));
    }
    return text;
}

std::string app_table(const RunResult& r, bool colour) {
    view::TextTable t{{"app", ">requests", ">done", ">TTFT p50", ">p95", ">p99", ">TPOT p50", ">p95",
                       ">end to end p95", ">output"},
                      {}};
    const auto add = [&](const AppResult& a) {
        const auto at = [](const Histogram& h, double p) {
            return h.count() > 0 ? seconds_text(Seconds(h.quantile(p))) : std::string("-");
        };
        t.rows.push_back({a.name, count_text(a.arrived), count_text(a.finished), at(a.ttft, 0.5),
                          at(a.ttft, 0.95), at(a.ttft, 0.99), at(a.tpot, 0.5), at(a.tpot, 0.95),
                          at(a.e2e, 0.95), count_text(a.output_tokens)});
    };
    for (const AppResult& a : r.apps) add(a);
    if (r.apps.size() > 1) add(r.all());
    return view::plain_table(t, colour);
}

/// A row of eighth blocks over the timeline.
std::string spark(const RunResult& r, std::size_t width, double (*value)(const TimelinePoint&)) {
    constexpr std::string_view kBlocks[] = {" ",      "\u2581", "\u2582", "\u2583", "\u2584",
                                            "\u2585", "\u2586", "\u2587", "\u2588"};
    double most = 0;
    for (const TimelinePoint& p : r.timeline) most = std::max(most, value(p));
    std::string text;
    const std::size_t n = r.timeline.size();
    for (std::size_t column = 0; column < width && n > 0; ++column) {
        double here = 0;
        for (std::size_t i = column * n / width;
             i < std::max((column + 1) * n / width, column * n / width + 1) && i < n; ++i)
            here = std::max(here, value(r.timeline[i]));
        text += kBlocks[most > 0 ? static_cast<std::size_t>(std::lround(8 * here / most)) : 0];
    }
    return text;
}

}  // namespace

std::string simulate_text(const Setup& s, const std::vector<RunResult>& runs, bool colour, int width,
                          bool definitions) {
    const RunResult& r = runs.front();
    const Scenario& sc = s.scenario;
    std::string out = styled(sc.name.empty() ? sc.file : sc.name, Style::bold, colour);
    if (!sc.about.empty()) out += "  " + sc.about;
    out += fmt::format(
        "\n{} on {}, {}, {} tokens of context, {} at a time; {} of {}{}\n", s.planned.prepared.model.id,
        s.planned.target.device.name, s.planned.prepared.recipe, count_text(sc.scheduler.context),
        sc.scheduler.max_sequences, seconds_text(Seconds(r.seconds)), seconds_text(Seconds(sc.seconds)),
        runs.size() > 1 ? fmt::format(", {} replications (+- is the 95 % interval)", runs.size()) : "");
    if (r.interrupted)
        out += styled("Interrupted: what follows is what was simulated until then.\n", Style::warn, colour);
    out += "\n" + app_table(r, colour) + "\n";
    const auto row = [&](const char* name, const std::string& text) {
        if (!text.empty()) out += fmt::format("{}  {}\n", view::pad_right(name, 9), text);
    };
    row("requests", line(runs, {{"refused", "refused"},
                                {"cut short", "cut_short"},
                                {"unfinished", "unfinished"},
                                {"within objectives", "goodput"}}));
    row("speed", line(runs, {{"output", "output_rate"},
                             {"busy", "utilization"},
                             {"batch", "batch_mean"},
                             {"gap p99", "itl_p99"},
                             {"drafts accepted", "draft_acceptance"}}));
    row("KV pool", fmt::format("{} tokens ({}), ", count_text(r.pool_tokens),
                               bytes_text(Bytes(static_cast<std::int64_t>(static_cast<double>(r.pool_tokens) *
                                                                          s.token_bytes)))) +
                       line(runs, {{"occupied", "pool_occupancy"},
                                   {"of that wasted", "pool_waste"},
                                   {"fragmented", "pool_fragmentation"},
                                   {"prefix hits", "prefix_hit"},
                                   {"preemptions", "preemptions"},
                                   {"recomputed", "recomputed_tokens"}}));
    if (!r.prefix_note.empty()) row("", "no prefix cache: " + r.prefix_note);
    row("memory",
        fmt::format("peak {} at {}{}: weights {}, KV {}, scratch {}", bytes_text(Bytes(r.peak.ours())),
                    seconds_text(Seconds(r.peak_seconds)), r.peak_owner.empty() ? "" : " by " + r.peak_owner,
                    bytes_text(Bytes(r.peak.weights)), bytes_text(Bytes(r.peak.kv)),
                    bytes_text(Bytes(r.peak.scratch))));
    row("pressure", line(runs, {{"other apps killed", "kills"},
                                {"own process killed", "own_kills"},
                                {"read again", "major_faults"},
                                {"no room on the card for", "card_refusals"},
                                {"waited for it", "card_wait"}}) +
                        (r.memory || r.card ? ", " : "") +
                        line(runs, {{"loads", "loads"}, {"loading", "loading"}}));
    row("heat", line(runs, {{"hottest", "hottest"},
                            {"first throttled after", "first_throttle"},
                            {"throttled", "throttled"},
                            {"slowest", "slowest_speed"}}));
    row("energy", line(runs, {{"drawn", "energy"},
                              {"a token", "energy_per_token"},
                              {"battery at the end", "battery_end"},
                              {"for 1,000 tokens", "battery_per_1000"},
                              {"off", "switched_off"}}));
    const std::size_t columns = static_cast<std::size_t>(std::clamp(width - 24, 20, 100));
    out += "\n";
    row("memory",
        spark(r, columns, [](const TimelinePoint& p) { return static_cast<double>(p.memory.ours()); }));
    row("waiting", spark(r, columns, [](const TimelinePoint& p) { return static_cast<double>(p.waiting); }));
    if (r.thermal) row("heat", spark(r, columns, [](const TimelinePoint& p) { return p.temperature; }));
    if (definitions) {
        out += "\nEvery metric of all apps together:\n";
        view::TextTable t{{"metric", ">value", "definition"}, {}};
        for (const Metric& m : metrics())
            if (!m.applies || m.applies(r))
                t.rows.push_back({std::string(m.name), with_interval(m, runs), std::string(m.definition)});
        out += view::plain_table(t, colour);
    }
    return out;
}

std::string answer_text(const CapacityAnswer& a, bool colour) {
    std::string out;
    const auto bytes = [&](std::int64_t tokens) {
        return bytes_text(Bytes(static_cast<std::int64_t>(static_cast<double>(tokens) * a.token_bytes)));
    };
    if (a.question == "throttle") {
        const auto time = [](double seconds) { return seconds_text(Seconds(seconds)); };
        if (!a.bounded)
            out = fmt::format("Not slowed by heat within {}.", time(a.simulated));
        else if (a.runs == 1)
            out = fmt::format("Slowed by heat after {}.", time(a.seconds.mean));
        else
            out = fmt::format("Slowed by heat after {} +- {} in {} of {} runs, after {} in the first.",
                              time(a.seconds.mean), time(a.seconds.half), a.throttled, a.runs,
                              time(static_cast<double>(a.best)));
        return styled(out, Style::bold, colour) + "\n";
    }
    if (a.question == "users") {
        // What is multiplied may be many already.
        const bool single = a.users == 1;
        const auto many = [&](std::int64_t n) {
            return single ? count_text(n) + " users"
                          : fmt::format("{} times the scenario's users ({:g} in all)", count_text(n),
                                        a.users * static_cast<double>(n));
        };
        const std::string one = single ? "one" : fmt::format("{:g}", a.users);
        out = a.best == 0 ? fmt::format("Not even {}: the objectives do not hold.",
                                        single ? std::string("one user")
                                               : fmt::format("the scenario's {:g} users", a.users))
              : a.bounded
                  ? fmt::format("{}: the objectives hold, with {} more they do not.", many(a.best), one)
                  : fmt::format("More than {}.", many(a.best));
    } else if (a.best == 0) {
        out = fmt::format("The objectives do not hold even with the whole pool of {} tokens ({}).",
                          count_text(a.now), bytes(a.now));
    } else {
        out = fmt::format("The cliff is at {} tokens ({}); the pool of {} has a margin of {:.1f} %.",
                          count_text(a.best), bytes(a.best), bytes(a.now), 100 * a.margin);
    }
    out = styled(out, Style::bold, colour) + "\n\n";
    view::TextTable t{{a.question != "users" ? ">pool tokens"
                       : a.users == 1        ? ">users"
                                             : ">times",
                       "objectives", ">TTFT p95", ">TTFT p99", ">TPOT p95", ">end to end p95"},
                      {}};
    for (const CapacityPoint& p : a.points)
        t.rows.push_back({count_text(p.value), p.holds ? "hold" : "missed", seconds_text(Seconds(p.ttft_p95)),
                          seconds_text(Seconds(p.ttft_p99)), seconds_text(Seconds(p.tpot_p95)),
                          seconds_text(Seconds(p.e2e_p95))});
    return out + view::plain_table(t, colour);
}

}  // namespace memwall::sim
