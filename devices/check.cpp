#include "devices/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/parallel.h"
#include "core/base/size_text.h"
#include "core/base/version.h"
#include "core/model/catalog.h"
#include "core/plan/co_resident.h"
#include "core/plan/options.h"
#include "core/plan/search.h"

namespace memwall::devices {
namespace {

using plan::Constraints;

/// How an interval stands to a limit from above: below it, above it, or around it.
Outcome under(double low, double high, double limit) {
    return high <= limit ? Outcome::passed : low > limit ? Outcome::failed : Outcome::undecided;
}

template <class T>
Outcome judge(const Interval<T>& x, double limit, bool from_above, const plan::Check& c) {
    const auto v = [](T t) { return static_cast<double>(t.value); };
    if (c.decided) {
        const double p = from_above ? c.limits.confidence : 1 - c.limits.confidence;
        const double q = plan::quantile(v(x.low), v(x.central), v(x.high), x.level, p);
        return (from_above ? q <= limit : q >= limit) ? Outcome::passed : Outcome::failed;
    }
    return from_above ? under(v(x.low), v(x.high), limit) : under(-v(x.high), -v(x.low), -limit);
}

std::string range(double low, double central, double high) {
    return low == high ? fmt::format("{:.3g}", central)
                       : fmt::format("{:.3g} ({:.3g} - {:.3g})", central, low, high);
}

struct Planner {
    const plan::Check& check;
    CheckResult& result;
    std::vector<Planned> plans;

    void add(std::string limit, Outcome outcome, std::string text) {
        result.judgements.push_back({std::move(limit), outcome, std::move(text)});
    }

    void judge_fit(plan::Verdict verdict, const Interval<Bytes>& needed, Bytes budget) {
        using plan::Expectation;
        using plan::Verdict;
        const std::string text =
            verdict == Verdict::unsupported || plans.front().plan.reason == plan::Reason::pool_size_unknown
                ? plans.front().advice.reason
                : fmt::format("needs {} of {}",
                              needed.is_exact() ? bytes_text(needed.central)
                                                : bytes_text(needed.low) + " to " + bytes_text(needed.high),
                              bytes_text(budget));
        result.summary = text;
        if (check.expectation == Expectation::any) return;
        const bool fit = check.expectation == Expectation::must_fit;
        Outcome o = verdict == Verdict::too_close_to_call ? Outcome::undecided
                    : (verdict == Verdict::fits) == fit   ? Outcome::passed
                                                          : Outcome::failed;
        add(std::string(plan::expectation_name(check.expectation)), o, text);
    }

    void judge_limits(const Interval<Bytes>& needed, Bytes budget) {
        const Constraints& l = check.limits;
        const double tighter = 1 - check.margin, looser = 1 + check.margin;
        if (l.max_memory.value > 0)
            add("max_memory", judge(needed, l.max_memory.as_double() * tighter, true, check),
                fmt::format("needs {}, {} allowed", bytes_text(needed.high), bytes_text(l.max_memory)));
        if (check.min_headroom.value > 0)
            add("min_headroom",
                judge(needed, budget.as_double() - check.min_headroom.as_double() * looser, true, check),
                fmt::format("leaves {}, {} asked", bytes_text(budget - needed.high),
                            bytes_text(check.min_headroom)));
        for (const Planned& p : plans) judge_one(p, tighter, looser);
    }

