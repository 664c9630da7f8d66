#include "core/plan/admit.h"

#include <cmath>
#include <limits>
#include <tuple>

namespace memwall::plan {
namespace {

/// A hair beyond the candidate's own number, so that the comparison that refused it does not do so again.
constexpr double kHair = 1e-9;

template <class T>
double upper(const Interval<T>& x, double p) {
    return quantile(x.low.value, x.central.value, x.high.value, x.level, p) * (1 + kHair);
}

/// How far two candidates lie apart in what is decided by: the sum of the ratios' logarithms.
double distance(const Candidate& a, const Candidate& b) {
    const auto from = goals(a), to = goals(b);
    double sum = 0;
    for (std::size_t g = 0; g < kGoals; ++g)
        if (std::isfinite(from[g]) && std::isfinite(to[g]) && from[g] > 0 && to[g] > 0)
            sum += std::abs(std::log(to[g] / from[g]));
    return sum;
}

}  // namespace

std::vector<OptionChange> changes(const Grid& g, const Candidate& from, const Candidate& to) {
    std::vector<OptionChange> list;
    const auto add = [&](const char* option, const std::string& a, const std::string& b) {
        if (a != b) list.push_back({option, a, b});
    };
    add("runtime", g.recipes[from.recipe].runtime, g.recipes[to.recipe].runtime);
    add("quant", g.recipes[from.recipe].recipe, g.recipes[to.recipe].recipe);
    const auto draft = [&](const Candidate& c) {
        return g.drafts[c.draft].empty() ? "none" : g.drafts[c.draft];
    };
    add("draft", draft(from), draft(to));
    add("kv-k", g.kv[from.kv].first, g.kv[to.kv].first);
    add("kv-v", g.kv[from.kv].second, g.kv[to.kv].second);
    add("context", std::to_string(from.context), std::to_string(to.context));
    add("sequences", std::to_string(from.sequences), std::to_string(to.sequences));
    add("offload", from.offload ? "auto" : "none", to.offload ? "auto" : "none");
    return list;
}

Constraints relaxed(const Candidate& c, const Constraints& limits, std::vector<Broken>& moved) {
    Constraints out = limits;
    const double p = limits.confidence;
    for (const Broken one : broken_list(broken(c, limits))) {
        switch (one) {
            case kMemory:
                out.max_memory = Bytes(static_cast<std::int64_t>(std::ceil(upper(c.footprint, p))));
                break;
            case kDecode:
                out.min_decode = quantile(c.decode.low.value, c.decode.central.value, c.decode.high.value,
                                          c.decode.level, 1 - p) *
                                 (1 - kHair);
                break;
            case kFirstToken:
                out.max_ttft = upper(c.first_token, p);
                break;
            case kJob:
                out.max_job = upper(c.job, p);
                break;
            case kLoad:
                out.max_load = upper(c.load, p);
                break;
            case kEnergy:
                out.max_energy = upper(c.energy_per_token, p);
                break;
            case kContext:
                out.min_context = c.context;
                break;
            case kQuality: {
                const auto& d = c.loss.top1_disagreement;
                out.min_quality = (1 - quantile(d.low, d.central, d.high, 0.8, p)) * (1 - kHair);
                break;
            }
            case kQualityUnknown:
                out.allow_unknown_quality = true;
                break;
            default:
                continue;
        }
        moved.push_back(one);
    }
    return out;
}

SmallestChange smallest_change(const Grid& grid, std::span<const Candidate> candidates,
                               const Decision& decision, const Constraints& limits, std::size_t index) {
    SmallestChange out;
    const Candidate& self = candidates[index];
    std::tuple<std::size_t, double> best{std::numeric_limits<std::size_t>::max(), 0};
    for (const std::uint32_t i : decision.admitted) {
        const std::tuple<std::size_t, double> key{changes(grid, self, candidates[i]).size(),
                                                  distance(self, candidates[i])};
        if (out.candidate >= 0 && !(key < best)) continue;
        best = key;
        out.candidate = i;
    }
    if (out.candidate >= 0)
        out.options = changes(grid, self, candidates[static_cast<std::size_t>(out.candidate)]);
    std::vector<Broken> moved;
    out.limits = relaxed(self, limits, moved);
    if (broken(self, out.limits) == 0)
        out.moved = std::move(moved);
    else
        out.limits = limits;
    return out;
}

}  // namespace memwall::plan
