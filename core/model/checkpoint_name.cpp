#include "core/model/checkpoint_name.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <vector>

namespace memwall::model {
namespace {

struct Ending {
    std::string_view path;
    Role role;
};

// Ends of module paths, numbers and parameter names left out; the first that fits wins, so longer ones stand
// before their own ends. Names: transformers' modeling_*.py and the published checkpoints of the families.
constexpr Ending kEndings[] = {
    {"embed_tokens_per_layer", Role::per_layer_embedding},
    {"embed_tokens", Role::token_embedding},
    {"wte", Role::token_embedding},
    {"word_embeddings", Role::token_embedding},
    {"tok_embeddings", Role::token_embedding},
    {"embed_in", Role::token_embedding},
    {"backbone.embeddings", Role::token_embedding},
    {"backbone.embedding", Role::token_embedding},
    {"shared", Role::token_embedding},
    {"wpe", Role::position_embedding},
    {"embed_positions", Role::position_embedding},
    {"position_embeddings", Role::position_embedding},
    {"lm_head", Role::output},
    {"embed_out", Role::output},
    {"output_layer", Role::output},

    {"q_a_proj", Role::attn_q_a},
    {"q_b_proj", Role::attn_q_b},
    {"kv_a_proj_with_mqa", Role::attn_kv_a},
    {"kv_b_proj", Role::attn_kv_b},
    {"qkv_proj", Role::attn_qkv},
    {"query_key_value", Role::attn_qkv},
    {"c_attn", Role::attn_qkv},
    {"Wqkv", Role::attn_qkv},
    {"wqkv", Role::attn_qkv},
    {"W_pack", Role::attn_qkv},
    {"q_proj", Role::attn_q},
    {"k_proj", Role::attn_k},
    {"v_proj", Role::attn_v},
    {"wq", Role::attn_q},
    {"wk", Role::attn_k},
    {"wv", Role::attn_v},
    {"SelfAttention.q", Role::attn_q},
    {"SelfAttention.k", Role::attn_k},
    {"SelfAttention.v", Role::attn_v},
    {"SelfAttention.o", Role::attn_output},
    {"self.query", Role::attn_q},
    {"self.key", Role::attn_k},
    {"self.value", Role::attn_v},
    {"o_proj", Role::attn_output},
    {"self_attn.out_proj", Role::attn_output},
    {"self_attn.dense", Role::attn_output},
    {"attention.dense", Role::attn_output},
    {"self_attention.dense", Role::attn_output},
    {"attention.output.dense", Role::attn_output},
    {"attn.out_proj", Role::attn_output},
    {"attn.c_proj", Role::attn_output},
    {"attention.wo", Role::attn_output},
    {"sinks", Role::sinks},
    {"rotary_emb.inv_freq", Role::rope_factors},

    {"shared_expert_gate", Role::shared_expert_gate},
    {"mlp.gate", Role::router},
    {"block_sparse_moe.gate", Role::router},
    {"feed_forward.gate", Role::router},
    {"moe.gate", Role::router},
    {"gate.wg", Role::router},
    {"router", Role::router},
    {"router.layer", Role::router},
    {"router.proj", Role::router},
    {"gate_up_proj", Role::ffn_up},
    {"gate_proj", Role::ffn_gate},
    {"up_proj", Role::ffn_up},
    {"down_proj", Role::ffn_down},
    {"w1", Role::ffn_gate},
    {"w2", Role::ffn_down},
    {"w3", Role::ffn_up},
    {"fc1", Role::ffn_up},
    {"fc2", Role::ffn_down},
    {"dense_h_to_4h", Role::ffn_up},
    {"dense_4h_to_h", Role::ffn_down},
    {"c_fc", Role::ffn_up},
    {"mlp.c_proj", Role::ffn_down},
    {"input_linear", Role::ffn_up},
    {"output_linear", Role::ffn_down},
    {"intermediate.dense", Role::ffn_up},
    {"output.dense", Role::ffn_down},
    {"DenseReluDense.wi_0", Role::ffn_gate},
    {"DenseReluDense.wi_1", Role::ffn_up},
    {"DenseReluDense.wi", Role::ffn_up},
    {"DenseReluDense.wo", Role::ffn_down},

    {"in_proj", Role::recurrent_in},
    {"in_proj_qkvz", Role::recurrent_in},
    {"in_proj_qkv", Role::recurrent_in},
    {"in_proj_z", Role::recurrent_in},
    {"in_proj_ba", Role::recurrent_in},
    {"in_proj_a", Role::recurrent_in},
    {"in_proj_b", Role::recurrent_in},
    {"out_proj", Role::recurrent_out},
    {"x_proj", Role::recurrent_small},
    {"dt_proj", Role::recurrent_small},
    {"conv1d", Role::recurrent_small},
    {"conv.conv", Role::recurrent_small},
    {"A_log", Role::recurrent_small},
    {"dt_bias", Role::recurrent_small},
    {"D", Role::recurrent_small},
    {"output", Role::output},
};

// Last parts of names that say what a parameter is rather than whose. Formats: facts of core/quant/format.h.
constexpr std::string_view kCodes[] = {"weight", "qweight", "weight_packed", "W_q",
                                       "CB",     "trellis", "q_weight"};
constexpr std::string_view kAuxiliary[] = {
    // GPTQ, AWQ
    "qzeros", "scales", "g_idx",
    // compressed-tensors, FP8, ModelOpt
    "weight_scale", "weight_scale_inv", "weight_scale_2", "weight_global_scale", "weight_zero_point",
    "weight_shape", "weight_g_idx", "input_scale", "input_global_scale", "k_scale", "v_scale",
    // bitsandbytes
    "SCB", "weight_format", "absmax", "quant_map", "nested_absmax", "nested_quant_map", "quant_state",
    "bitsandbytes__nf4", "bitsandbytes__fp4",
    // MLX, HQQ
    "biases", "scale", "zero", "zeros",
    // EXL2, EXL3
    "q_scale", "q_scale_max", "q_groups", "q_group_map", "q_invperm", "q_perm", "suh", "svh", "su", "sv",
    "mcg", "mul1"};
// The same glued to the module's name: gpt-oss and other stacks of experts.
constexpr std::string_view kGluedCodes = "_blocks";
constexpr std::string_view kGluedAuxiliary[] = {"_scales", "_weight_scale", "_weight_scale_inv", "_scale_inv",
                                                "_scale"};

constexpr std::string_view kLayerLists[] = {"layers", "h", "blocks", "block", "layer"};
constexpr std::string_view kVision[] = {
    "visual",       "vision_tower",          "vision_model",  "vision_embed_tokens", "vision_embedder",
    "embed_vision", "multi_modal_projector", "mm_projector",  "image_newline",       "audio_tower",
    "audio_model",  "embed_audio",           "speech_encoder"};
constexpr std::string_view kShared[] = {"shared_expert", "shared_experts", "shared_mlp"};
constexpr std::string_view kCross[] = {"encoder_attn", "EncDecAttention", "cross_attn", "crossattention"};

constexpr std::size_t kMaxWords = 32;
constexpr int kMaxLayer = 100'000;  // larger numbers belong to no model

template <class List>
bool among(const List& list, std::string_view word) {
    return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

std::optional<int> layer_number(std::string_view word) {
    int n = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), n);
    const bool whole = !word.empty() && error == std::errc() && end == word.data() + word.size();
    return whole && n >= 0 && n <= kMaxLayer ? std::optional(n) : std::nullopt;
}

std::vector<std::string_view> split(std::string_view name) {
    std::vector<std::string_view> words;
    for (std::size_t at = 0; at <= name.size();) {
        // Real names have about ten parts; what a hostile one has beyond stays together.
        const std::size_t dot =
            words.size() < kMaxWords ? std::min(name.find('.', at), name.size()) : name.size();
        words.push_back(name.substr(at, dot - at));
        at = dot + 1;
    }
    return words;
}

/// Takes the parameter's own words off the end: what is left names the module.
struct Parameter {
    bool auxiliary = false, bias = false;
};
Parameter take_parameter(std::vector<std::string_view>& words) {
    Parameter p;
    for (; words.size() > 1; words.pop_back()) {
        if (among(kAuxiliary, words.back()))
            p.auxiliary = true;
        else if (words.back() == "bias" || words.back() == "e_score_correction_bias")
            p.bias = true;
        else if (!among(kCodes, words.back()))
            break;
    }
    std::string_view& last = words.back();
    if (last.ends_with(kGluedCodes)) last.remove_suffix(kGluedCodes.size());
    if (last.ends_with("_proj_bias")) {
        last.remove_suffix(5);
        p.bias = true;
    }
    for (const std::string_view ending : kGluedAuxiliary)
        if (last.ends_with(ending)) {
            last.remove_suffix(ending.size());
            p.auxiliary = true;
            break;
        }
    return p;
}

/// The decoder layer, or -1. Encoder layers have no cache and no number of their own.
int layer_of(const std::vector<std::string_view>& words, int decoder_layers) {
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (words[i] == "encoder") return -1;
        if (words[i] == "mtp") {
            const bool numbered = i + 2 < words.size() && words[i + 1] == "layers";
            return decoder_layers + (numbered ? layer_number(words[i + 2]).value_or(0) : 0);
        }
        if (i + 1 < words.size() && among(kLayerLists, words[i]))
            if (const auto n = layer_number(words[i + 1])) return *n;
    }
    return -1;
}