    void judge_one(const Planned& p, double tighter, double looser) {
        const Constraints& l = check.limits;
        const plan::Speed& s = p.plan.speed;
        const std::string who = plans.size() > 1 ? p.prepared.model.id + ": " : "";
        const auto rate = [&](const char* name, bool known, const auto& x, double limit, bool from_above,
                              const char* unit, const char* what) {
            if (limit <= 0) return;
            if (!known) {
                add(name, Outcome::undecided, who + "unknown for this device");
                return;
            }
            add(name, judge(x, from_above ? limit * tighter : limit * looser, from_above, check),
                fmt::format("{}{} {}{}, {:.3g} {} {}", who, range(x.low.value, x.central.value, x.high.value),
                            unit, what, limit, unit, from_above ? "allowed" : "asked"));
        };
        rate("min_decode", s.decode_known, s.decode, l.min_decode, false, "tokens/s", "");
        rate("max_ttft", s.prefill_known, s.first_token, l.max_ttft, true, "s", " to the first token");
        rate("max_job", s.prefill_known, s.job, l.max_job, true, "s", " for the job");
        rate("max_load", s.load_known, s.load, l.max_load, true, "s", " to load");
        rate("max_energy", s.energy_known, s.energy_per_token, l.max_energy, true, "J", " a token");
        if (l.min_context > 0)
            add("min_context", p.knobs.context >= l.min_context ? Outcome::passed : Outcome::failed,
                fmt::format("{}{} tokens, {} asked", who, count_text(p.knobs.context),
                            count_text(l.min_context)));
        if (check.min_max_context > 0)
            add("min_max_context",
                p.advice.max_context_tokens >= static_cast<std::int64_t>(std::ceil(
                                                   static_cast<double>(check.min_max_context) * looser))
                    ? Outcome::passed
                    : Outcome::failed,
                fmt::format("{}{} tokens fit, {} asked", who, count_text(p.advice.max_context_tokens),
                            count_text(check.min_max_context)));
        if (l.min_quality > 0) {
            const auto& d = p.plan.loss.top1_disagreement;
            const double most = 1 - l.min_quality;
            if (!p.plan.loss.known())
                add("min_quality", Outcome::undecided, who + "no estimate");
            else
                add("min_quality",
                    check.decided
                        ? (plan::quantile(d.low, d.central, d.high, 0.8, check.limits.confidence) <= most
                               ? Outcome::passed
                               : Outcome::failed)
                        : under(d.low, d.high, most),
                    fmt::format("{}{:.1f} % of tokens kept ({:.1f} - {:.1f}), {:.1f} % asked", who,
                                100 * (1 - d.central), 100 * (1 - d.high), 100 * (1 - d.low),
                                100 * l.min_quality));
        }
    }

    void take_figures(const Interval<Bytes>& needed) {
        Figures& f = result.figures;
        f.catalogue = true;
        f.bytes["needed"] = needed.high.value;
        for (const Planned& p : plans) {
            const model::Model& m = p.prepared.model;
            for (std::size_t i = 0; i < plan::kItems; ++i)
                if (const std::int64_t v = p.plan.memory.items[i].high.value; v != 0)
                    f.bytes[std::string(plan::item_name(static_cast<plan::Item>(i)))] += v;
            const std::string who = plans.size() > 1 ? m.id + " " : "";
            f.facts[who + "model"] = m.id;
            f.facts[who + "recipe"] = p.prepared.recipe;
            f.facts[who + "vocabulary"] = count_text(m.vocabulary);
            f.facts[who + "layers"] = count_text(static_cast<std::int64_t>(m.layers.size()));
            f.facts[who + "hidden size"] = count_text(m.hidden);
            f.facts[who + "parameters"] = count_text(model::text_parameters(m));
            f.facts[who + "context"] = count_text(p.knobs.context);
            f.facts[who + "KV types"] = fmt::format("{}/{}", p.knobs.kv_k.name, p.knobs.kv_v.name);
            f.facts[who + "sequences"] = count_text(p.knobs.sequences);
            f.facts[who + "runtime"] = p.prepared.runtime.profile->name + " " + p.prepared.runtime.release;
            if (p.plan.speed.decode_known)
                f.rates[who + "decode_tokens_per_second"] = p.plan.speed.decode.central.value;
            if (p.plan.speed.prefill_known)
                f.rates[who + "time_to_first_token_seconds"] = p.plan.speed.first_token.central.value;
            const auto ids = model::catalog_ids();
            f.catalogue =
                f.catalogue && std::find(ids.begin(), ids.end(), p.prepared.deployment.model) != ids.end();
        }
        f.facts["budget"] = bytes_text(plans.front().plan.memory.budget);
    }

