#include "core/quant/role_recipe.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/quant/format_layout.h"
#include "core/quant/name_pattern.h"
#include "core/quant/tensor_override.h"

namespace memwall::quant {
namespace {

constexpr std::string_view kTorch = "vllm, transformers";

/// Scales, group table and permutation of EXL2, which its quoted bits a weight include.
constexpr std::uint16_t kExl2ScaleMilliBits = 133;

constexpr std::string_view kBF16 = "BF16", kSame = "=";

// Which layers stay unquantized: default lists of each tool (lm_head and embeddings in GPTQ, AWQ,
// bitsandbytes, compressed-tensors and HQQ; mlx.nn.quantize takes every layer that can be; ExLlama gives
// lm_head 6 bits; ExecuTorch's Llama recipe 8 bits to both ends, with F32 norms). For palettes, plain
// INT8/INT4 and QNN every matrix is taken, the embedding of QNN excepted, which graphs look up on the host:
// conventions, not measured.
// clang-format off
constexpr RoleRecipe kRoleRecipes[] = {
    // name, example, format of the linear layers, group, embedding, output, rest, traits,
    // family, description, runtimes
    {"16bit", "16bit", "BF16", 0, kSame, kSame, kBF16, kEveryMatrix,
     "uniform", "two bytes for every value, as checkpoints are published", kTorch},
    {"8bit", "8bit", "raw-8bit", 0, kSame, kSame, kBF16, kEveryMatrix,
     "uniform", "8 bits a value in all matrices, no scales", "generic"},
    {"4bit", "4bit", "raw-4bit", 0, kSame, kSame, kBF16, kEveryMatrix,
     "uniform", "4 bits a value in all matrices, no scales", "generic"},
    {"int#-channel", "int8-channel", "", 0, kSame, kSame, kBF16, kEveryMatrix,
     "integer", "all matrices, one scale an output channel", "generic"},
    {"int#-tensor", "int8-tensor", "", 0, kSame, kSame, kBF16, kEveryMatrix,
     "integer", "all matrices, one scale a matrix", "generic"},
    {"int#-g@", "int4-g32", "", 0, kSame, kSame, kBF16, kEveryMatrix,
     "Core ML", "all matrices, one scale a group", "generic"},
    {"palette-#bit[-c@]", "palette-4bit-c16", "", 0, kSame, kSame, kBF16, kEveryMatrix,
     "Core ML", "all matrices through look-up tables", "generic"},
    {"qnn-int#", "qnn-int8", "", 0, kBF16, kSame, kBF16, kOutputCopy,
     "QNN", "per channel; embedding in 16 bits", "generic"},
    {"qnn-block4[-g@]", "qnn-block4-g64", "", 64, kBF16, kSame, kBF16, kOutputCopy,
     "QNN", "4 bits with block multipliers (LPBQ); embedding in 16 bits", "generic"},
    {"gptq-#bit[-@g|-nogroup]", "gptq-4bit-128g", "", 128, kBF16, kBF16, kBF16, kPlain,
     "GPTQ", "embedding, output, norms and routers in 16 bits", kTorch},
    {"awq-#bit[-@g]", "awq-4bit-128g", "", 128, kBF16, kBF16, kBF16, kPlain,
     "AWQ", "embedding, output, norms and routers in 16 bits", kTorch},
    {"bnb-nf4", "bnb-nf4", "", 0, kBF16, kBF16, kBF16, kPlain,
     "bitsandbytes", "NF4 or FP4; embedding and output in 16 bits", kTorch},
    {"bnb-nf4-dq", "bnb-nf4-dq", "", 0, kBF16, kBF16, kBF16, kPlain,
     "bitsandbytes", "NF4 with double quantization; embedding and output in 16 bits", kTorch},
    {"bnb-int8", "bnb-int8", "", 0, kBF16, kBF16, kBF16, kPlain,
     "bitsandbytes", "LLM.int8(); embedding and output in 16 bits", kTorch},
    {"fp8-tensor", "fp8-tensor", "", 0, kBF16, kBF16, kBF16, kPlain,
     "FP8", "one scale a matrix; embedding and output in 16 bits", kTorch},
    {"fp8-channel", "fp8-channel", "", 0, kBF16, kBF16, kBF16, kPlain,
     "FP8", "one scale an output channel; embedding and output in 16 bits", kTorch},
    {"fp8-block128", "fp8-block128", "", 0, kBF16, kBF16, kBF16, kPlain,
     "FP8", "one scale a 128 x 128 block (DeepSeek, Qwen3-FP8); embedding and output in 16 bits", kTorch},
    {"mxfp4", "mxfp4", "mxfp4-pack", 0, kBF16, kBF16, kBF16, kPlain,
     "FP4", "all linear layers; embedding and output in 16 bits", kTorch},
    {"mxfp4-experts", "mxfp4-experts", "mxfp4-pack", 0, kBF16, kBF16, kBF16, kExpertsOnly,
     "FP4", "experts only (gpt-oss); the rest in 16 bits", kTorch},
    {"nvfp4", "nvfp4", "nvfp4-pack", 0, kBF16, kBF16, kBF16, kPlain,
     "FP4", "all linear layers; embedding and output in 16 bits", kTorch},
    {"w4a16[-g@]", "w4a16-g128", "", 128, kBF16, kBF16, kBF16, kPlain,
     "compressed-tensors", "4-bit weights; embedding and output in 16 bits", kTorch},
    {"w4a16-experts[-g@]", "w4a16-experts-g32", "w4a16[-g@]", 32, kBF16, kBF16, kBF16, kExpertsOnly,
     "compressed-tensors", "4-bit experts only (Kimi-K2-Thinking)", kTorch},
    {"w4a8[-g@]", "w4a8-g128", "w4a16[-g@]", 128, kBF16, kBF16, kBF16, kPlain,
     "compressed-tensors", "4-bit weights, 8-bit activations; embedding and output in 16 bits", kTorch},
    {"w8a16[-g@]", "w8a16", "", 0, kBF16, kBF16, kBF16, kPlain,
     "compressed-tensors", "8-bit weights; embedding and output in 16 bits", kTorch},
    {"w8a8", "w8a8", "int8-channel", 0, kBF16, kBF16, kBF16, kPlain,
     "compressed-tensors", "8-bit weights and activations; embedding and output in 16 bits", kTorch},
    {"hqq-#bit[-@g]", "hqq-4bit-64g", "", 64, kBF16, kBF16, kBF16, kPlain,
     "HQQ", "embedding and output in 16 bits", kTorch},
    {"hqq-#bit-int-zero[-@g]", "hqq-4bit-int-zero-64g", "", 64, kBF16, kBF16, kBF16, kPlain,
     "HQQ", "8-bit zero points; embedding and output in 16 bits", kTorch},
    {"exl2-#", "exl2-4", "", 0, kBF16, "exl2-6", kBF16, kOutputCopy | kScalesInName,
     "ExLlama", "bits a weight with scales; output in 6 bits", "exllamav2"},
    {"exl3-#", "exl3-4", "", 0, kBF16, "exl3-6", kBF16, kOutputCopy,
     "ExLlama", "trellis; output in 6 bits", "exllamav3"},
    {"mlx-#bit[-@g]", "mlx-4bit-64g", "", 64, kSame, kSame, kBF16, kEveryMatrix,
     "MLX", "embedding and output too", "mlx"},
    {"8da4w[-g@]", "8da4w-g32", "", 32, "int8-channel", "int8-channel", "F32", kOutputCopy,
     "ExecuTorch", "4-bit weights, 8-bit activations; embedding and output in 8 bits", "executorch"},
    {"sparse24-#bit", "sparse24-16bit", "", 0, kBF16, kBF16, kBF16, kPlain,
     "2:4 sparse", "half of the values and their positions; embedding and output in 16 bits", kTorch},
};
// clang-format on

/// What a recipe distinguishes among the roles.
enum class Part : std::uint8_t { linear, expert, embedding, output, other_matrix, rest };

Part part_of(model::Role role) {
    switch (role) {
        using enum model::Role;
        case token_embedding:
        case per_layer_embedding:
            return Part::embedding;
        case output:
            return Part::output;
        case expert_gate:
        case expert_up:
        case expert_down:
            return Part::expert;
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
        case shared_gate:
        case shared_up:
        case shared_down:
        case recurrent_in:
        case recurrent_out:
        case cross_attention:
            return Part::linear;
        case router:
        case other:
            return Part::other_matrix;
        default:
            return Part::rest;
    }
}

/// Formats of one recipe with the options applied.
struct Formats {
    Format linear, embedding, output, rest;
};

Format with_group(Format format, std::int32_t group, const Recipe& recipe) {
    if (group == 0) return format;
    const Layout* layout = find_layout(format.family);
    if (!layout || layout->name.find('@') == std::string_view::npos)
        throw Error("--group-size", fmt::format("{} has no groups to size", recipe.name),
                    "a recipe with groups");
    if (group < 0) throw Error("--group-size", fmt::format("{}", group), "a positive number");
    format.group = group;
    return format;
}

Formats formats_of(const Recipe& recipe, const AssignOptions& options) {
    const RoleRecipe& row = kRoleRecipes[recipe.row];
    const Format linear = with_group(recipe.linear, options.group_size, recipe);
    const auto named = [&](std::string_view name) { return name == "=" ? linear : *parse_format(name); };
    return {linear, options.embedding.value_or(named(row.embedding)),
            options.output.value_or(named(row.output)), named(row.rest)};
}

Format format_for(const Formats& formats, Part part, std::uint8_t traits) {
    switch (part) {
        case Part::embedding:
            return formats.embedding;
        case Part::output:
            return formats.output;
        case Part::expert:
            return formats.linear;
        case Part::linear:
            return traits & kExpertsOnly ? formats.rest : formats.linear;
        case Part::other_matrix:
            return traits & kEveryMatrix ? formats.linear : formats.rest;
        case Part::rest:
            break;
    }
    return formats.rest;
}

}  // namespace

std::span<const RoleRecipe> role_recipes() {
    return kRoleRecipes;
}

std::optional<Recipe> match_role_recipe(std::string_view name) {
    for (std::size_t row = 0; row < std::size(kRoleRecipes); ++row) {
        const RoleRecipe& r = kRoleRecipes[row];
        auto fields = match_name(r.name, name);
        if (!fields) continue;
        if (fields->group == 0) fields->group = r.group;
        NameFields linear = *fields;
        if (r.traits & kScalesInName) {
            if (linear.milli_bits <= kExl2ScaleMilliBits) return std::nullopt;
            linear.milli_bits = static_cast<std::uint16_t>(linear.milli_bits - kExl2ScaleMilliBits);
        }
        const auto format = parse_format(fill_name(r.linear.empty() ? r.name : r.linear, linear));
        if (!format) return std::nullopt;
        return Recipe{fill_name(r.name, *fields), RecipeKind::by_role, static_cast<std::uint8_t>(row),
                      *format};
    }
    return std::nullopt;
}

std::vector<Format> assign_roles(const Recipe& recipe, const model::Model& model,
                                 const AssignOptions& options) {
    const RoleRecipe& row = kRoleRecipes[recipe.row];
    const Formats formats = formats_of(recipe, options);
    const OverrideMatcher overrides(options.overrides);
    std::vector<Format> result;
    result.reserve(model.tensors.size());
    for (const model::Tensor& tensor : model.tensors) {
        const bool vector = tensor.dims[1] == 1 && tensor.dims[2] == 1 && tensor.dims[3] == 1;
        const Part part = vector ? Part::rest : part_of(tensor.role);
        Format format = format_for(formats, part, row.traits);
        // Tools leave layers alone that their kernels cannot take.
        if (!fits(format, tensor.dims)) format = formats.rest;
        if (const auto wanted = part == Part::rest ? std::nullopt : overrides.find(tensor.name)) {
            tensor_bytes(*wanted, tensor.dims);  // throws when the shape does not suit
            format = *wanted;
        }
        result.push_back(format);
    }
    return result;
}

Bytes role_output_copy_bytes(const Recipe& recipe, const model::Model& model, const AssignOptions& options) {
    if (!(kRoleRecipes[recipe.row].traits & kOutputCopy)) return Bytes(0);
    const model::Tensor* embedding = nullptr;
    for (const model::Tensor& tensor : model.tensors) {
        if (tensor.role == model::Role::output && tensor.layer < 0) return Bytes(0);
        if (tensor.role == model::Role::token_embedding && tensor.layer < 0) embedding = &tensor;
    }
    if (!embedding) return Bytes(0);
    const Formats formats = formats_of(recipe, options);
    return tensor_bytes(fits(formats.output, embedding->dims) ? formats.output : formats.rest,
                        embedding->dims);
}

}  // namespace memwall::quant