/// "input_layernorm", "q_norm", "ln_1", "ln2".
bool is_norm(std::string_view word) {
    const bool short_form =
        word.starts_with("ln") && (word.size() == 2 || word[2] == '_' || (word[2] >= '0' && word[2] <= '9'));
    return short_form || word.find("norm") != std::string_view::npos;
}

Role role_of_module(const std::vector<std::string_view>& words) {
    if (is_norm(words.back())) return Role::norm;
    std::string path;
    for (const std::string_view word : words)
        if (!layer_number(word)) path.append(path.empty() ? "" : ".").append(word);
    for (const Ending& e : kEndings)
        if (path.ends_with(e.path) &&
            (path.size() == e.path.size() || path[path.size() - e.path.size() - 1] == '.'))
            return e.role;
    return Role::other;
}

Role among_experts(Role role, bool shared) {
    switch (role) {
        case Role::ffn_gate:
            return shared ? Role::shared_gate : Role::expert_gate;
        case Role::ffn_up:
            return shared ? Role::shared_up : Role::expert_up;
        case Role::ffn_down:
            return shared ? Role::shared_down : Role::expert_down;
        default:
            return role;
    }
}

}  // namespace

CheckpointName read_checkpoint_name(std::string_view name, int decoder_layers) {
    CheckpointName result;
    std::vector<std::string_view> words = split(name);
    const Parameter parameter = take_parameter(words);
    const auto any = [&](const auto& list) {
        return std::any_of(words.begin(), words.end(), [&](std::string_view w) { return among(list, w); });
    };
    if (any(kVision)) return {.role = Role::vision, .layer = -1, .auxiliary = parameter.auxiliary};
    result.layer = layer_of(words, decoder_layers);
    result.role = role_of_module(words);
    if (result.role == Role::norm) return result;
    if (any(kShared))
        result.role = among_experts(result.role, true);
    else if (among(words, std::string_view("experts")))
        result.role = among_experts(result.role, false);
    if (any(kCross)) result.role = Role::cross_attention;
    if (parameter.bias && result.role != Role::recurrent_small) result.role = Role::bias;
    result.auxiliary = parameter.auxiliary;
    return result;
}

}  // namespace memwall::model
