#include "cli/report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/base/error.h"
#include "core/base/size_text.h"
#include "core/view/decision_view.h"
#include "core/view/quantity_text.h"

namespace memwall::cli {
namespace {

using plan::Goal;
using view::TextTable;

TextTable candidate_table(const Report& r, const char* first) {
    TextTable t{{first, "recipe", "KV", ">context"}, {}};
    const bool drafts =
        std::any_of(r.found.begin(), r.found.end(), [](const Found& f) { return !f.draft.empty(); });
    if (drafts) t.header.emplace_back("draft");
    for (const char* name : {">memory", ">tokens/s", ">first token", ">job", "differs"})
        t.header.emplace_back(name);
    return t;
}

std::vector<std::string> candidate_row(const TextTable& t, const Found& f, std::string first) {
    const plan::Candidate& c = f.candidate;
    std::vector<std::string> row{std::move(first), f.recipe,
                                 f.kv_k == f.kv_v ? f.kv_k : f.kv_k + "/" + f.kv_v, count_text(c.context)};
    if (t.header[4] == "draft") row.push_back(f.draft.empty() ? "-" : f.draft);
    row.push_back(view::text(c.footprint));
    for (std::string& cell : view::candidate_cells(c)) row.push_back(std::move(cell));
    return row;
}

}  // namespace

std::string Found::label() const {
    return fmt::format("{}, KV {}, {} tokens{}", recipe, kv_k == kv_v ? kv_k : kv_k + "/" + kv_v,
                       count_text(candidate.context), draft.empty() ? "" : ", draft " + draft);
}

std::size_t Report::admitted() const {
    return static_cast<std::size_t>(
        std::count_if(found.begin(), found.end(), [](const Found& f) { return f.broken == 0; }));
}

std::size_t Report::front_size() const {
    return static_cast<std::size_t>(
        std::count_if(found.begin(), found.end(), [](const Found& f) { return f.front; }));
}

std::int64_t closest(const Report& r, const std::string& recipe) {
    std::int64_t best = -1;
    const auto key = [&](std::size_t i) {
        return std::pair(std::popcount(static_cast<unsigned>(r.found[i].broken)),
                         r.found[i].candidate.footprint.central.value);
    };
    for (std::size_t i = 0; i < r.found.size(); ++i)
        if ((recipe.empty() || r.found[i].recipe == recipe) &&
            (best < 0 || key(i) < key(static_cast<std::size_t>(best))))
            best = static_cast<std::int64_t>(i);
    return best;
}

TextTable answer_table(const Report& r) {
    TextTable t = candidate_table(r, "priority");
    for (const Goal g : {Goal::latency, Goal::memory, Goal::quality})
        if (const std::int64_t i = r.best[static_cast<std::size_t>(g)]; i >= 0)
            t.rows.push_back(
                candidate_row(t, r.found[static_cast<std::size_t>(i)], std::string(plan::goal_name(g))));
    return t;
}

TextTable front_table(const Report& r, std::size_t most) {
    TextTable t = candidate_table(r, "rank");
    std::vector<const Found*> front;
    for (const Found& f : r.found)
        if (f.front) front.push_back(&f);
    std::stable_sort(front.begin(), front.end(), [](const Found* a, const Found* b) {
        return a->candidate.latency < b->candidate.latency;
    });
    const std::size_t n = std::min(most, front.size());
    for (std::size_t k = 0; k < n; ++k) {
        const std::size_t at = n == 1 ? 0 : k * (front.size() - 1) / (n - 1);
        t.rows.push_back(candidate_row(t, *front[at], fmt::format("{}", at + 1)));
    }
    return t;
}

TextTable why_not_table(const Report& r) {
    TextTable t{{"recipe", "closest configuration", "what breaks"}, {}};
    std::vector<std::string> seen;
    for (const Found& f : r.found) {
        if (std::find(seen.begin(), seen.end(), f.recipe) != seen.end()) continue;
        seen.push_back(f.recipe);
        if (std::any_of(r.found.begin(), r.found.end(),
                        [&](const Found& o) { return o.recipe == f.recipe && o.broken == 0; }))
            continue;
        const Found& c = r.found[static_cast<std::size_t>(closest(r, f.recipe))];
        std::string why;
        for (const auto& [option, reason] : r.failures)
            if (option == c.recipe || option == c.draft) why = reason;
        for (unsigned bits = why.empty() ? c.broken : 0; bits != 0; bits &= bits - 1) {
            const auto one = static_cast<plan::Broken>(1u << std::countr_zero(bits));
            const bool told = (one & (plan::kUnsupported | plan::kUndecided)) != 0 && !c.reason.empty();
            why +=
                (why.empty() ? "" : "; ") + (told ? c.reason : plan::broken_text(one, c.candidate, r.limits));
        }
        t.rows.push_back({f.recipe, c.label(), why});
    }
    return t;
}

void add_curves(Report& r, const devices::Planned& p) {
    r.curve.clear();
    r.curve_from_search = false;
    const std::int64_t last = plan::context_axis_end(p.prepared, p.knobs, p.advice);
    for (const plan::ContextPoint& at :
         plan::context_curve(p.prepared, p.knobs, p.target, p.plan.memory.deciding_pool, last))
        r.curve.push_back({static_cast<double>(at.context), at.parts, at.needed, at.timed, at.decode});
}

}  // namespace memwall::cli
