#include "core/model/gguf_tensor_names.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace memwall::model {
namespace {

struct RoleRow {
    std::string_view stem;  ///< the rest of a name without ".weight"
    Role role;
};

// Stems of llama.cpp v0.5.0 (LLM_TENSOR_NAMES in src/llama-arch.cpp); sorted by what they belong to. Stems
// not listed are norms when they end in "norm" and otherwise Role::other.
constexpr RoleRow kRoles[] = {
    {"token_embd", Role::token_embedding},
    {"output", Role::output},
    {"position_embd", Role::position_embedding},
    {"per_layer_token_embd", Role::per_layer_embedding},
    {"rope_freqs", Role::rope_factors},
    {"rope_factors_long", Role::rope_factors},
    {"rope_factors_short", Role::rope_factors},
    {"attn_rot_embd", Role::rope_factors},
    {"attn_norm_2", Role::norm},
    {"pre_ffw_norm_2", Role::norm},
    {"post_ffw_norm_1", Role::norm},
    {"post_ffw_norm_2", Role::norm},
    {"ffn_norm_exps", Role::norm},

    {"attn_q", Role::attn_q},
    {"attn_k", Role::attn_k},
    {"attn_v", Role::attn_v},
    {"attn_qkv", Role::attn_qkv},
    {"attn_output", Role::attn_output},
    {"attn_o", Role::attn_output},
    {"attn_gate", Role::attn_gate},
    {"attn_q_a", Role::attn_q_a},
    {"attn_q_b", Role::attn_q_b},
    {"attn_kv_a_mqa", Role::attn_kv_a},
    {"attn_kv_b", Role::attn_kv_b},
    {"attn_k_b", Role::attn_k_b},
    {"attn_v_b", Role::attn_v_b},
    {"attn_sinks", Role::sinks},

    {"ffn_gate", Role::ffn_gate},
    {"ffn_up", Role::ffn_up},
    {"ffn_down", Role::ffn_down},
    {"ffn_gate_inp", Role::router},
    {"ffn_gate_exps", Role::expert_gate},
    {"ffn_up_exps", Role::expert_up},
    {"ffn_gate_up_exps", Role::expert_up},
    {"ffn_down_exps", Role::expert_down},
    {"ffn_gate_shexp", Role::shared_gate},
    {"ffn_up_shexp", Role::shared_up},
    {"ffn_down_shexp", Role::shared_down},
    {"ffn_gate_inp_shexp", Role::shared_expert_gate},

    {"ssm_in", Role::recurrent_in},
    {"ssm_out", Role::recurrent_out},
    {"ssm_x", Role::recurrent_in},
    {"ssm_dt", Role::recurrent_small},
    {"ssm_ba", Role::recurrent_in},
    {"ssm_beta", Role::recurrent_in},
    {"ssm_alpha", Role::recurrent_in},
    {"ssm_a", Role::recurrent_small},
    {"ssm_d", Role::recurrent_small},
    {"ssm_conv1d", Role::recurrent_small},
    {"ssm_conv1d_q", Role::recurrent_small},
    {"ssm_conv1d_k", Role::recurrent_small},
    {"ssm_conv1d_v", Role::recurrent_small},
    {"ssm_norm", Role::recurrent_small},
    {"ssm_dt_norm", Role::recurrent_small},
    {"ssm_b_norm", Role::recurrent_small},
    {"ssm_c_norm", Role::recurrent_small},
    {"ssm_f_a", Role::recurrent_in},
    {"ssm_f_b", Role::recurrent_in},
    {"ssm_g_a", Role::recurrent_in},
    {"ssm_g_b", Role::recurrent_in},
    {"shortconv.conv", Role::recurrent_small},
    {"shortconv.in_proj", Role::recurrent_in},
    {"shortconv.out_proj", Role::recurrent_out},
    {"time_mix_key", Role::recurrent_in},
    {"time_mix_value", Role::recurrent_in},
    {"time_mix_receptance", Role::recurrent_in},
    {"time_mix_gate", Role::recurrent_in},
    {"time_mix_output", Role::recurrent_out},
    {"channel_mix_key", Role::ffn_up},
    {"channel_mix_value", Role::ffn_down},
    {"channel_mix_receptance", Role::ffn_gate},

    {"cross_attn_q", Role::cross_attention},
    {"cross_attn_k", Role::cross_attention},
    {"cross_attn_v", Role::cross_attention},
    {"cross_attn_o", Role::cross_attention},
    {"nextn.embed_tokens", Role::token_embedding},
    {"nextn.shared_head_head", Role::output},
    {"nextn.enorm", Role::norm},
    {"nextn.hnorm", Role::norm},
};

// First part of names in vision, audio and projector files (tools/mtmd/clip-impl.h).
constexpr std::string_view kVisionPrefixes[] = {"v.",         "a.",       "mm.",
                                                "resampler.", "adapter.", "model.image_newline"};

bool take_prefix(std::string_view& text, std::string_view prefix) {
    if (!text.starts_with(prefix)) return false;
    text.remove_prefix(prefix.size());
    return true;
}

bool take_suffix(std::string_view& text, std::string_view suffix) {
    if (!text.ends_with(suffix)) return false;
    text.remove_suffix(suffix.size());
    return true;
}

/// "17.attn_q" -> 17, leaving "attn_q".
std::optional<int> take_index(std::string_view& text) {
    int n = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (error != std::errc{} || n < 0 || end == text.data() + text.size() || *end != '.') return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
    return n;
}

/// Older files keep one matrix an expert: "ffn_gate.5" is expert 5.
std::optional<Role> single_expert(std::string_view stem) {
    const std::size_t dot = stem.rfind('.');
    if (dot == std::string_view::npos || dot + 1 == stem.size()) return std::nullopt;
    const std::string_view digits = stem.substr(dot + 1);
    if (!std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; }))
        return std::nullopt;
    stem = stem.substr(0, dot);
    if (stem == "ffn_gate") return Role::expert_gate;
    if (stem == "ffn_up") return Role::expert_up;
    if (stem == "ffn_down") return Role::expert_down;
    return std::nullopt;
}

