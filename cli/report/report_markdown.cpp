// The same report as Markdown: tables in place of charts.
#include <fmt/format.h>

#include <algorithm>

#include "cli/report/report.h"
#include "core/base/size_text.h"
#include "core/view/quantity_text.h"

namespace memwall::cli {
namespace {

std::string rows_table(const std::vector<Row>& rows, const char* what) {
    view::TextTable t{{what, ">central", ">range", "rests on"}, {}};
    for (const Row& r : rows) t.rows.push_back({r.name, r.value, r.range, r.basis});
    return view::markdown_table(t);
}

std::string list(const std::vector<std::string>& items) {
    std::string out;
    for (const std::string& i : items) out += "- " + i + "\n";
    return out;
}

/// Some of the curve, evenly.
std::string curve_table(const Report& r) {
    constexpr std::size_t kRows = 9;
    view::TextTable t{{">context", ">needed", ">tokens/s", ">range"}, {}};
    const std::size_t n = std::min(kRows, r.curve.size());
    for (std::size_t k = 0; k < n; ++k) {
        const CurvePoint& p = r.curve[n == 1 ? 0 : k * (r.curve.size() - 1) / (n - 1)];
        t.rows.push_back({count_text(static_cast<std::int64_t>(p.context)), view::text(p.needed),
                          p.timed ? view::text(p.decode) : "-", p.timed ? view::range_text(p.decode) : ""});
    }
    return view::markdown_table(t);
}

}  // namespace

std::string report_markdown(const Report& r) {
    std::string out = fmt::format("# {}\n\n", r.title);
    if (r.title != r.question) out += r.question + "\n\n";
    if (!r.demands.empty()) out += list(r.demands) + "\n";
    out += fmt::format("**{}**\n\n```sh\n{}\n```\n", r.answer, r.command);
    const auto section = [&](const char* title, const std::string& body) {
        if (!body.empty()) out += fmt::format("\n## {}\n\n{}", title, body);
    };
    section("Mind", list(r.warnings));
    if (r.admitted() > 0)
        section("The answer under each priority",
                view::markdown_table(answer_table(r)) +
                    fmt::format("\n{} configurations searched, {} admitted, {} on the front.\n",
                                count_text(static_cast<std::int64_t>(r.found.size())),
                                count_text(static_cast<std::int64_t>(r.admitted())), r.front_size()));
    if (!r.memory.empty()) {
        std::string pools;
        for (const PoolBar& p : r.pools)
            pools += fmt::format("- {}: needs {} ({}), budget {}\n", p.name, view::text(p.needed),
                                 p.needed.is_exact() ? "exact" : view::range_text(p.needed),
                                 bytes_text(Bytes(static_cast<std::int64_t>(p.budget))));
        section("Memory", pools + "\n" + rows_table(r.memory, "memory"));
    }
    if (!r.speed.empty()) section("Speed", rows_table(r.speed, "speed"));
    if (!r.curve.empty())
        section(
            "Against context",
            curve_table(r) + (r.max_context > 0 ? fmt::format("\nThe largest context that fits: {} tokens.\n",
                                                              count_text(r.max_context))
                                                : ""));
    for (const Simulated& s : r.simulated) {
        view::TextTable t{{"metric", ">mean", ">95 % interval", "is"}, {}};
        for (const SimulatedMetric& m : s.metrics)
            t.rows.push_back({m.name, m.value, m.interval, m.definition});
        section(
            ("Over time: " + s.name).c_str(),
            (s.about.empty() ? "" : s.about + "\n\n") +
                fmt::format("Peak of the model's process: {} after {}{}.\n\n",
                            bytes_text(Bytes(static_cast<std::int64_t>(std::clamp(s.peak_bytes, 0.0, 9e18)))),
                            seconds_text(Seconds(s.peak.seconds)),
                            s.owner.empty() ? "" : ", held most by " + s.owner) +
                view::markdown_table(t));
    }
    if (r.front_size() > 1) section("The front", view::markdown_table(front_table(r)));
    if (const view::TextTable why = why_not_table(r); !why.rows.empty())
        section("Why not", view::markdown_table(why));
    section("Assumptions", list(r.assumptions));
    section("Not claimed", list(r.not_claimed));
    std::string sources;
    for (const Source& s : r.sources) sources += fmt::format("- {}: {}\n", s.what, s.from);
    section("Sources", sources);
    return out + "\n" + r.versions + "\n";
}

}  // namespace memwall::cli
