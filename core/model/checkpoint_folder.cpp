#include "core/model/checkpoint_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <vector>

#include "core/base/byte_source.h"
#include "core/model/checkpoint_tensors.h"
#include "core/model/hugging_face.h"
#include "core/model/module_formats.h"
#include "core/model/quantization_config.h"
#include "core/model/safetensors_set.h"

namespace memwall::model {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLargestConfig = std::uint64_t{16} << 20;

/// Adapters and the vendors' second copies ("consolidated") are no part of the model.
bool is_extra(const std::string& name) {
    return name.starts_with("adapter") || name.starts_with("consolidated") ||
           name.find("lora") != std::string::npos;
}

/// The folder's name, "" meaning the one we are in; for a snapshot in the hub's cache
/// ("models--OWNER--NAME/snapshots/HASH") the repository's.
std::string id_of(const fs::path& folder) {
    const fs::path full = fs::absolute(folder).lexically_normal();
    const fs::path clean = full.has_filename() ? full : full.parent_path();
    constexpr std::string_view kPrefix = "models--";
    const std::string repository = clean.parent_path().parent_path().filename().string();
    if (clean.parent_path().filename() == "snapshots" && repository.starts_with(kPrefix)) {
        const std::size_t name = repository.rfind("--");
        return repository.substr(name + 2);
    }
    return clean.filename().string();
}

/// The type that most of the data has: "BF16".
std::string dominant_dtype(const SafetensorsSet& set) {
    std::map<std::string_view, std::uint64_t> bytes;
    for (const SafetensorsFile& file : set.files)
        for (const SafetensorsTensor& t : file.tensors) bytes[t.dtype->name] += t.bytes();
    const auto most = std::max_element(bytes.begin(), bytes.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == bytes.end() ? "" : std::string(most->first);
}

/// Towers that the same files hold need no file of their own.
void mark_stored_components(Model& model) {
    const bool stored = std::any_of(model.tensors.begin(), model.tensors.end(),
                                    [](const Tensor& t) { return t.role == Role::vision; });
    for (Component& c : model.components) c.separate_file = c.separate_file && !stored;
}

}  // namespace

std::string find_weights(const std::string& folder) {
    const fs::path path(folder);
    std::error_code error;
    for (const char* name : {"model.safetensors.index.json", "model.safetensors"})
        if (fs::exists(path / name, error)) return (path / name).string();
    std::vector<std::string> indices, files;
    for (const fs::directory_entry& entry : fs::directory_iterator(path, error)) {
        const std::string name = entry.path().filename().string();
        if (is_extra(name)) continue;
        if (name.ends_with(".safetensors.index.json")) indices.push_back(name);
        if (name.ends_with(".safetensors")) files.push_back(name);
    }
    auto& names = indices.empty() ? files : indices;
    std::sort(names.begin(), names.end());
    if (names.empty()) return {};
    // Shards of one set share all of their name but the number.
    const auto stem = [](const std::string& name) { return name.substr(0, name.find("-0")); };
    const bool one_set = stem(names.front()) == stem(names.back());
    return names.size() == 1 || (indices.empty() && one_set) ? (path / names.front()).string() : "";
}

OpenedModel open_checkpoint(const std::string& config_path, const std::string& weights) {
    const std::string text = read_text_file(config_path, kLargestConfig);
    OpenedModel opened;
    opened.kind = "config";
    opened.path = config_path;
    opened.model = read_hf_config(text, config_path);
    const fs::path file(config_path);
    opened.model.id = file.filename() == "config.json" ? id_of(file.parent_path()) : file.stem().string();

    auto quantization = read_quantization_config(text, config_path);
    const fs::path beside = file.parent_path() / "hf_quant_config.json";
    std::error_code error;
    if (!quantization && file.filename() == "config.json" && fs::exists(beside, error))
        quantization = read_hf_quant_config(read_text_file(beside.string(), kLargestConfig), beside.string());
    if (quantization) opened.quantization = quantization->text;
    opened.recipe_hint = quantization ? quantization->recipe : "16bit";

    if (!weights.empty()) {
        const SafetensorsSet set = read_safetensors_set(weights);
        if (set.files.empty()) {
            opened.model.warnings.insert(opened.model.warnings.end(), set.warnings.begin(),
                                         set.warnings.end());
        } else {
            take_checkpoint_tensors(opened.model, set, quantization ? &*quantization : nullptr);
            mark_stored_components(opened.model);
            opened.model.stored_recipe =
                quantization && !quantization->recipe.empty() ? quantization->recipe : dominant_dtype(set);
            opened.kind = "checkpoint";
            opened.path = weights;
            return opened;
        }
    }
    if (quantization && !quantization->recipe.empty())
        for (const std::string& override : module_overrides(opened.model, *quantization))
            opened.recipe_hint += "," + override;
    if (quantization && quantization->recipe.empty()) {
        opened.recipe_hint = "16bit";
        opened.model.warnings.push_back(fmt::format(
            "{}: {} has no recipe here: weights are planned in 16 bits", config_path, quantization->text));
    }
    return opened;
}

}  // namespace memwall::model
