#include "cli/sweep_view.h"

#include <fmt/format.h>

#include "core/base/size_text.h"
#include "core/plan/options.h"
#include "core/quality/words.h"
#include "core/view/decision_view.h"
#include "core/view/json_parts.h"
#include "core/view/quantity_text.h"
#include "core/view/text_table.h"

namespace memwall::cli {

using devices::Axis;
using devices::SweepPoint;

std::string sweep_text(const std::vector<Axis>& axes, const std::vector<SweepPoint>& points, bool markdown,
                       bool colour, std::size_t width) {
    view::TextTable t;
    for (const Axis& a : axes) t.header.push_back(a.name);
    for (const char* name : {"verdict", ">needed", ">budget", ">tokens/s", ">first token", ">job", "differs"})
        t.header.emplace_back(name);
    for (const SweepPoint& p : points) {
        std::vector<std::string> row = p.values;
        const plan::Candidate& c = p.candidate;
        if (!p.failure.empty()) {
            row.push_back(p.failure);
        } else {
            const bool unsupported = c.verdict == plan::Verdict::unsupported;
            row.push_back(view::verdict_text(c.verdict) +
                          (unsupported ? ": " + plan::broken_text(plan::kUnsupported, c, {}) : ""));
            row.push_back(view::text(c.needed));
            row.push_back(bytes_text(c.budget));
            for (std::string& cell : view::candidate_cells(c)) row.push_back(std::move(cell));
        }
        t.rows.push_back(std::move(row));
    }
    return markdown ? view::markdown_table(t) : view::plain_table(t, colour, width);
}

std::string sweep_csv(const std::vector<Axis>& axes, const std::vector<SweepPoint>& points) {
    view::TextTable t;
    for (const Axis& a : axes) t.header.push_back(a.name);
    t.header.emplace_back("verdict");
    t.header.emplace_back("budget_bytes");
    for (const char* name :
         {"needed_bytes", "decode_tokens_per_second", "time_to_first_token_seconds", "job_seconds"})
        for (const char* end : {"low", "central", "high"})
            t.header.push_back(fmt::format("{}_{}", name, end));
    t.header.emplace_back("top1_disagreement");
    t.header.emplace_back("failure");
    for (const SweepPoint& p : points) {
        std::vector<std::string> row = p.values;
        const plan::Candidate& c = p.candidate;
        const bool ok = p.failure.empty(), timed = ok && c.timed, decoded = ok && c.decode_known;
        const auto ends = [&](bool known, double low, double central, double high) {
            for (const double x : {low, central, high}) row.push_back(known ? fmt::format("{:.17g}", x) : "");
        };
        row.push_back(ok ? std::string(plan::verdict_name(c.verdict)) : "");
        row.push_back(ok ? fmt::format("{}", c.budget.value) : "");
        for (const Bytes b : {c.needed.low, c.needed.central, c.needed.high})
            row.push_back(ok ? fmt::format("{}", b.value) : "");
        ends(decoded, c.decode.low.value, c.decode.central.value, c.decode.high.value);
        ends(timed, c.first_token.low.value, c.first_token.central.value, c.first_token.high.value);
        ends(timed, c.job.low.value, c.job.central.value, c.job.high.value);
        row.push_back(ok && c.loss.known() ? fmt::format("{:.6g}", c.loss.top1_disagreement.central) : "");
        row.push_back(ok && c.verdict == plan::Verdict::unsupported
                          ? plan::broken_text(plan::kUnsupported, c, {})
                          : p.failure);
        t.rows.push_back(std::move(row));
    }
    return view::csv_table(t);
}

std::string sweep_json(const std::vector<Axis>& axes, const std::vector<SweepPoint>& points) {
    using view::Json;
    Json j = view::document("memwall/sweep/1");
    j["axes"] = Json::array();
    for (const Axis& a : axes) j["axes"].push_back({{"name", a.name}, {"values", a.values}});
    j["points"] = Json::array();
    for (const SweepPoint& p : points) {
        Json x{{"values", p.values}};
        const plan::Candidate& c = p.candidate;
        if (!p.failure.empty()) {
            x["failure"] = p.failure;
        } else {
            view::add_candidate(x, c);
            x["command"] = plan::command_line(p.deployment);
        }
        j["points"].push_back(std::move(x));
    }
    return j.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace memwall::cli
