#include "core/plan/curves.h"

#include <algorithm>
#include <cmath>

namespace memwall::plan {
namespace {

/// The same plan at another context: a prompt that no longer fits is cut.
Knobs at_context(Knobs k, std::int64_t context) {
    k.context = context;
    k.engine_context = 0;
    k.prompt = std::min(k.prompt, k.context);
    k.cached_prompt = std::min(k.cached_prompt, k.prompt - 1);
    return k;
}

}  // namespace

Part part_of(Item item) {
    constexpr std::array<Part, kItems> parts{Part::weights,  Part::kv,      Part::state, Part::compute,
                                             Part::compute,  Part::weights, Part::draft, Part::overhead,
                                             Part::overhead, Part::overhead};
    return parts[static_cast<std::size_t>(item)];
}

Parts parts_needed(const std::array<double, kItems>& items, double used, double needed) {
    Parts parts{};
    for (std::size_t i = 0; i < kItems; ++i)
        parts[static_cast<std::size_t>(part_of(static_cast<Item>(i)))] += items[i];
    double& weights = parts[static_cast<std::size_t>(Part::weights)];
    weights = std::max(0.0, weights - std::max(0.0, used - needed));
    return parts;
}

Parts parts_needed(const PoolUse& pool) {
    std::array<double, kItems> items{};
    for (std::size_t n = 0; n < kItems; ++n) items[n] = pool.items[n].central.as_double();
    return parts_needed(items, pool.used.central.as_double(), pool.needed.central.as_double());
}

std::int64_t context_axis_end(const Prepared& p, const Knobs& k, const Advice& advice) {
    const std::int64_t trained = p.model.trained_context > 0 ? p.model.trained_context : 1 << 20;
    const std::int64_t interesting =
        std::max({advice.max_context_tokens * 3 / 2, k.context * 2, std::int64_t{4096}});
    return std::max(std::min(trained, interesting), k.context);
}

std::vector<ContextPoint> context_curve(const Prepared& p, const Knobs& k, const Target& t, std::size_t pool,
                                        std::int64_t last, int points) {
    std::vector<ContextPoint> curve;
    for (int i = 0; i < points; ++i) {
        const std::int64_t context = std::max<std::int64_t>(256, last * i / (points - 1));
        if (!curve.empty() && context <= curve.back().context) continue;
        const Plan at = evaluate(p, at_context(k, context), t);
        const PoolUse& use = at.memory.pools[pool];
        curve.push_back({context, parts_needed(use), use.needed, at.speed.decode_known, at.speed.decode});
    }
    return curve;
}

Bytes kv_bytes_per_token(const Prepared& p, const Knobs& k) {
    Bytes bytes;
    for (const memory::KvGroup& g : p.kv_groups)
        if (g.window == 0 && g.fixed_cells == 0)
            bytes += memory::kv_token_bytes(g, k.kv_k, k.kv_v) * g.layers;
    return bytes;
}

std::vector<PromptPoint> prompt_curve(const Prepared& p, const Knobs& knobs, const Target& t,
                                      std::int64_t first, std::int64_t last, int points) {
    std::vector<PromptPoint> curve;
    const double ratio = static_cast<double>(last) / static_cast<double>(first);
    for (int i = 0; i < points; ++i) {
        Knobs k = knobs;
        k.prompt =
            std::llround(static_cast<double>(first) * std::pow(ratio, static_cast<double>(i) / (points - 1)));
        k.cached_prompt = std::min(k.cached_prompt, k.prompt - 1);
        if (!curve.empty() && k.prompt <= curve.back().prompt) continue;
        const Plan at = evaluate(p, k, t);
        if (!at.speed.prefill_known) return {};
        curve.push_back({k.prompt, at.speed.first_token});
    }
    return curve;
}

}  // namespace memwall::plan
