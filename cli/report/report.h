// What a decision meeting is shown: everything the HTML and the Markdown form print. Filled from our JSON
// documents, so that a saved one gives the same report; curves over the context are evaluated live.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/report/simulated.h"
#include "core/plan/curves.h"
#include "core/plan/decide.h"
#include "core/view/text_table.h"
#include "devices/planning.h"

namespace memwall::cli {

using plan::kParts;
using plan::Part;
using plan::part_of;
using plan::Parts;
using plan::parts_needed;

/// How the classes of memory are drawn and named.
struct PartWords {
    std::string_view style;  ///< class of report.css
    std::string_view name;
};
inline constexpr std::array<PartWords, kParts> kPartWords{{{"weights", "weights"},
                                                           {"kv", "KV cache"},
                                                           {"state", "recurrent state"},
                                                           {"compute", "buffers"},
                                                           {"draft", "draft"},
                                                           {"overhead", "overhead"}}};

struct PoolBar {
    std::string name;
    double capacity = 0, budget = 0;
    Interval<Bytes> needed;
    Parts parts{};
};

/// A named quantity with its range and what it rests on.
struct Row {
    std::string style, name, value, range, basis;
};

struct CurvePoint {
    double context = 0;
    Parts parts{};  ///< zero where only the total is known
    Interval<Bytes> needed;
    bool timed = false;
    Interval<PerSecond> decode;
};

struct Operator {
    std::string name;
    bool prefill = false;
    double intensity = 0;  ///< operations a byte
    double rate = 0;       ///< operations a second at the central rates
    double share = 0;      ///< of its phase's time
    std::string bound;
};

/// All in base units; zero = unknown.
struct Roofline {
    double bandwidth = 0, reachable_bandwidth = 0, peak = 0, reachable_peak = 0;
    std::vector<Operator> operators;
};

/// A configuration that was searched.
struct Found {
    plan::Candidate candidate;
    std::string recipe, draft, kv_k, kv_v;
    std::uint16_t broken = 0;
    std::string reason;  ///< why it is unsupported or undecided, where the numbers do not say it
    bool front = false;
    std::optional<std::array<double, plan::kGoals>> balance;

    std::string label() const;  ///< "Q4_K_M, KV q8_0/q4_0, 8,192 tokens"
};

struct Source {
    std::string what, from;
};

struct Report {
    std::string title, model, device, question, answer, verdict, command, versions;
    std::vector<std::string> demands;

    std::vector<PoolBar> pools;
    std::vector<Row> memory, speed;
    std::int64_t context = 0, max_context = 0;
    double context_budget = 0;  ///< of the pool that the curve is about
    std::vector<CurvePoint> curve;
    bool curve_from_search = false;  ///< only the contexts of the search, totals over all pools
    Roofline roofline;

    plan::Constraints limits;
    std::vector<Found> found;
    std::array<std::int64_t, plan::kGoals> best{-1, -1, -1};
    plan::Goal priority = plan::Goal::quality;
    std::vector<std::pair<std::string, std::string>> failures;  ///< option and why it cannot be had

    std::vector<Simulated> simulated;

    std::vector<std::string> warnings, assumptions, not_claimed;
    std::vector<Source> sources;

    bool searched() const { return !found.empty(); }
    std::size_t admitted() const;
    std::size_t front_size() const;
};

/// Rows of the answers under each priority, and of the closest configuration of each recipe that has none
/// admitted.
view::TextTable answer_table(const Report& report);
view::TextTable why_not_table(const Report& report);
/// A dozen of the front, evenly from the fastest to the slowest.
view::TextTable front_table(const Report& report, std::size_t rows = 12);
/// The candidate that breaks least; -1 when none was searched.
std::int64_t closest(const Report& report, const std::string& recipe = {});

/// Adds a document to the report: memwall/recommend/1, memwall/plan/1 (with its ledger it shows the roofline
/// and the sources) or memwall/simulate/1 of a run. Throws Error naming `place` for anything else.
void read_document(Report& report, const std::string& text, const std::string& place);

/// Memory and speed of the plan from short contexts to beyond the largest that fits.
void add_curves(Report& report, const devices::Planned& planned);

std::string report_html(const Report& report);
std::string report_markdown(const Report& report);

}  // namespace memwall::cli
