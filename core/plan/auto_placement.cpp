#include "core/plan/auto_placement.h"

#include <algorithm>
#include <optional>

namespace memwall::plan {
namespace {

struct Candidate {
    Knobs knobs;
    double tokens_per_second;
};

/// Memory of unknown size does not refuse a placement; the verdict will say that it is unknown.
bool may_hold(const Plan& plan) {
    return plan.verdict == Verdict::fits || plan.reason == Reason::pool_size_unknown;
}

/// The most layers that fit beside what `knobs` puts there. The verdict is monotone in the layers.
std::optional<Candidate> most_layers(const Prepared& p, const Target& t, Knobs knobs) {
    std::int64_t fits = -1, beyond = static_cast<std::int64_t>(p.model.layers.size()) + 2;
    double speed = 0;
    while (beyond - fits > 1) {
        // Everything on the card is tried first: then nothing has to be searched.
        const std::int64_t middle = fits < 0 && beyond == static_cast<std::int64_t>(p.model.layers.size()) + 2
                                        ? beyond - 1
                                        : (fits + beyond) / 2;
        knobs.gpu_layers = middle;
        const Plan plan = evaluate(p, knobs, t);
        if (may_hold(plan)) {
            fits = middle;
            speed = plan.speed.decode_known ? plan.speed.decode.central.value : 0;
        } else {
            beyond = middle;
        }
    }
    if (fits < 0) return {};
    knobs.gpu_layers = fits;
    return Candidate{knobs, speed};
}

}  // namespace

Knobs place_automatically(const Prepared& p, const Target& t, Knobs knobs) {
    const Deployment& d = p.deployment;
    if (!t.discrete || (d.gpu_layers != "auto" && d.offload != "auto")) return knobs;
    return spill(p, t, knobs, d.offload == "auto");
}

Knobs spill(const Prepared& p, const Target& t, Knobs knobs, bool beyond_layers) {
    const bool experts = std::any_of(p.model.layers.begin(), p.model.layers.end(),
                                     [](const model::Layer& l) { return l.experts.has_value(); });
    const std::int64_t everything = static_cast<std::int64_t>(p.model.layers.size()) + 1;
    std::optional<Candidate> best;
    for (const bool experts_on_host : {false, true}) {
        for (const bool kv_on_host : {false, true}) {
            // What the user placed by hand stays there; only --offload auto moves more than layers.
            if ((experts_on_host && !knobs.experts_on_host && !(beyond_layers && experts)) ||
                (kv_on_host && !knobs.kv_on_host && !beyond_layers) ||
                (knobs.experts_on_host && !experts_on_host) || (knobs.kv_on_host && !kv_on_host))
                continue;
            Knobs tried = knobs;
            tried.experts_on_host = experts_on_host;
            tried.kv_on_host = kv_on_host;
            const std::optional<Candidate> found = most_layers(p, t, tried);
            if (found && (!best || found->tokens_per_second > best->tokens_per_second)) best = found;
            if (best && best->knobs.gpu_layers == everything && !experts_on_host && !kv_on_host)
                return best->knobs;
        }
    }
    if (best) return best->knobs;
    knobs.gpu_layers = 0;
    return knobs;
}

}  // namespace memwall::plan
