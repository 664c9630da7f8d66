#include "core/quant/recipe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/base/edit_distance.h"
#include "core/base/error.h"
#include "core/quant/llama_cpp_recipe.h"
#include "core/quant/name_pattern.h"
#include "core/quant/role_recipe.h"

namespace memwall::quant {
namespace {

constexpr std::string_view kAsStored = "as-stored";
constexpr Bytes kMaxWeights{std::int64_t{1} << 61};  // no tensor has more, so sums stay below 2^63

struct Alias {
    std::string_view name, recipe;
};

// Names people use for one member of a family.
constexpr Alias kAliases[] = {
    {"stored", kAsStored},
    {"fp32", "F32"},
    {"fp16", "16bit"},
    {"gptq", "gptq-4bit-128g"},
    {"awq", "awq-4bit-128g"},
    {"nf4", "bnb-nf4"},
    {"bnb-4bit", "bnb-nf4"},
    {"llm.int8", "bnb-int8"},
    {"bnb-8bit", "bnb-int8"},
    {"fp8", "fp8-channel"},
    {"fp8-block", "fp8-block128"},
    {"int8", "int8-channel"},
    {"int4", "int4-channel"},
    {"hqq", "hqq-4bit-64g"},
    {"mlx", "mlx-4bit-64g"},
    {"2:4", "sparse24-16bit"},
    {"mxfp4-gguf", "MXFP4_MOE"},
};

std::string description_of(const FileType& type) {
    return fmt::format("{:.4g}-bit {} blocks{}{}", bits_per_weight(ggml(type.default_type)),
                       type.default_type, type.q8_ends ? ", embedding and output in Q8_0" : "",
                       type.imatrix ? ", made with an importance matrix" : "");
}

std::vector<RecipeInfo> list_recipes() {
    std::vector<RecipeInfo> list{
        {std::string(kAsStored), "file", "the formats of the model's own file", "any"}};
    for (const FileType& t : file_types())
        list.push_back({std::string(t.name), "llama.cpp", description_of(t), "llama.cpp"});
    for (const RoleRecipe& r : role_recipes())
        list.push_back({std::string(r.example), r.family, std::string(r.description), r.runtimes});
    return list;
}

/// The three names most like `name`.
std::vector<std::string> nearest_names(std::string_view name) {
    const std::string wanted = lower_case(name.substr(0, 64));
    std::vector<std::pair<std::size_t, std::string>> ranked;
    for (const RecipeInfo& r : recipes())
        ranked.emplace_back(edit_distance(wanted, lower_case(r.name)), r.name);
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<std::string> names;
    for (std::size_t i = 0; i < 3; ++i) names.push_back(ranked[i].second);
    return names;
}

std::vector<Format> stored_formats(const model::Model& model) {
    std::vector<Format> formats;
    formats.reserve(model.tensors.size());
    for (const model::Tensor& t : model.tensors) {
        if (t.format.family == Family::unknown)
            throw Error("--quant", fmt::format("{} has no stored formats", model.id), "a model file",
                        "choose a recipe such as Q4_K_M");
        formats.push_back(t.format);
    }
    return formats;
}

}  // namespace

const std::vector<RecipeInfo>& recipes() {
    static const std::vector<RecipeInfo> list = list_recipes();
    return list;
}

Recipe parse_recipe(std::string_view name) {
    for (const Alias& a : kAliases)
        if (match_name(a.name, name)) return parse_recipe(a.recipe);
    if (match_name(kAsStored, name)) return {std::string(kAsStored), RecipeKind::as_stored, 0, {}};
    const auto types = file_types();
    for (std::size_t row = 0; row < types.size(); ++row)
        if (match_name(types[row].name, name))
            return {std::string(types[row].name), RecipeKind::llama_cpp, static_cast<std::uint8_t>(row),
                    ggml(types[row].default_type)};
    if (auto recipe = match_role_recipe(name)) return *std::move(recipe);
    throw Error("--quant", fmt::format("unknown recipe '{}'", name.substr(0, 64)),
                fmt::format("one like {}", fmt::join(nearest_names(name), ", ")));
}

void shape_for_recipe(const Recipe& recipe, model::Model& model) {
    if (recipe.kind != RecipeKind::llama_cpp || model.tensors_from_file) return;
    const bool trims = model.gguf_vocabulary > 0 && model.gguf_vocabulary < model.vocabulary;
    const bool drops = !model.prediction_in_gguf && !model.prediction_layers.empty();
    if (trims) model.vocabulary = model.gguf_vocabulary;
    if (drops) model.prediction_layers.clear();
    if (trims || drops) model::generate_tensors(model);
}

std::vector<Format> assign(const Recipe& recipe, const model::Model& model, const AssignOptions& options) {
    if (recipe.kind == RecipeKind::by_role) return assign_roles(recipe, model, options);
    if (options.group_size != 0)
        throw Error("--group-size", fmt::format("{} has no groups to size", recipe.name),
                    "a recipe with groups");
    if (recipe.kind == RecipeKind::as_stored) return stored_formats(model);
    return assign_file_type(file_types()[recipe.row], model, options);
}

Bytes weights_bytes(const model::Model& model, const std::vector<Format>& formats) {
    if (formats.size() != model.tensors.size())
        throw Error("", fmt::format("{} formats for {} tensors", formats.size(), model.tensors.size()));
    Bytes total;
    for (std::size_t i = 0; i < formats.size(); ++i) {
        total += tensor_bytes(formats[i], model.tensors[i].dims);
        if (total > kMaxWeights) throw Error("", fmt::format("{} holds more than 2^61 bytes", model.id));
    }
    return total;
}

Bytes output_copy_bytes(const Recipe& recipe, const model::Model& model, const AssignOptions& options) {
    return recipe.kind == RecipeKind::by_role ? role_output_copy_bytes(recipe, model, options) : Bytes(0);
}

double bits_per_weight(const model::Model& model, const std::vector<Format>& formats) {
    const Bytes bytes = weights_bytes(model, formats);  // and no tensor is larger than can be counted
    double elements = 0;
    for (const model::Tensor& t : model.tensors) elements += static_cast<double>(t.elements());
    return elements > 0 ? bytes.as_double() * 8 / elements : 0;
}

}  // namespace memwall::quant
