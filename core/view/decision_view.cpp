#include "core/view/decision_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/size_text.h"
#include "core/plan/options.h"
#include "core/quality/words.h"
#include "core/view/json_parts.h"
#include "core/view/quantity_text.h"
#include "core/view/text_table.h"

namespace memwall::view {
namespace {

using plan::Candidate;
using plan::Goal;

constexpr std::array kAllGoals{Goal::latency, Goal::memory, Goal::quality};

bool many_runtimes(const plan::Grid& g) {
    return std::any_of(g.recipes.begin(), g.recipes.end(),
                       [&](const plan::RecipeChoice& r) { return r.runtime != g.recipes.front().runtime; });
}

std::vector<std::string> row_of(const Recommendation& r, const Candidate& c, std::string label) {
    const plan::Grid& g = r.search.grid;
    const bool mixed = r.mixed && c.recipe + 1u == g.recipes.size();
    std::vector<std::string> row{std::move(label)};
    if (many_runtimes(g)) row.push_back(g.recipes[c.recipe].runtime);
    row.insert(row.end(), {mixed ? "mixed" : g.recipes[c.recipe].recipe,
                           g.kv[c.kv].first == g.kv[c.kv].second
                               ? g.kv[c.kv].first
                               : fmt::format("{}/{}", g.kv[c.kv].first, g.kv[c.kv].second),
                           count_text(c.context)});
    if (g.drafts.size() > 1) row.push_back(g.drafts[c.draft].empty() ? "-" : g.drafts[c.draft]);
    if (g.offload.size() > 1)
        row.push_back(c.offload && c.gpu_layers >= 0 ? fmt::format("{}", c.gpu_layers) : "all");
    row.push_back(text(c.footprint));
    for (std::string& cell : candidate_cells(c)) row.push_back(std::move(cell));
    return row;
}

TextTable table_of(const Recommendation& r, const std::string& first) {
    TextTable t;
    t.header = {first};
    if (many_runtimes(r.search.grid)) t.header.push_back("runtime");
    for (const char* name : {"recipe", "KV", ">context"}) t.header.emplace_back(name);
    if (r.search.grid.drafts.size() > 1) t.header.push_back("draft");
    if (r.search.grid.offload.size() > 1) t.header.push_back(">on card");
    for (const char* name : {">memory", ">tokens/s", ">first token", ">job", "differs"})
        t.header.emplace_back(name);
    t.spare = {"first token", "context", "job"};
    return t;
}

std::string reason_of(const Recommendation& r, const Candidate& c) {
    for (const plan::GridFailure& f : r.search.failures)
        if (const plan::RecipeChoice& choice = r.search.grid.recipes[c.recipe];
            f.runtime == choice.runtime &&
            (f.what == choice.recipe || f.what == r.search.grid.drafts[c.draft]))
            return f.why;
    std::string text;
    for (const plan::Broken one : plan::broken_list(plan::broken(c, r.demands.limits)))
        text += (text.empty() ? "" : "; ") + plan::broken_text(one, c, r.demands.limits);
    return text;
}

bool admitted_any(const Recommendation& r, std::size_t recipe) {
    return std::any_of(r.decision.admitted.begin(), r.decision.admitted.end(),
                       [&](std::uint32_t i) { return r.search.candidates[i].recipe == recipe; });
}

Json band(const quality::Band& b) {
    return {{"low", b.low}, {"central", b.central}, {"high", b.high}};
}

Json candidate_json(const Recommendation& r, std::size_t i) {
    const Candidate& c = r.search.candidates[i];
    const plan::Grid& g = r.search.grid;
    Json j{{"runtime", g.recipes[c.recipe].runtime},
           {"quant", g.recipes[c.recipe].recipe},
           {"draft", g.drafts[c.draft]},
           {"kv_k", g.kv[c.kv].first},
           {"kv_v", g.kv[c.kv].second},
           {"context", c.context},
           {"sequences", c.sequences},
           {"gpu_layers", c.gpu_layers},
           {"kv_pool", c.kv_on_host ? "host" : "device"},
           {"expert_pool", c.experts_on_host ? "host" : "device"}};
    add_candidate(j, c);
    j["rejected"] = Json::array();
    for (const plan::Broken one : plan::broken_list(r.decision.broken[i]))
        j["rejected"].push_back(plan::broken_name(one));
    return j;
}

Json goals_json(const std::array<double, plan::kGoals>& values) {
    Json j;
    for (const Goal g : kAllGoals) j[std::string(plan::goal_name(g))] = values[static_cast<std::size_t>(g)];
    return j;
}

}  // namespace

void add_candidate(Json& j, const Candidate& c) {
    j["verdict"] = plan::verdict_name(c.verdict);
    j["needed_bytes"] = quantity(c.needed);
    j["budget_bytes"] = c.budget.value;
    if (c.verdict == plan::Verdict::unsupported)
        j["reason"] = plan::broken_text(plan::kUnsupported, c, {});
    else if (c.reason == plan::Reason::pool_size_unknown)
        j["reason"] = plan::broken_text(plan::kUndecided, c, {});
    j["footprint_bytes"] = quantity(c.footprint);
    if (c.decode_known) j["decode_tokens_per_second"] = quantity(c.decode);
    if (c.timed) {
        j["time_to_first_token_seconds"] = quantity(c.first_token);
        j["job_seconds"] = quantity(c.job);
    }
    if (c.load_known) j["load_seconds"] = quantity(c.load);
    if (c.energy_known) j["energy_joules_per_token"] = quantity(c.energy_per_token);
    j["quality"] = {{"status", quality::status_name(c.loss.status)}};
    if (c.loss.known())
        j["quality"]["top1_disagreement"] = band(c.loss.top1_disagreement);
    else
        j["quality"]["reason"] = quality::reason_code(c.loss.reason);
}

std::string verdict_text(plan::Verdict verdict) {
    std::string words(plan::verdict_name(verdict));
    std::replace(words.begin(), words.end(), '_', ' ');
    return words;
}

std::array<std::string, 4> candidate_cells(const Candidate& c) {
    return {c.decode_known ? text(c.decode) : "-", c.timed ? seconds_text(c.first_token.central) : "-",
            c.timed ? seconds_text(c.job.central) : "-", kept_text(c)};
}

std::string candidate_text(const plan::Grid& g, const Candidate& c) {
    return fmt::format("{}{}, KV {}/{}, {} tokens{}",
                       many_runtimes(g) ? g.recipes[c.recipe].runtime + " " : "", g.recipes[c.recipe].recipe,
                       g.kv[c.kv].first, g.kv[c.kv].second, count_text(c.context),
                       g.drafts[c.draft].empty() ? "" : ", draft " + g.drafts[c.draft]);
}

std::string kept_text(const Candidate& c) {
    if (!c.loss.known()) return "unknown";
    return quality::one_token_in(c.loss.top1_disagreement.central);
}

std::string recommendation_text(const Recommendation& r, bool colour, std::size_t width,
                                std::size_t front_rows) {
    const plan::Decision& d = r.decision;
    const auto& all = r.search.candidates;
    const std::size_t text = text_columns(width);
    std::string out =
        hung("",
             fmt::format("{} on {}: {} configurations, {} admitted, {} on the front", r.model, r.device,
                         count_text(static_cast<std::int64_t>(all.size())),
                         count_text(static_cast<std::int64_t>(d.admitted.size())), d.front.size()),
             width) +
        "\n";
    const std::int64_t answer = d.best[static_cast<std::size_t>(r.demands.goal())];
    if (!d.admitted.empty()) {
        TextTable t = table_of(r, "priority");
        for (const Goal g : kAllGoals)
            if (const std::int64_t i = d.best[static_cast<std::size_t>(g)]; i >= 0)
                t.rows.push_back(
                    row_of(r, all[static_cast<std::size_t>(i)],
                           (g == r.demands.goal() ? "> " : "  ") + std::string(plan::goal_name(g))));
        out += plain_table(t, colour, width) + "\n";
        if (answer >= 0)
            out += styled("Use it: ", Style::bold, colour) +
                   plan::command_line(plan::deployment_of(
                       r.search.grid, all[static_cast<std::size_t>(answer)], r.deployment)) +
                   "\n\n";
        else
            out += styled("No answer under latency: ", Style::warn, colour) +
                   "how fast this device decodes is unknown; name its bandwidth.\n\n";
        if (d.front.size() > 1) {
            // A dozen of a long front, evenly in the order of the first goal.
            TextTable front = table_of(r, "front");
            const std::size_t n = std::min(front_rows, d.front.size());
            for (std::size_t k = 0; k < n; ++k) {
                const std::size_t at = n == 1 ? 0 : k * (d.front.size() - 1) / (n - 1);
                front.rows.push_back(row_of(r, all[d.front[at]], ""));
            }
            out += plain_table(front, colour, width) + "\n";
        }
    } else {
        out += styled("Nothing is admitted.", Style::bad, colour) + "\n\n";
    }
    if (r.mixed) {
        out += styled("mixed", Style::bold, colour) +
               fmt::format(" is {} of weights; for llama-quantize:\n", bytes_text(r.mixed->weights));
        for (const auto& [pattern, format] : r.mixed->tensor_types)
            out += fmt::format("  --tensor-type '{}={}'\n", pattern, format);
        out += "\n";
    }
    for (const std::string& note : r.notes)
        for (const std::string& line : wrapped("Note: " + note, text)) out += line + "\n";
    if (!r.notes.empty()) out += "\n";
    std::string why;
    for (std::size_t recipe = 0; recipe < r.search.grid.recipes.size(); ++recipe) {
        if (admitted_any(r, recipe)) continue;
        const std::int64_t index = plan::closest(all, d, static_cast<int>(recipe));
        if (index < 0) continue;
        const Candidate& c = all[static_cast<std::size_t>(index)];
        const std::string line = fmt::format("{}: {}", candidate_text(r.search.grid, c), reason_of(r, c));
        bool first = true;
        for (const std::string& part : wrapped(line, text - 6)) {
            why += (first ? "  " : "      ") + part + "\n";
            first = false;
        }
    }
    if (!why.empty())
        out += styled("Why not (the closest of each recipe):", Style::bold, colour) + "\n" + why;
    return out;
}

std::string recommendation_json(const Recommendation& r) {
    Json j = document("memwall/recommend/1");
    const plan::Constraints& c = r.demands.limits;
    j["model"] = r.model;
    j["device"] = r.device;
    j["command"] = plan::command_line(r.deployment);
    j["priority"] = plan::goal_name(r.demands.goal());
    j["preset"] = r.demands.preset;
    j["limits"] = {{"max_memory_bytes", c.max_memory.value},
                   {"min_decode_tokens_per_second", c.min_decode},
                   {"max_ttft_seconds", c.max_ttft},
                   {"max_job_seconds", c.max_job},
                   {"max_load_seconds", c.max_load},
                   {"max_energy_joules", c.max_energy},
                   {"min_context", c.min_context},
                   {"min_quality", c.min_quality},
                   {"confidence", c.confidence},
                   {"allow_unknown_quality", c.allow_unknown_quality}};
    j["answers"] = Json::object();
    for (const Goal g : kAllGoals)
        if (const std::int64_t i = r.decision.best[static_cast<std::size_t>(g)]; i >= 0) {
            Json a = candidate_json(r, static_cast<std::size_t>(i));
            a["candidate"] = i;
            a["command"] = plan::command_line(plan::deployment_of(
                r.search.grid, r.search.candidates[static_cast<std::size_t>(i)], r.deployment));
            j["answers"][std::string(plan::goal_name(g))] = std::move(a);
        }
    j["front"] = r.decision.front;
    j["candidates"] = Json::array();
    for (std::size_t i = 0; i < r.search.candidates.size(); ++i)
        j["candidates"].push_back(candidate_json(r, i));
    const auto merits = plan::merits(r.search.candidates, r.decision.admitted);
    for (std::size_t k = 0; k < merits.size(); ++k) {
        Json& candidate = j["candidates"][r.decision.admitted[k]];
        candidate["merits"] = goals_json(merits[k].merit);
        candidate["balance"] = goals_json(merits[k].balance);
    }
    if (r.mixed) {
        j["mixed"] = {{"quant", r.mixed->quant},
                      {"weights_bytes", r.mixed->weights.value},
                      {"tensor_types", Json::array()}};
        for (const auto& [pattern, format] : r.mixed->tensor_types)
            j["mixed"]["tensor_types"].push_back({{"pattern", pattern}, {"format", format}});
    }
    j["notes"] = r.notes;
    j["failures"] = Json::array();
    for (const plan::GridFailure& f : r.search.failures)
        j["failures"].push_back({{"runtime", f.runtime}, {"option", f.what}, {"reason", f.why}});
    return j.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace memwall::view
