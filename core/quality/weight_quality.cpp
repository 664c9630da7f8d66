#include "core/quality/weight_quality.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/quality/family.h"
#include "core/quality/fit.h"
#include "core/quality/kv_rules.h"
#include "core/quality/own_rows.h"
#include "core/quality/weight_tiers.h"

namespace memwall::quality {
namespace {

constexpr double kFragileBillions = 1;  // QUALITY a.7
constexpr std::int64_t kSinks = 4;      // QUALITY a.8
constexpr double kLongContext = 3;      // long documents: 3 times the mean KLD (QUALITY a.9, Gemma-4-31B)

std::size_t index(bool rotation, KvClass keys, KvClass values) {
    return (static_cast<std::size_t>(rotation) * kKvClasses + static_cast<std::size_t>(keys)) * kKvClasses +
           static_cast<std::size_t>(values);
}

Loss with_cache(const Loss& weights, const KvEffect& cache) {
    if (!weights.known()) return weights;
    if (cache.status == Status::refused) {
        Loss refused;
        refused.reason = cache.reason;
        refused.flags = static_cast<std::uint16_t>(weights.flags | cache.flags);
        return refused;
    }
    Loss sum = weights;
    sum.status = std::max(sum.status, cache.status);
    sum.flags |= cache.flags;
    const auto plus = [](const Band& a, const Band& b) {
        return Band{a.low + b.low, a.central + b.central, a.high + b.high};
    };
    // The rows of a.7 give KLD; ln(PPL ratio) of a cache is close to it or below (a.5: ratio 0.39 to 1.1).
    sum.ln_ppl = plus(sum.ln_ppl, {0.39 * cache.kld.low, cache.kld.central, 1.1 * cache.kld.high});
    sum.ln_ppl_high95 += 1.1 * cache.kld.high;
    sum.kld = plus(sum.kld, cache.kld);
    // Weights below the noise say nothing of what the cache adds.
    if (cache.kld.high > kNoiseCeiling) sum.flags &= static_cast<std::uint16_t>(~kBelowNoise);
    if (cache.kld.high > 0) sum.top1_disagreement = top1_band(sum.kld);
    return sum;
}

Loss refuse(Loss loss, Reason reason) {
    Loss refused;
    refused.reason = loss.known() ? reason : loss.reason;
    refused.flags = loss.flags;
    return refused;
}

}  // namespace

KvClass kv_class(const quant::KvType& type) {
    const std::int32_t bytes_of_32 = 32 * type.block_bytes / type.block_len;
    if (bytes_of_32 >= 64) return KvClass::full;
    if (bytes_of_32 >= 32)
        return bytes_of_32 > 32                                ? KvClass::q8
               : type.head_bytes > 0 || type.channel_bytes > 0 ? KvClass::int8
                                                               : KvClass::fp8;
    if (bytes_of_32 >= 22) return KvClass::q5;
    return bytes_of_32 > 16 ? KvClass::q4 : KvClass::int4;
}

WeightQuality weight_quality(const model::Model& model, std::span<const quant::Format> formats,
                             const RecipeInfo& recipe, Imatrix imatrix) {
    WeightQuality w = weigh_types(model, formats);
    const std::vector<EvidenceRow> rows = rows_of_model(model, recipe);
    weigh_loss(w, model, recipe, imatrix, rows);
    const bool fragile = w.key_bias || w.sinks || w.hybrid || w.parameters < kFragileBillions;
    for (const bool rotation : {false, true})
        for (std::size_t k = 0; k < kKvClasses; ++k)
            for (std::size_t v = 0; v < kKvClasses; ++v) {
                const auto keys = static_cast<KvClass>(k), values = static_cast<KvClass>(v);
                const auto own = measured_cache(rows, keys, values, rotation);
                w.with_cache[index(rotation, keys, values)] =
                    with_cache(w.loss, own ? *own : kv_effect(keys, values, rotation, fragile, w.parameters));
            }
    return w;
}

Loss combine(const WeightQuality& w, const KvChoice& cache) {
    Loss loss = w.with_cache[index(cache.rotation, cache.keys, cache.values)];
    if (cache.window > 0 && !w.trained_windows) {
        if (cache.sinks < kSinks) return refuse(loss, Reason::window_without_sinks);
        loss.flags |= kWindowForgets;
    }
    if (cache.context > w.measured_context && loss.known()) {
        static const double long_top1 = std::pow(kLongContext, 0.423);
        loss.flags |= kContextBeyond;
        loss.ln_ppl.high *= kLongContext;
        loss.ln_ppl_high95 *= kLongContext;
        loss.kld.high *= kLongContext;
        loss.top1_disagreement.high = std::min(1.0, loss.top1_disagreement.high * long_top1);
    }
    return loss;
}

}  // namespace memwall::quality