    void run() {
        for (const plan::Deployment& d : check.deployments) plans.push_back(make_plan(d));
        result.command = plan::command_line(check.deployments.front());
        const Planned& first = plans.front();
        Interval<Bytes> needed = first.plan.memory.pools[first.plan.memory.deciding_pool].needed;
        Bytes budget = first.plan.memory.budget;
        plan::Verdict verdict = first.plan.verdict;
        if (plans.size() > 1) {
            std::vector<plan::Plan> all;
            for (const Planned& p : plans) all.push_back(p.plan);
            const plan::CoResidence shared = plan::together(all);
            needed = shared.needed, budget = shared.budget, verdict = shared.verdict;
        }
        judge_fit(verdict, needed, budget);
        judge_limits(needed, budget);
        take_figures(needed);
        for (const Judgement& j : result.judgements) {
            if (j.outcome == Outcome::failed) result.outcome = Outcome::failed;
            if (j.outcome == Outcome::undecided && result.outcome == Outcome::passed)
                result.outcome = Outcome::undecided;
        }
    }
};

std::string signed_bytes(std::int64_t delta) {
    return (delta < 0 ? "-" : "+") + bytes_text(Bytes(std::abs(delta)));
}

std::string words(std::string name) {
    std::replace(name.begin(), name.end(), '_', ' ');
    return name;
}

}  // namespace

std::string_view outcome_name(Outcome o) {
    constexpr std::string_view kNames[] = {"passed", "failed", "undecided"};
    return kNames[static_cast<std::size_t>(o)];
}

std::vector<CheckResult> run_checks(const plan::BudgetFile& file) {
    std::vector<CheckResult> results(file.checks.size());
    parallel_for(results.size(), [&](std::size_t i) {
        results[i].check = &file.checks[i];
        try {
            Planner{file.checks[i], results[i], {}}.run();
        } catch (const Error& e) {
            results[i].outcome = Outcome::failed;
            results[i].error = e.what();
        }
    });
    return results;
}

std::vector<Difference> compare(const std::vector<CheckResult>& results, const Baseline& baseline) {
    std::vector<Difference> out;
    for (const CheckResult& r : results) {
        if (!r.error.empty()) continue;
        const auto it = baseline.figures.find(r.check->name + " | " + r.check->where);
        if (it == baseline.figures.end()) {
            out.push_back({r.check->name, r.check->where, "not in the baseline", false, false});
            continue;
        }
        const Figures &before = it->second, &now = r.figures;
        const auto bytes = [](const Figures& f, const std::string& name) {
            const auto found = f.bytes.find(name);
            return found == f.bytes.end() ? std::int64_t{0} : found->second;
        };
        const std::int64_t delta = bytes(now, "needed") - bytes(before, "needed");
        std::string parts;
        std::map<std::string, std::int64_t> names = before.bytes;
        names.insert(now.bytes.begin(), now.bytes.end());
        for (const auto& [name, unused] : names)
            if (const std::int64_t d = bytes(now, name) - bytes(before, name); name != "needed" && d != 0)
                parts += (parts.empty() ? "" : ", ") + words(name) + " " + signed_bytes(d);
        std::string slower;
        bool regression = delta > 0;
        for (const auto& [name, value] : now.rates) {
            const auto old = before.rates.find(name);
            if (old == before.rates.end() || old->second <= 0) continue;
            const bool time = name.ends_with("_seconds");
            const double change = value / old->second - 1;
            if (std::abs(change) < 0.01) continue;
            slower += fmt::format("; {} {:+.0f} %", words(name), 100 * change);
            regression = regression || (time ? change > 0 : change < 0);
        }
        std::string why;
        bool redeployed = false;  // the user changed what is deployed
        for (const auto& [name, value] : now.facts) {
            const auto old = before.facts.find(name);
            if (old == before.facts.end() || old->second == value) continue;
            why += (why.empty() ? "" : ", ") + fmt::format("{} {} -> {}", name, old->second, value);
            for (const char* own : {"model", "recipe", "context", "KV types", "sequences"})
                redeployed = redeployed || name.ends_with(own);
        }
        if (delta == 0 && parts.empty() && slower.empty()) continue;
        Difference d{r.check->name, r.check->where, {}, regression, false};
        d.text = (delta == 0 ? std::string("needed unchanged") : signed_bytes(delta) + " needed") +
                 (parts.empty() ? "" : " (" + parts + ")") + slower + (why.empty() ? "" : ": " + why);
        const bool updated = baseline.data_version != kDataVersion || baseline.memwall_version != kVersion;
        if (updated && now.catalogue && before.catalogue && !redeployed) {
            d.data = true;
            d.text += fmt::format(" [data of memwall {} ({}) -> {} ({})]", baseline.memwall_version,
                                  baseline.data_version, kVersion, kDataVersion);
        }
        out.push_back(std::move(d));
    }
    return out;
}

}  // namespace memwall::devices