Role role_of(std::string_view rest) {
    std::string_view stem = rest;
    const bool bias = take_suffix(stem, ".bias");
    if (!bias) take_suffix(stem, ".weight");
    Role role = stem.ends_with("norm") ? Role::norm : Role::other;
    for (const RoleRow& row : kRoles)
        if (row.stem == stem) role = row.role;
    if (const auto expert = single_expert(stem)) role = *expert;
    const bool keeps_role = role == Role::norm || role == Role::recurrent_small;
    return bias && !keeps_role ? Role::bias : role;
}

}  // namespace

TensorName parse_tensor_name(std::string_view name) {
    TensorName n;
    n.rest = name;
    for (const std::string_view prefix : kVisionPrefixes)
        if (name.starts_with(prefix)) {
            n.block = TensorName::Block::vision;
            n.role = Role::vision;
            return n;
        }
    using Block = TensorName::Block;
    Block block = Block::none;
    if (take_prefix(n.rest, "blk."))
        block = Block::layer;
    else if (take_prefix(n.rest, "enc.blk."))
        block = Block::encoder;
    else if (take_prefix(n.rest, "dec.blk."))
        block = Block::decoder;
    if (block != Block::none) {
        if (const auto index = take_index(n.rest)) {
            n.block = block;
            n.layer = *index;
        } else {
            n.rest = name;
        }
    }
    n.role = role_of(n.rest);
    return n;
}

const GgufTensor* LayerTensors::find(std::string_view rest) const {
    for (const Row& r : rows_)
        if (r.rest == rest) return r.tensor;
    return nullptr;
}

bool LayerTensors::has(Role role) const {
    return std::any_of(rows_.begin(), rows_.end(), [&](const Row& r) { return r.role == role; });
}

}  // namespace memwall::model
