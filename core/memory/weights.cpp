#include "core/memory/weights.h"

#include <algorithm>
#include <limits>

namespace memwall::memory {

std::string_view weight_class_name(WeightClass c) {
    constexpr std::array<std::string_view, kWeightClasses> names{
        "input_embedding", "output", "attention", "feed_forward", "experts", "recurrent", "other"};
    return names[static_cast<std::size_t>(c)];
}

WeightClass weight_class(model::Role role) {
    using R = model::Role;
    switch (role) {
        case R::token_embedding:
        case R::position_embedding:
        case R::per_layer_embedding:
            return WeightClass::input_embedding;
        case R::output:
            return WeightClass::output;
        case R::attn_q:
        case R::attn_k:
        case R::attn_v:
        case R::attn_qkv:
        case R::attn_output:
        case R::attn_gate:
        case R::attn_q_a:
        case R::attn_q_b:
        case R::attn_kv_a:
        case R::attn_kv_b:
        case R::attn_k_b:
        case R::attn_v_b:
        case R::cross_attention:
            return WeightClass::attention;
        case R::ffn_gate:
        case R::ffn_up:
        case R::ffn_down:
        case R::shared_gate:
        case R::shared_up:
        case R::shared_down:
            return WeightClass::feed_forward;
        case R::expert_gate:
        case R::expert_up:
        case R::expert_down:
            return WeightClass::experts;
        case R::recurrent_in:
        case R::recurrent_out:
            return WeightClass::recurrent;
        default:
            return WeightClass::other;
    }
}

Weights weigh(const model::Model& model, std::span<const quant::Format> formats) {
    Weights w;
    const auto layers = model.layers.size();
    w.layer.resize(layers);
    w.layer_experts.resize(layers);
    Bytes total;
    for (std::size_t i = 0; i < model.tensors.size(); ++i) {
        const model::Tensor& t = model.tensors[i];
        const Bytes bytes = quant::tensor_bytes(formats[i], t.dims);
        const WeightClass c = weight_class(t.role);
        total += bytes;
        w.by_class[static_cast<std::size_t>(c)] += bytes;
        if (t.layer < 0)
            w.outside += bytes;
        else if (static_cast<std::size_t>(t.layer) >= layers)
            w.prediction += bytes;
        else {
            w.layer[static_cast<std::size_t>(t.layer)] += bytes;
            if (c == WeightClass::experts) w.layer_experts[static_cast<std::size_t>(t.layer)] += bytes;
        }
        if (bytes > w.largest_tensor) {
            w.largest_tensor = bytes;
            w.largest_tensor_name = t.name;
        }
        if (t.role == model::Role::token_embedding) w.token_table += bytes;
    }
    w.total = Interval<Bytes>::exact(total);
    if (!model.tensors_from_file && model.output == model::TiedOutput::tied_stored_twice) {
        w.total.high = total + w.token_table;
        w.total.level = 0.9;
        w.total.basis = "checkpoint stores the tied output twice; files of both kinds exist";
    }
    return w;
}

namespace {

bool is_repacked(const model::Tensor& t, quant::Format format, const runtime::RepackRule& rule) {
    const WeightClass c = weight_class(t.role);
    const bool multiplied =
        c != WeightClass::input_embedding && t.role != model::Role::recurrent_small && t.dims[1] > 1;
    if (!multiplied || (t.dims[2] > 1 && c != WeightClass::experts)) return false;
    return std::any_of(rule.types.begin(), rule.types.end(), [&](const runtime::RepackRule::Type& type) {
        return type.format == format && t.dims[1] % type.rows_multiple == 0;
    });
}

}  // namespace

Bytes repacked_bytes(const model::Model& model, std::span<const quant::Format> formats,
                     const runtime::RepackRule& rule) {
    Bytes bytes;
    for (std::size_t i = 0; i < model.tensors.size(); ++i)
        if (is_repacked(model.tensors[i], formats[i], rule))
            bytes += quant::tensor_bytes(formats[i], model.tensors[i].dims);
    return bytes;
}

Bytes mapped_bytes(const model::Model& model, std::span<const quant::Format> formats,
                   const runtime::RepackRule* rule) {
    Bytes all, first(std::numeric_limits<std::int64_t>::max()), last;
    for (std::size_t i = 0; i < model.tensors.size(); ++i) {
        const model::Tensor& t = model.tensors[i];
        const Bytes bytes = quant::tensor_bytes(formats[i], t.dims);
        all += bytes;
        if (rule && is_repacked(t, formats[i], *rule)) continue;
        const Bytes begin(static_cast<std::int64_t>(t.offset));
        first = std::min(first, begin);
        last = std::max(last, begin + bytes);
    }
    // Offsets count from the start of a shard, so a span over several files says nothing.
    return model.tensors_from_file && last > first && last - first < all ? last - first : all;
}

const runtime::RepackRule* repack_rule(const runtime::Profile& profile, std::span<const std::string> isa) {
    for (const runtime::RepackRule& rule : profile.repack)
        if (std::find(isa.begin(), isa.end(), rule.isa) != isa.end()) return &rule;
    return nullptr;
}

}  // namespace memwall::memory
