#include "core/quant/llama_cpp_recipe.h"

#include <algorithm>
#include <numeric>

#include "core/quant/llama_cpp_names.h"
#include "core/quant/llama_cpp_rules.h"
#include "core/quant/tensor_override.h"

namespace memwall::quant {
namespace {

using enum FileTypeId;

// clang-format off
constexpr FileType kFileTypes[] = {
    // name, id, default type, imatrix, Q8_0 ends
    {"F32", F32, "F32", false, false},
    {"F16", F16, "F16", false, false},
    {"BF16", BF16, "BF16", false, false},
    {"Q8_0", Q8_0, "Q8_0", false, false},
    {"Q4_0", Q4_0, "Q4_0", true, false},
    {"Q4_1", Q4_1, "Q4_1", false, false},
    {"Q5_0", Q5_0, "Q5_0", true, false},
    {"Q5_1", Q5_1, "Q5_1", false, false},
    {"Q1_0", Q1_0, "Q1_0", false, false},
    {"Q2_0", Q2_0, "Q2_0", false, false},
    {"MXFP4_MOE", MXFP4_MOE, "MXFP4", false, false},
    {"NVFP4_GGUF", NVFP4, "NVFP4", false, false},
    {"Q2_K", Q2_K, "Q2_K", false, false},
    {"Q2_K_S", Q2_K_S, "Q2_K", true, false},
    {"Q3_K_S", Q3_K_S, "Q3_K", false, false},
    {"Q3_K_M", Q3_K_M, "Q3_K", false, false},
    {"Q3_K_L", Q3_K_L, "Q3_K", false, false},
    {"Q4_K_S", Q4_K_S, "Q4_K", false, false},
    {"Q4_K_M", Q4_K_M, "Q4_K", false, false},
    {"Q5_K_S", Q5_K_S, "Q5_K", false, false},
    {"Q5_K_M", Q5_K_M, "Q5_K", false, false},
    {"Q6_K", Q6_K, "Q6_K", false, false},
    {"TQ1_0", TQ1_0, "TQ1_0", false, false},
    {"TQ2_0", TQ2_0, "TQ2_0", false, false},
    {"IQ1_S", IQ1_S, "IQ1_S", true, false},
    {"IQ1_M", IQ1_M, "IQ1_M", true, false},
    {"IQ2_XXS", IQ2_XXS, "IQ2_XXS", true, false},
    {"IQ2_XS", IQ2_XS, "IQ2_XS", true, false},
    {"IQ2_S", IQ2_S, "IQ2_XS", true, false},  // its default type is the smaller one
    {"IQ2_M", IQ2_M, "IQ2_S", true, false},
    {"IQ3_XXS", IQ3_XXS, "IQ3_XXS", true, false},
    {"IQ3_XS", IQ3_XS, "IQ3_S", true, false},
    {"IQ3_S", IQ3_S, "IQ3_S", true, false},
    {"IQ3_M", IQ3_M, "IQ3_S", true, false},
    {"IQ4_NL", IQ4_NL, "IQ4_NL", true, false},
    {"IQ4_XS", IQ4_XS, "IQ4_XS", true, false},
    {"Q2_K_L", Q2_K, "Q2_K", true, true},
    {"Q3_K_XL", Q3_K_L, "Q3_K", true, true},
    {"Q4_K_L", Q4_K_M, "Q4_K", true, true},
    {"Q5_K_L", Q5_K_M, "Q5_K", true, true},
    {"Q6_K_L", Q6_K, "Q6_K", true, true},
};
// clang-format on

/// Tensors layer by layer, those outside layers first: the order in which the quantizer counts.
std::vector<std::size_t> counting_order(const std::vector<model::Tensor>& tensors) {
    std::vector<std::size_t> order(tensors.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto by_layer = [&](std::size_t a, std::size_t b) { return tensors[a].layer < tensors[b].layer; };
    if (!std::is_sorted(order.begin(), order.end(), by_layer))
        std::stable_sort(order.begin(), order.end(), by_layer);
    return order;
}

/// Facts about architectures that the rule knows by name.
struct ArchitectureQuirk {
    std::string_view architecture;
    bool falcon;
    int layers_of_70b;  ///< layer count that the engine labels "70B"; 0 = none
    /// The checkpoint's experts are in this format already: the converter repacks them, the quantizer refuses
    /// to touch them ("requantizing from type mxfp4 is disabled"), and files of every label hold them so.
    std::string_view experts;
};

constexpr ArchitectureQuirk kQuirks[] = {{"falcon", true, 0, {}},  {"llama", false, 80, {}},
                                         {"qwen2", false, 80, {}}, {"deci", false, 80, {}},
                                         {"jais2", false, 68, {}}, {"gpt-oss", false, 0, "MXFP4"}};

/// What the rule asks of the whole model.
struct ModelFacts {
    std::int64_t layers = 0;  ///< prediction layers included where the tensors are
    std::int64_t attn_v_tensors = 0;
    bool has_output = false;
    bool mixture = false;  ///< more than one expert: layers are read from names, not counted
    bool is_70b = false;
    std::optional<Format> trained_experts;  ///< as the checkpoint stores them, where below 16 bits
    Conditions conditions = kAlways;        ///< those that hold for every tensor
};

/// Query heads a KV head of the first layer, as the engine takes it: 0 where that layer has no attention and
/// the file lists heads by layer. Delta-net files give one number for all layers.
std::int64_t query_heads_a_kv_head(const model::Model& model) {
    for (const model::Layer& layer : model.layers) {
        if (layer.attention)
            return layer.attention->heads / std::max<std::int64_t>(layer.attention->kv_heads, 1);
        if (!layer.recurrent || layer.recurrent->kind != model::RecurrentKind::delta_net) return 0;
    }
    return 0;
}

ModelFacts facts_of(const model::Model& model, const std::vector<TensorKind>& kinds, bool imatrix) {
    ModelFacts f;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        f.layers = std::max<std::int64_t>(f.layers, model.tensors[i].layer + 1);
        f.attn_v_tensors += kinds[i].category == kAttnV;
        f.has_output |= kinds[i].category == kOutput;
    }
    std::int64_t experts = 0;
    for (const model::Layer& layer : model.layers)
        if (layer.experts) experts = std::max(experts, layer.experts->count);
    f.mixture = experts > 1;
    const std::int64_t gqa = query_heads_a_kv_head(model);
    bool falcon = false;
    for (const ArchitectureQuirk& q : kQuirks)
        if (q.architecture == model.architecture) {
            falcon = q.falcon;
            if (!q.experts.empty()) f.trained_experts = ggml(q.experts);
            f.is_70b = q.layers_of_70b == static_cast<int>(model.layers.size()) && gqa > 1;
        }
    f.conditions = static_cast<Conditions>(
        (gqa >= 4 ? kGqa4 : 0) | (experts >= 4 ? kExperts4 : 0) | (experts == 8 ? kExperts8 : 0) |
        (imatrix ? kImatrix : kNoImatrix) | (falcon ? kFalcon : kNotFalcon));
    return f;
}

/// Conditions on the place of tensor `i` of `n`.
Conditions position_conditions(std::int64_t i, std::int64_t n) {
    const std::int64_t eighth = n / 8, last = 7 * n / 8;
    const bool more = i < eighth || i >= last || (i - eighth) % 3 == 2;
    return static_cast<Conditions>(
        (more ? kMoreBits : 0) | (i < eighth ? kFirstEighth : 0) | (i < n / 16 ? kFirstSixteenth : 0) |
        (i >= eighth && i < last ? kMiddle : 0) | (i < 2 ? kFirst2 : 0) | (i < 4 ? kFirst4 : 0));
}

/// Walks the tensors in counting order and applies the rules.
class Chooser {
  public:
    Chooser(const FileType& type, const ModelFacts& facts)
        : type_(type), facts_(facts), default_(ggml(type.default_type)) {}

