#include "core/quality/weight_tiers.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "core/quality/family.h"
#include "core/quality/fit.h"
#include "core/quality/method_rules.h"
#include "core/quality/own_rows.h"

namespace memwall::quality {

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

namespace {

constexpr double kNoiseFloor = 0.003;  // QUALITY a.3: below it the log error is meaningless,
constexpr double kKldFloor = 2.5e-5;   // BF16 against F16 (QUALITY a.5)
constexpr double kTop1Floor = 0.0026;

Band times(double central, double factor) {
    return {central / factor, central, central * factor};
}

void refuse(WeightQuality& w, Reason reason) {
    w.loss.status = Status::refused;
    w.loss.reason = reason;
}

constexpr double kHarmless = 8;  // bits around weights that were trained in fewer

/// Nothing is quantized, or the weights are as they were trained.
bool is_whole(const WeightQuality& w, const FamilyFacts& family) {
    return std::all_of(w.types.begin(), w.types.end(), [&](const TypeShare& t) {
        return t.loss == 0 || is_training_format(family, t.format) ||
               (!family.trained_in.empty() && quant::bits_per_weight(t.format) >= kHarmless);
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

std::optional<Reason> modality_refusal(const WeightQuality& w, const model::Model& model,
                                       const RecipeInfo& recipe) {
    const bool text = !w.types.empty() && !model.embedder && model.encoder.empty() && recipe.images == 0;
    return text ? std::nullopt : std::optional(Reason::other_modality);
}

/// The triggers of QUALITY a.9 that no type and no size heals.
std::optional<Reason> method_refusal(const WeightQuality& w, const RecipeInfo& recipe,
                                     const FamilyFacts& family) {
    for (const TypeShare& t : w.types)
        if (t.format.family == quant::Family::sparse24) return Reason::pruned;
    if (family.derivative) return Reason::derivative;
    if (recipe.activation_bits < 8) return Reason::low_bit_activations;
    return std::nullopt;
}

constexpr double kLeastBodyBits = 3.0;
constexpr double kIquantBits = 3.1;
constexpr double kSmallest = 1, kSmall = 3, kSmallBits = 4.5;  // billions, bits

/// The triggers of QUALITY a.9 that look at the types of llama.cpp.
std::optional<Reason> type_refusal(const WeightQuality& w, const FamilyFacts& family, Imatrix imatrix) {
    const TypeShare& body = w.types.front();
    const std::string type = quant::format_name(body.format);
    const double bits = quant::bits_per_weight(body.format);
    if (imatrix == Imatrix::without && type.starts_with("IQ") && bits <= kIquantBits)
        return Reason::iquant_without_imatrix;
    for (const Cliff& c : family.cliffs)
        if (c.type == type && (c.below_parameters == 0 || w.parameters < c.below_parameters))
            return Reason::recorded_cliff;
    if (bits < kLeastBodyBits) return Reason::low_bits;
    if (w.parameters < kSmallest || (w.parameters < kSmall && w.bits < kSmallBits))
        return Reason::small_model;
    return std::nullopt;
}

/// C x s x m x sum of shares; NaN where a type is not in the fit.
double additive_loss(const WeightQuality& w) {
    double sum = 0;
    for (const TypeShare& t : w.types) sum += t.share * t.loss;
    return w.class_factor * w.small_factor * w.imatrix_factor * sum;
}

void set_band(WeightQuality& w, Status status, Band ratio, double high95) {
    w.loss.status = status;
    w.loss.flags |= kMeasureMe;
    w.loss.ln_ppl = ratio;
    w.loss.ln_ppl_high95 = high95;
    if (ratio.central < kNoiseFloor) {
        w.loss.flags |= kBelowNoise;
        w.loss.ln_ppl.low = 0;
        w.loss.ln_ppl.high = std::max(w.loss.ln_ppl.high, kNoiseCeiling);
        w.loss.ln_ppl_high95 = std::max(w.loss.ln_ppl_high95, kNoiseCeiling);
    }
    derive_from_ppl(w.loss);
}

void set_estimate(WeightQuality& w, double ratio, const FitBook::Spread& spread, double widen) {
    set_band(w, Status::estimated, times(ratio, spread.at80 * widen), ratio * spread.at95 * widen);
}

bool set_interpolated(WeightQuality& w, const model::Model& model, Imatrix imatrix) {
    const FitBook& book = fit_book();
    // Rows carry their own state of the importance matrix, which the nearest pair brings along.
    const double predicted =
        additive_loss(w) / w.imatrix_factor * (imatrix == Imatrix::without ? book.no_imatrix : 1);
    if (std::isnan(predicted)) return false;
    const auto ratio = interpolated_ratio(w, model, predicted, imatrix, w.evidence);
    if (!ratio) return false;
    set_band(w, Status::interpolated, times(*ratio, book.interpolated.at80), *ratio * book.interpolated.at95);
    return true;
}

/// Other methods than those of llama.cpp (QUALITY a.6).
void set_range(WeightQuality& w, const RecipeInfo& recipe, double widen) {
    constexpr double kLikeQ4 = 1.5;
    const quant::Format body = w.types.front().format;
    const MethodRange range = method_range(body, recipe.activation_bits < 16);
    if (range.reason != Reason::none) return refuse(w, range.reason);
    if (w.parameters < kSmallest || w.parameters < range.least_billions ||
        (w.parameters < kSmall && w.bits < kSmallBits))
        return refuse(w, Reason::small_model);
    if (range.like_q4_0) {
        const double ratio = w.class_factor * w.small_factor * type_loss(fit_book(), quant::ggml("Q4_0"));
        return set_band(w, Status::bounded, times(ratio, kLikeQ4 * widen),
                        ratio * std::pow(kLikeQ4, 1.96 / 1.2816) * widen);
    }
    Band ratio = range.ln_ppl;
    ratio.high *= widen;
    set_band(w, Status::bounded, ratio, ratio.high);
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

void weigh_loss(WeightQuality& w, const model::Model& model, const RecipeInfo& recipe, Imatrix imatrix,
                const std::vector<EvidenceRow>& rows) {
    const FitBook& book = fit_book();
    const FamilyFacts family = family_facts(model);
    w.generation = family.sensitive ? "sensitive" : "ordinary";
    w.family = family.name;
    w.key_bias = family.key_bias;
    w.class_factor = family.sensitive ? book.sensitive : 1;
    w.small_factor = small_factor(book, w.parameters);
    // Unknown lies between the two, and both lie in the band.
    w.imatrix_factor = imatrix == Imatrix::without   ? book.no_imatrix
                       : imatrix == Imatrix::unknown ? std::sqrt(book.no_imatrix)
                                                     : 1;
    if (const auto reason = modality_refusal(w, model, recipe)) return refuse(w, *reason);
    if (is_whole(w, family)) return set_whole(w);
    if (const auto own = measured_loss(rows, recipe.name, imatrix, w.measured_context, w.evidence)) {
        w.loss = *own;
        return;
    }
    if (const auto reason = method_refusal(w, recipe, family)) return refuse(w, *reason);
    if (!family.trained_in.empty()) return refuse(w, Reason::trained_quantized);

    double widen = 1;
    if (!family.listed) {
        w.loss.flags |= kNewFamily;
        widen *= book.new_family;
    }
    if (w.parameters < book.small_below) w.loss.flags |= kSmallModel;
    if (w.types.front().format.family != quant::Family::ggml) return set_range(w, recipe, widen);
    if (const auto reason = type_refusal(w, family, imatrix)) {
        const bool curve_refuses = *reason == Reason::low_bits || *reason == Reason::small_model;
        if (!curve_refuses || !set_interpolated(w, model, imatrix)) refuse(w, *reason);
        return;
    }
    if (set_interpolated(w, model, imatrix)) return;
    if (imatrix == Imatrix::unknown) {
        w.loss.flags |= kImatrixUnknown;
        widen *= std::sqrt(book.no_imatrix);
    }
    const double additive = additive_loss(w);
    if (!std::isnan(additive)) return set_estimate(w, additive, book.additive, widen);
    const TypeFamily body = type_family(quant::format_name(w.types.front().format));
    set_estimate(
        w, w.small_factor * curve_loss(book, w.bits, body, family.sensitive, imatrix != Imatrix::without),
        book.curve, widen);
}

}  // namespace memwall::quality
