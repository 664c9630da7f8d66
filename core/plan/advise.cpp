#include "core/plan/advise.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/base/size_text.h"
#include "core/plan/auto_placement.h"
#include "core/plan/placement.h"

namespace memwall::plan {
namespace {

constexpr std::int64_t kEndless = std::int64_t{1} << 31;  // engines count cells in 32 bits

/// Whether the knobs fit, and how tightly.
struct Trial {
    Knobs knobs;
    bool fits = false;
    Interval<Bytes> needed;
    Bytes budget;
};

Trial attempt(const Prepared& p, const Knobs& k, const Target& t) {
    const Plan plan = evaluate(p, k, t);
    return {k, plan.verdict == Verdict::fits, plan.memory.pools[plan.memory.deciding_pool].needed,
            plan.memory.budget};
}

/// The largest n in [low, high] for which `fits` holds, given that it holds up to some n and not beyond; low
/// - 1 if none.
template <class Fits>
std::int64_t largest(std::int64_t low, std::int64_t high, Fits fits) {
    if (high < low || !fits(low)) return low - 1;
    while (low < high) {
        const std::int64_t mid = low + (high - low + 1) / 2;
        fits(mid) ? low = mid : high = mid - 1;
    }
    return low;
}

std::string effect(const Trial& trial) {
    return fmt::format("needs {} of {}", bytes_text(trial.needed.high), bytes_text(trial.budget));
}

Knobs with_context(Knobs k, std::int64_t context) {
    k.context = context;
    k.engine_context = 0;
    k.prompt = std::min(k.prompt, context);
    k.cached_prompt = std::min(k.cached_prompt, k.prompt - 1);
    return k;
}

void suggest_context(Advice& a, const Knobs& k) {
    // A round number is easier to live with than the exact limit; max_context_tokens says the exact one.
    const std::int64_t most = a.max_context_tokens;
    if (most <= 0 || most >= k.context) return;
    const std::int64_t step = most >= 8192 ? 1024 : most >= 1024 ? 256 : 1;
    a.suggestions.push_back(
        {"--context", fmt::format("{}", k.context), fmt::format("{}", most / step * step), ""});
}

void suggest_kv(Advice& a, const Prepared& p, const Knobs& k, const Target& t) {
    for (const std::string& name : p.runtime.profile->kv_types) {
        const auto type = quant::parse_kv_type(name);
        if (!type || *type == k.kv_k) continue;
        Knobs trial = k;
        trial.kv_k = trial.kv_v = *type;
        if (!trial.flash_attention && type->block_len > 1) continue;
        try {
            const Trial r = attempt(p, trial, t);
            if (r.fits) {
                a.suggestions.push_back({"--kv", std::string(k.kv_k.name), name, effect(r)});
                return;  // types are listed from fine to coarse: the first that fits is the smallest change
            }
        } catch (const Error&) {
            continue;  // a head that does not divide into this type's blocks
        }
    }
}

void suggest_number(Advice& a, const Prepared& p, const Knobs& k, const Target& t, const char* option,
                    std::int64_t Knobs::*field, std::int64_t least, std::int64_t most) {
    const std::int64_t n = largest(least, most, [&](std::int64_t value) {
        Knobs trial = k;
        trial.*field = value;
        return attempt(p, trial, t).fits;
    });
    if (n < least) return;
    Knobs trial = k;
    trial.*field = n;
    const std::string from = k.*field < 0 ? "all" : fmt::format("{}", k.*field);
    a.suggestions.push_back({option, from, fmt::format("{}", n), effect(attempt(p, trial, t))});
}

void suggest_engine(Advice& a, const Prepared& p, const Knobs& k, const Target& t) {
    struct Change {
        const char* to;
        bool applies;
        void (*make)(Knobs&);
    };
    const Change changes[] = {
        {"n_outputs_max=1", p.runtime.profile->output_buffer && k.outputs_max == 0 && k.sequences == 1,
         [](Knobs& x) { x.outputs_max = 1; }},
        {"repack=off", k.repack && t.repacked.value > 0, [](Knobs& x) { x.repack = false; }},
    };
    for (const Change& c : changes) {
        if (!c.applies) continue;
        Knobs trial = k;
        c.make(trial);
        const Trial r = attempt(p, trial, t);
        if (r.fits) a.suggestions.push_back({"--runtime-option", "", c.to, effect(r)});
    }
}

void suggest_recipe(Advice& a, const Prepared& p, const Knobs& k, const Target& t) {
    if (p.recipe_from_file && p.deployment.model.empty()) return;
    struct Candidate {
        std::string name;
        std::int64_t bytes;
    };
    std::vector<Candidate> smaller;
    for (const std::string& name : p.runtime.profile->suggested_recipes) {
        try {
            const auto formats = quant::assign(quant::parse_recipe(name), p.model);
            const std::int64_t bytes = quant::weights_bytes(p.model, formats).value;
            if (bytes < p.weights.total.central.value) smaller.push_back({name, bytes});
        } catch (const Error&) {
            continue;  // a recipe that this model's shapes do not take
        }
    }
    std::sort(smaller.begin(), smaller.end(),
              [](const Candidate& x, const Candidate& y) { return x.bytes > y.bytes; });
    // Fits is monotone in size but for repacked copies, so look from the large end and stop at the first.
    for (const Candidate& c : smaller) {
        Deployment d = p.deployment;
        d.quant = c.name;
        d.set.clear();  // what-ifs are in the model already
        d.draft.clear();
        if (c.bytes > a.weights_limit.value) continue;
        const Prepared other = prepare(p.model, d);
        const Target aimed = aim(other, t.device);
        const Trial r = attempt(other, k, aimed);
        if (!r.fits) continue;
        a.suggestions.push_back({"--quant", p.recipe, c.name, effect(r)});
        return;
    }
}

/// Spilling is no suggestion while nobody knows what the host has room for.
void hint_at_host(Advice& a, const Prepared& p, const Knobs& k, const Target& t) {
    const Plan spilled = evaluate(p, spill(p, t, k, true), t);
    if (spilled.reason != Reason::pool_size_unknown || spilled.memory.deciding_pool == 0) return;
    const PoolUse& host = spilled.memory.pools[1];
    a.warnings.push_back({"host_memory_unknown",
                          fmt::format("--offload auto would leave {} to the host, whose memory is unknown: "
                                      "--set device.{}=SIZE says whether that fits",
                                      bytes_text(host.needed.high), host.name)});
}

void warn(Advice& a, const Prepared& p, const Knobs& k, const Target& t, const Plan& plan) {
    for (const std::string& w : p.warnings) a.warnings.push_back({"model", w});
    if (p.draft && !p.model.family.empty() && !p.draft->model.family.empty() &&
        p.draft->model.family != p.model.family)
        a.warnings.push_back({"draft_family", fmt::format("{} and its draft {} are of different families: "
                                                          "drafting needs the same tokenizer",
                                                          p.model.id, p.draft->model.id)});
    if (p.model.trained_context > 0 && k.context > p.model.trained_context)
        a.warnings.push_back({"context_beyond_training",
                              fmt::format("the model was trained for {} tokens; {} is beyond that",
                                          count_text(p.model.trained_context), count_text(k.context))});
    if (plan.speed.speculative && plan.speed.decode.central < plan.speed.plain_decode.central)
        a.warnings.push_back({"draft_loses", "at the expected acceptance the draft makes decoding slower"});
    if (plan.speed.speculative && k.draft_tokens > 3)
        a.warnings.push_back({"draft_too_long",
                              "measured gains fade beyond 3 drafted tokens (Qwen3.5-4B on a Radeon 890M: "
                              "1.35x at 2, 1.12x at 4, 0.29x at 6)"});
    if (k.window > 0 && p.replay)
        a.warnings.push_back(
            {"window_forced", fmt::format("{} keeps no window of its own choosing; planned as if it did",
                                          p.runtime.profile->name)});
    if (!p.runtime.release_known)
        a.warnings.push_back({"release_unknown", fmt::format("{} {} was not read; numbers are those of {}",
                                                             p.runtime.profile->name, p.runtime.release,
                                                             p.runtime.profile->release)});
    if (!plan.speed.decode_known && plan.verdict != Verdict::unsupported)
        a.warnings.push_back(
            {"speed_unknown",
             "no memory bandwidth or no prior is known for this processor, so no speed is given"});
    if (plan.memory.pools[0].droppable.high.value > 0 && plan.memory.total.low > plan.memory.budget &&
        plan.verdict == Verdict::fits)
        a.warnings.push_back(
            {"tight_load",
             "fits because file pages are dropped once copied; loading is slower than the storage"});
    const device::Pool& pool = t.device.pools[t.pool];
    if (pool.max_mapping.value > 0 && k.mmap && p.runtime.profile->weights_mapped &&
        p.weights.total.central > pool.max_mapping)
        a.warnings.push_back(
            {"mapping_limit",
             fmt::format("one process can map about {} on this device; split the file or turn mmap off",
                         bytes_text(pool.max_mapping))});
    for (const device::UsableVariant& v : pool.variants)
        if (t.budget_override.value == 0 && v.usable < pool.usable &&
            v.usable - t.reserve < plan.memory.pools[0].needed.high)
            a.warnings.push_back({"usable_variant", fmt::format("{} one process may use only {}", v.condition,
                                                                bytes_text(v.usable))});
}

}  // namespace

std::int64_t max_context_tokens(const Prepared& p, const Knobs& k, const Target& t, std::int64_t limit) {
    return largest(1, limit,
                   [&](std::int64_t context) { return attempt(p, with_context(k, context), t).fits; });
}

std::int64_t kv_exceeds_weights_at_tokens(const Prepared& p, const Knobs& k) {
    const Bytes weights = p.weights.total.central;
    const auto below = [&](std::int64_t context) {
        const Knobs at = with_context(k, context);
        return memory::kv_cache_bytes(p.kv_groups, kv_cells(p, at), k.kv_k, k.kv_v) +
                   p.recurrent_per_sequence * k.sequences <=
               weights;
    };
    if (p.kv_groups.empty()) return 0;
    const std::int64_t last = largest(1, kEndless / k.sequences, below);
    return last >= kEndless / k.sequences ? 0 : last + 1;
}

std::string reason_text(const Prepared& p, const Knobs& k, const Target& t, const Plan& plan) {
    const PoolUse& pool = plan.memory.pools[plan.memory.deciding_pool];
    const std::string context = fmt::format("{} tokens{}", count_text(k.context),
                                            k.sequences > 1 ? fmt::format(" x {}", k.sequences) : "");
    switch (plan.reason) {
        case Reason::fits:
            return fmt::format("needs {} of the {} of {} one process may use; {} left",
                               bytes_text(pool.needed.high), bytes_text(pool.budget), pool.name,
                               bytes_text(plan.memory.headroom.low));
        case Reason::pool_full:
            return fmt::format("needs at least {} of {}, one process may use {}: {} too much at {}",
                               bytes_text(pool.needed.low), pool.name, bytes_text(pool.budget),
                               bytes_text(pool.needed.low - pool.budget), context);
        case Reason::pool_uncertain:
            return fmt::format("needs {} to {} of {}, and one process may use {}",
                               bytes_text(pool.needed.low), bytes_text(pool.needed.high), pool.name,
                               bytes_text(pool.budget));
        case Reason::allocation_limit:
            return fmt::format(
                "one buffer of the plan is larger than the {} that this processor's driver gives out at once",
                bytes_text(t.largest_allocation));
        case Reason::pool_size_unknown:
            return plan.memory.deciding_pool == 0
                       ? fmt::format("needs {}; how much memory {} has is unknown, say --budget",
                                     bytes_text(pool.needed.high), t.device.name)
                       : fmt::format(
                             "the {} holds its part, and {} are left to the host, whose memory is "
                             "unknown: say --set device.{}=SIZE",
                             plan.memory.pools[0].name, bytes_text(pool.needed.high), pool.name);
        case Reason::runtime_processor:
            return fmt::format("{} does not run on this processor", p.runtime.profile->name);
        case Reason::recipe:
            return fmt::format("{} does not load {} files; 'memwall runtimes {}' lists what it does",
                               p.runtime.profile->name, p.recipe, p.runtime.profile->name);
        case Reason::npu_routing:
            return fmt::format("{} routes tokens to experts, which compiled NPU programs cannot", p.model.id);
        default:
            return "unsupported";
    }
}

Advice advise(const Prepared& p, const Knobs& k, const Target& t, const Plan& plan) {
    Advice a;
    a.reason = reason_text(p, k, t, plan);
    warn(a, p, k, t, plan);
    a.kv_exceeds_weights_at_tokens = kv_exceeds_weights_at_tokens(p, k);
    if (plan.verdict == Verdict::unsupported || plan.reason == Reason::pool_size_unknown) return a;

    const std::int64_t limit =
        p.model.trained_context > 0 ? p.model.trained_context : std::max<std::int64_t>(k.context, 1 << 20);
    a.max_context_tokens = max_context_tokens(p, k, t, limit);
    a.max_context_is_trained = a.max_context_tokens == p.model.trained_context;
    if (plan.verdict == Verdict::fits) return a;

    const PoolUse& pool = plan.memory.pools[plan.memory.deciding_pool];
    a.weights_limit =
        plan.memory.items[static_cast<std::size_t>(Item::weights)].central - (pool.needed.low - pool.budget);
    suggest_context(a, k);
    if (!a.suggestions.empty()) {
        auto& first = a.suggestions.front();
        first.effect = effect(attempt(p, with_context(k, parse_count(first.to, "")), t));
    }
    suggest_kv(a, p, k, t);
    suggest_engine(a, p, k, t);
    if (k.sequences > 1) suggest_number(a, p, k, t, "--sequences", &Knobs::sequences, 1, k.sequences - 1);
    if (k.ubatch > 64) suggest_number(a, p, k, t, "--ubatch", &Knobs::ubatch, 64, k.ubatch / 2);
    if (t.discrete)
        suggest_number(a, p, k, t, "--gpu-layers", &Knobs::gpu_layers, 0,
                       static_cast<std::int64_t>(p.model.layers.size()));
    suggest_recipe(a, p, k, t);
    if (t.discrete) hint_at_host(a, p, k, t);
    if (a.suggestions.empty())
        a.warnings.push_back(
            {"no_single_change", "no single change of context, cache, recipe or placement makes it fit"});
    return a;
}

}  // namespace memwall::plan