    Format choose(const model::Tensor& tensor, Category category) {
        if (category == kEmbedding && !facts_.has_output) category = kOutput;
        Conditions conditions = facts_.conditions;
        if (!fits(default_, tensor.dims)) conditions |= kRagged;
        if (tensor.dims[2] > 1) conditions |= kStacked;
        if (category == kAttnV) {
            conditions |= position_conditions(attn_v_++, facts_.attn_v_tensors);
        } else if (category & (kFfnDown | kFfnUp | kFfnGate)) {
            const bool by_name = facts_.mixture && !is_low_bit(type_.id);
            std::int64_t& count = category == kFfnDown ? ffn_down_ : category == kFfnUp ? ffn_up_ : ffn_gate_;
            conditions |= position_conditions(by_name ? tensor.layer : count, facts_.layers);
            ++count;
        }
        Format format = find_rule(type_.id, category, conditions).value_or(default_);
        // With eight query heads a KV head, attn_v of the 70B models is small and worth more bits.
        if (facts_.is_70b && category == kAttnV && !is_low_bit(type_.id) &&
            (format == ggml("Q3_K") || format == ggml("Q4_K")))
            format = ggml("Q5_K");
        return format;
    }

  private:
    const FileType& type_;
    const ModelFacts& facts_;
    const Format default_;
    std::int64_t attn_v_ = 0, ffn_down_ = 0, ffn_up_ = 0, ffn_gate_ = 0;  ///< seen so far
};

Format kept_format(const model::Tensor& tensor, Treatment treatment, Format default_type) {
    if (tensor.format.family != Family::unknown) return tensor.format;  // a file that is requantized
    const bool f32 = treatment == Treatment::keep_f32 || default_type == ggml("F32");
    if (f32) return ggml("F32");
    return default_type == ggml("F16") ? default_type : ggml("BF16");
}

/// The format of experts that stay as they were trained; a file's own tensors say how they are stored.
std::optional<Format> trained_format(const model::Tensor& tensor, const ModelFacts& facts) {
    if (!facts.trained_experts || tensor.dims[2] == 1) return {};
    const bool stored = tensor.format.family == Family::unknown || tensor.format == *facts.trained_experts;
    return stored ? facts.trained_experts : std::nullopt;
}

bool is_float(Format format) {
    return find_block_format(format.ggml_type)->block_len == 1;
}

}  // namespace

std::span<const FileType> file_types() {
    return kFileTypes;
}

std::vector<Format> assign_file_type(const FileType& type, const model::Model& model,
                                     const AssignOptions& options) {
    const std::vector<TensorKind> kinds = classify_all(model.tensors);
    const ModelFacts facts = facts_of(model, kinds, options.imatrix.value_or(type.imatrix));
    const OverrideMatcher overrides(options.overrides);
    const Format default_type = ggml(type.default_type);
    const std::optional<Format> ends = type.q8_ends ? std::optional(ggml("Q8_0")) : std::nullopt;
    const std::optional<Format> embedding = options.embedding ? options.embedding : ends;
    const std::optional<Format> output = options.output ? options.output : ends;

    std::vector<Format> formats(model.tensors.size());
    Chooser chooser(type, facts);
    for (const std::size_t i : counting_order(model.tensors)) {
        const model::Tensor& tensor = model.tensors[i];
        const bool vector = tensor.dims[1] == 1 && tensor.dims[2] == 1 && tensor.dims[3] == 1;
        TensorKind kind = kinds[i];
        if (vector) kind.treatment = Treatment::keep_f32;
        if (kind.treatment != Treatment::quantize) {
            formats[i] = kept_format(tensor, kind.treatment, default_type);
            continue;
        }
        const bool output_rule =
            kind.category == kOutput || (kind.category == kEmbedding && !facts.has_output);
        Format format = default_type;
        if (kind.category == kEmbedding && embedding) {
            format = *embedding;
        } else if (output_rule && output) {
            format = *output;
        } else if (const auto wanted = overrides.find(tensor.name)) {
            format = *wanted;  // and the tensor is not counted, as in the engine
        } else if (const auto trained = trained_format(tensor, facts)) {
            format = *trained;
        } else if (!is_float(default_type)) {
            format = chooser.choose(tensor, kind.category);
        }
        formats[i] = fits(format, tensor.dims) ? format : shape_fallback(format, tensor.dims[0]);
    }
    return formats;
}

}  // namespace memwall::quant
