// memwall/recommend/1 into a report.
#include <fmt/format.h>

#include "cli/report/read_document.h"
#include "core/base/error.h"
#include "core/base/size_text.h"
#include "core/quality/words.h"
#include "core/view/decision_view.h"
#include "core/view/quantity_text.h"

namespace memwall::cli {
namespace {

using plan::Constraints;
using plan::Goal;

/// The value of an enumeration by the name that its words function gives.
template <class E, class Name>
E by_name(std::string_view name, int count, Name words) {
    for (int i = 0; i < count; ++i)
        if (words(static_cast<E>(i)) == name) return static_cast<E>(i);
    throw Error("", fmt::format("'{}'", name), "a word of this version of memwall");
}

Found found_of(const Json& j) {
    Found f;
    f.recipe = j.at("quant").get<std::string>();
    f.draft = j.at("draft").get<std::string>();
    f.kv_k = j.at("kv_k").get<std::string>();
    f.kv_v = j.at("kv_v").get<std::string>();
    plan::Candidate& c = f.candidate;
    c.context = j.at("context");
    c.sequences = j.at("sequences");
    c.gpu_layers = j.at("gpu_layers");
    c.verdict = by_name<plan::Verdict>(j.at("verdict").get<std::string>(), 4, plan::verdict_name);
    c.needed = quantity_of<Bytes>(j.at("needed_bytes"));
    c.budget = Bytes(j.at("budget_bytes").get<std::int64_t>());
    c.footprint = quantity_of<Bytes>(j.at("footprint_bytes"));
    c.decode_known = j.contains("decode_tokens_per_second");
    c.timed = j.contains("job_seconds");
    c.load_known = j.contains("load_seconds");
    c.energy_known = j.contains("energy_joules_per_token");
    if (c.decode_known) c.decode = quantity_of<PerSecond>(j.at("decode_tokens_per_second"));
    if (c.load_known) c.load = quantity_of<Seconds>(j.at("load_seconds"));
    if (c.energy_known) c.energy_per_token = quantity_of<Joules>(j.at("energy_joules_per_token"));
    if (c.timed) {
        c.first_token = quantity_of<Seconds>(j.at("time_to_first_token_seconds"));
        c.job = quantity_of<Seconds>(j.at("job_seconds"));
        c.latency = c.job.central.value;
    }
    const Json& quality = j.at("quality");
    c.loss.status =
        by_name<quality::Status>(quality.at("status").get<std::string>(), 5, quality::status_name);
    if (c.loss.known()) {
        const Json& band = quality.at("top1_disagreement");
        c.loss.top1_disagreement = {band.at("low"), band.at("central"), band.at("high")};
    } else {
        c.loss.reason = by_name<quality::Reason>(quality.at("reason").get<std::string>(), quality::kReasons,
                                                 quality::reason_code);
    }
    f.reason = j.value("reason", "");
    for (const Json& name : j.at("rejected"))
        for (std::size_t i = 0; i < plan::kBrokenKinds; ++i)
            if (plan::broken_name(static_cast<plan::Broken>(1u << i)) == name.get<std::string>())
                f.broken = static_cast<std::uint16_t>(f.broken | (1u << i));
    if (j.contains("balance")) {
        f.balance.emplace();
        for (const Goal g : {Goal::latency, Goal::memory, Goal::quality})
            (*f.balance)[static_cast<std::size_t>(g)] = j["balance"].at(std::string(plan::goal_name(g)));
    }
    return f;
}

void read_limits(Report& r, const Json& j) {
    Constraints& c = r.limits;
    c.max_memory = Bytes(j.at("max_memory_bytes").get<std::int64_t>());
    c.min_decode = j.at("min_decode_tokens_per_second");
    c.max_ttft = j.at("max_ttft_seconds");
    c.max_job = j.at("max_job_seconds");
    c.max_load = j.at("max_load_seconds");
    c.max_energy = j.at("max_energy_joules");
    c.min_context = j.at("min_context");
    c.min_quality = j.at("min_quality");
    c.confidence = j.at("confidence");
    const auto demand = [&](bool asked, std::string text) {
        if (asked) r.demands.push_back(std::move(text));
    };
    demand(c.max_memory.value > 0, "at most " + bytes_text(c.max_memory));
    demand(c.min_decode > 0, fmt::format("at least {:.3g} tokens/s", c.min_decode));
    demand(c.max_ttft > 0, "first token within " + seconds_text(Seconds(c.max_ttft)));
    demand(c.max_job > 0, "job within " + seconds_text(Seconds(c.max_job)));
    demand(c.max_load > 0, "loaded within " + seconds_text(Seconds(c.max_load)));
    demand(c.max_energy > 0, fmt::format("at most {:.3g} J a token", c.max_energy));
    demand(c.min_context > 0, fmt::format("at least {} tokens of context", count_text(c.min_context)));
    demand(c.min_quality > 0, fmt::format("at least {:.3g} % of tokens kept", 100 * c.min_quality));
    demand(c.confidence != 0.5, fmt::format("met with {:.3g} % confidence", 100 * c.confidence));
}

std::string sentence(const Found& f) {
    const plan::Candidate& c = f.candidate;
    std::string out =
        fmt::format("{}: needs {} of {}", f.label(), view::text(c.needed), bytes_text(c.budget));
    if (c.timed)
        out += fmt::format(", decodes {} tokens/s ({}), first token after {}, job in {}",
                           view::text(c.decode), view::range_text(c.decode),
                           seconds_text(c.first_token.central), seconds_text(c.job.central));
    return out + (c.loss.known() ? fmt::format("; {} differs", view::kept_text(c)) : "; quality unknown");
}

}  // namespace

void read_recommendation(Report& r, const Json& j) {
    r.model = j.at("model").get<std::string>();
    r.device = j.at("device").get<std::string>();
    r.command = j.at("command").get<std::string>();
    r.priority = by_name<Goal>(j.at("priority").get<std::string>(), plan::kGoals, plan::goal_name);
    read_limits(r, j.at("limits"));
    r.demands.push_back(fmt::format("what counts most: {}", plan::goal_name(r.priority)));
    for (const Json& c : j.at("candidates")) r.found.push_back(found_of(c));
    for (const Json& i : j.at("front")) r.found.at(i.get<std::size_t>()).front = true;
    for (const auto& [name, answer] : j.at("answers").items()) {
        const auto at = answer.at("candidate").get<std::size_t>();
        r.found.at(at);  // throws for an index that does not exist
        const auto goal = by_name<Goal>(name, plan::kGoals, plan::goal_name);
        r.best[static_cast<std::size_t>(goal)] = static_cast<std::int64_t>(at);
        if (goal == r.priority) r.command = answer.at("command").get<std::string>();
    }
    for (const Json& note : j.value("notes", Json::array())) r.warnings.push_back(note.get<std::string>());
    for (const Json& f : j.at("failures"))
        r.failures.emplace_back(f.at("option").get<std::string>(), f.at("reason").get<std::string>());

    r.question = fmt::format("How should {} run on {}?", r.model, r.device);
    const std::int64_t best = r.best[static_cast<std::size_t>(r.priority)];
    const std::int64_t shown = best >= 0 ? best : closest(r);
    if (shown < 0) throw Error("", "no candidates", "a search of at least one");
    const Found& f = r.found[static_cast<std::size_t>(shown)];
    r.verdict = best >= 0 ? "fits" : "does_not_fit";
    r.answer = (best >= 0 ? "" : "Nothing meets the demands. The closest is ") + sentence(f);
    r.context = f.candidate.context;
    r.context_budget = f.candidate.budget.as_double();
    for (const Found& other : r.found)
        if (other.recipe == f.recipe && other.draft == f.draft && other.kv_k == f.kv_k &&
            other.kv_v == f.kv_v && other.candidate.sequences == f.candidate.sequences &&
            other.candidate.verdict != plan::Verdict::unsupported &&
            (r.curve.empty() || other.candidate.context > r.curve.back().context))
            r.curve.push_back({static_cast<double>(other.candidate.context),
                               {},
                               other.candidate.needed,
                               other.candidate.decode_known,
                               other.candidate.decode});
    r.curve_from_search = true;
}

}  // namespace memwall::cli
