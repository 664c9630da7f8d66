#include "core/quality/weight_tiers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "core/quality/family.h"
#include "core/quality/fit.h"

namespace memwall::quality {
namespace {

bool is_block_linear(const model::Tensor& t) {
    using enum model::Role;
    if (t.layer < 0 || t.auxiliary) return false;
    switch (t.role) {
        case attn_q:
        case attn_k:
        case attn_v:
        case attn_qkv:
        case attn_output:
        case attn_gate:
        case attn_q_a:
        case attn_q_b:
        case attn_kv_a:
        case attn_kv_b:
        case attn_k_b:
        case attn_v_b:
        case ffn_gate:
        case ffn_up:
        case ffn_down:
        case expert_gate:
        case expert_up:
        case expert_down:
        case shared_gate:
        case shared_up:
        case shared_down:
        case recurrent_in:
        case recurrent_out:
        case cross_attention:
            return true;
        default:
            return false;
    }
}

constexpr double kNoiseFloor = 0.003;    // QUALITY a.3: below it the log error is meaningless,
constexpr double kNoiseCeiling = 0.005;  // "below 0.5 %"
constexpr double kKldFloor = 2.5e-5;     // BF16 against F16 (QUALITY a.5)
constexpr double kTop1Floor = 0.0026;

Band times(double central, double factor) {
    return {central / factor, central, central * factor};
}

void refuse(WeightQuality& w, Reason reason) {
    w.loss.status = Status::refused;
    w.loss.reason = reason;
}

/// Nothing is quantized, or the weights are as they were trained.
bool is_whole(const WeightQuality& w, const FamilyFacts& family) {
    return std::all_of(w.types.begin(), w.types.end(), [&](const TypeShare& t) {
        return t.loss == 0 || is_training_format(family, t.format);
    });
}

void set_whole(WeightQuality& w) {
    w.loss.status = Status::measured;  // q0001: F16 against BF16
    w.loss.flags |= kBelowNoise;
    w.loss.ln_ppl = {0, 0, 4e-4};
    w.loss.ln_ppl_high95 = 4e-4;
    w.loss.kld = {0, 0, kKldFloor};
    w.loss.top1_disagreement = {0, 0, kTop1Floor};
}

void set_estimate(WeightQuality& w, double ratio, const FitBook::Spread& spread, double widen) {
    Loss& loss = w.loss;
    loss.status = Status::estimated;
    loss.flags |= kMeasureMe;
    loss.ln_ppl = times(ratio, spread.at80 * widen);
    loss.ln_ppl_high95 = ratio * spread.at95 * widen;
    if (ratio < kNoiseFloor) {
        loss.flags |= kBelowNoise;
        loss.ln_ppl.low = 0;
        loss.ln_ppl.high = std::max(loss.ln_ppl.high, kNoiseCeiling);
        loss.ln_ppl_high95 = std::max(loss.ln_ppl_high95, kNoiseCeiling);
    }
    derive_from_ppl(loss);
}

}  // namespace

Band top1_band(const Band& kld) {
    constexpr double kLaw = 1.23;
    const auto at = [](double x, double f) { return std::min(1.0, top1_from_kld(x) * f); };
    return {at(kld.low, 1 / kLaw), at(kld.central, 1), at(kld.high, kLaw)};
}

void derive_from_ppl(Loss& loss) {
    loss.flags |= kKldFromPpl;
    loss.kld = {0.9 * loss.ln_ppl.low, loss.ln_ppl.central, 2.6 * loss.ln_ppl.high};
    loss.top1_disagreement = top1_band(loss.kld);
}

WeightQuality weigh_types(const model::Model& model, std::span<const quant::Format> formats) {
    WeightQuality w;
    std::vector<std::pair<quant::Format, double>> sums;
    double total = 0;
    for (std::size_t i = 0; i < model.tensors.size() && i < formats.size(); ++i) {
        if (!is_block_linear(model.tensors[i])) continue;
        const auto n = static_cast<double>(model.tensors[i].elements());
        total += n;
        const auto it =
            std::find_if(sums.begin(), sums.end(), [&](const auto& s) { return s.first == formats[i]; });
        if (it == sums.end())
            sums.emplace_back(formats[i], n);
        else
            it->second += n;
    }
    const FitBook& book = fit_book();
    for (const auto& [format, n] : sums) {
        w.types.push_back({format, n / total, type_loss(book, format)});
        w.bits += n / total * quant::bits_per_weight(format);
    }
    std::stable_sort(w.types.begin(), w.types.end(),
                     [](const TypeShare& a, const TypeShare& b) { return a.share > b.share; });
    w.parameters = static_cast<double>(model::text_parameters(model)) / 1e9;
    std::size_t attention = 0, windowed = 0;
    for (const model::Layer& layer : model.layers) {
        w.hybrid |= layer.recurrent.has_value();
        if (!layer.attention) continue;
        ++attention;
        windowed += layer.attention->window > 0;
        w.sinks |= layer.attention->sinks;
    }
    w.trained_windows = attention > 0 && attention == windowed;
    return w;
}

void weigh_loss(WeightQuality& w, const model::Model& model, const RecipeInfo& recipe, Imatrix imatrix) {
    const FitBook& book = fit_book();
    const FamilyFacts family = family_facts(model);
    w.generation = family.sensitive ? "sensitive" : "ordinary";
    w.key_bias = family.key_bias;
    w.class_factor = family.sensitive ? book.sensitive : 1;
    w.small_factor = small_factor(book, w.parameters);
    // Unknown lies between the two, and both lie in the band.
    w.imatrix_factor = imatrix == Imatrix::without   ? book.no_imatrix
                       : imatrix == Imatrix::unknown ? std::sqrt(book.no_imatrix)
                                                     : 1;
    if (w.types.empty() || model.embedder || recipe.images > 0) return refuse(w, Reason::other_modality);
    if (is_whole(w, family)) return set_whole(w);

    double sum = 0, unknown = 0;
    for (const TypeShare& t : w.types) {
        if (std::isnan(t.loss))
            unknown += t.share;
        else
            sum += t.share * t.loss;
    }
    const quant::Format body = w.types.front().format;
    if (unknown > 0 && body.family != quant::Family::ggml) return refuse(w, Reason::method_without_rows);
    double widen = 1;
    if (!family.listed) {
        w.loss.flags |= kNewFamily;
        widen *= book.new_family;
    }
    if (imatrix == Imatrix::unknown) {
        w.loss.flags |= kImatrixUnknown;
        widen *= std::sqrt(book.no_imatrix);
    }
    if (w.parameters < book.small_below) w.loss.flags |= kSmallModel;
    if (unknown > 0)
        return set_estimate(w,
                            curve_loss(book, w.bits, type_family(quant::format_name(body)), family.sensitive,
                                       imatrix != Imatrix::without) *
                                w.small_factor,
                            book.curve, widen);
    set_estimate(w, w.class_factor * w.small_factor * w.imatrix_factor * sum, book.additive, widen);
}

}  // namespace memwall::quality
