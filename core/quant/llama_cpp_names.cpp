#include "core/quant/llama_cpp_names.h"

#include <string_view>
#include <unordered_map>

namespace memwall::quant {
namespace {

struct KeptName {
    std::string_view part;
    Treatment treatment;
};

// Small or delicate matrices that the quantizer leaves alone, and what the converter writes for them.
constexpr KeptName kKeptNames[] = {
    {"_norm.weight", Treatment::keep_f32},
    {"ffn_gate_inp.weight", Treatment::keep_f32},
    {"ffn_gate_tid2eid.weight", Treatment::keep_f32},  // as int32: four bytes too
    {"altup_correct_coef", Treatment::keep_f32},
    {"altup_predict_coef", Treatment::keep_f32},
    {"altup", Treatment::keep_source},
    {"laurel", Treatment::keep_source},
    {"per_layer_model_proj", Treatment::keep_source},
    {"position_embd.weight", Treatment::keep_f32},
    {"token_types.weight", Treatment::keep_f32},
    {"ssm_conv1d", Treatment::keep_f32},
    {"shortconv.conv.weight", Treatment::keep_f32},
    {"indexer.k_proj.weight", Treatment::keep_f32},
    {"indexer.q_proj.weight", Treatment::keep_f32},
    {"time_mix_first.weight", Treatment::keep_f32},
    {"time_mix_w", Treatment::keep_f32},  // w0, w1, w2 and likewise below
    {"time_mix_v0", Treatment::keep_f32},
    {"time_mix_v1", Treatment::keep_source},
    {"time_mix_v2", Treatment::keep_source},
    {"time_mix_a", Treatment::keep_source},
    {"time_mix_g1", Treatment::keep_source},
    {"time_mix_g2", Treatment::keep_source},
    {"time_mix_decay_w", Treatment::keep_f32},
    {"time_mix_lerp_fused.weight", Treatment::keep_f32},
    {"attn_rel_b.weight", Treatment::keep_source},
    {"enc.conv", Treatment::keep_source},
};

struct CategoryName {
    std::string_view part;
    Category category;
};

// In order: the first part found decides.
constexpr CategoryName kCategoryNames[] = {
    {"attn_qkv.weight", kAttnV}, {"attn_kv_b.weight", kAttnV}, {"attn_v.weight", kAttnV},
    {"attn_k.weight", kAttnK},   {"attn_q.weight", kAttnQ},    {"attn_output.weight", kAttnOutput},
    {"ffn_up", kFfnUp},          {"ffn_gate", kFfnGate},       {"ffn_down", kFfnDown},
};

TensorKind classify(std::string_view name) {
    if (!name.ends_with("weight")) return {Treatment::keep_f32, kOther};
    for (const KeptName& k : kKeptNames)
        if (name.find(k.part) != std::string_view::npos) return {k.treatment, kOther};
    if (name == "output.weight") return {Treatment::quantize, kOutput};
    if (name == "token_embd.weight" || name == "per_layer_token_embd.weight")
        return {Treatment::quantize, kEmbedding};
    for (const CategoryName& c : kCategoryNames)
        if (name.find(c.part) != std::string_view::npos) return {Treatment::quantize, c.category};
    return {};
}

/// "blk.12.attn_v.weight" -> "attn_v.weight"
std::string_view without_layer(std::string_view name) {
    if (!name.starts_with("blk.")) return name;
    const std::size_t dot = name.find('.', 4);
    return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

}  // namespace

std::vector<TensorKind> classify_all(const std::vector<model::Tensor>& tensors) {
    std::unordered_map<std::string_view, TensorKind> known;  // layers repeat the same few names
    std::vector<TensorKind> kinds;
    kinds.reserve(tensors.size());
    for (const model::Tensor& t : tensors) {
        const std::string_view name = without_layer(t.name);
        const auto it = known.find(name);
        kinds.push_back(it != known.end() ? it->second : known.emplace(name, classify(name)).first->second);
    }
    return kinds;
}

}  // namespace memwall::quant
