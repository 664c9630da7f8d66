#include "core/model/open_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <optional>
#include <set>
#include <vector>

#include "core/base/byte_source.h"
#include "core/base/error.h"
#include "core/base/user_directory.h"
#include "core/model/catalog.h"
#include "core/model/checkpoint_folder.h"
#include "core/model/gguf.h"
#include "core/model/model_yaml.h"

namespace memwall::model {
namespace {

namespace fs = std::filesystem;

constexpr const char* kForms =
    "a catalogue id, a .gguf, a .safetensors or its index, a config.json or its folder, or a model YAML";

constexpr std::size_t kLongestName = 128;

bool is_there(const fs::path& path) {
    std::error_code error;
    return fs::exists(path, error);
}

OpenedModel open_gguf_file(const std::string& path) {
    OpenedModel opened;
    opened.kind = "gguf";
    opened.path = path;
    opened.model = read_gguf(path);
    return opened;
}

OpenedModel open_yaml(const std::string& path, const char* kind) {
    OpenedModel opened;
    opened.kind = kind;
    opened.path = path;
    opened.model = read_model_yaml(read_text_file(path), path);
    return opened;
}

OpenedModel open_safetensors(const std::string& path) {
    const fs::path config = fs::path(path).parent_path() / "config.json";
    if (!is_there(config))
        throw Error(
            path, "weights without a config.json", "a config.json in the same folder",
            "tensors do not tell heads and windows, so the cache cannot be sized; memwall inspect shows what "
            "the file holds");
    return open_checkpoint(config.string(), path);
}

OpenedModel open_json(const std::string& path) {
    const fs::path file(path);
    const bool beside = file.filename() == "config.json";
    const std::string folder = file.has_parent_path() ? file.parent_path().string() : ".";
    return open_checkpoint(path, beside ? find_weights(folder) : "");
}

/// "NAME-00002-of-00003.gguf" -> "NAME".
std::string without_shard(const std::string& name) {
    const std::size_t of = name.rfind("-of-");
    return of == std::string::npos || of < 6 ? name : name.substr(0, of - 6);
}

OpenedModel open_folder(const std::string& folder) {
    const fs::path path(folder);
    if (is_there(path / "config.json")) return open_json((path / "config.json").string());
    std::set<std::string> files;
    std::error_code error;
    bool safetensors = false;
    for (const fs::directory_entry& entry : fs::directory_iterator(path, error)) {
        const std::string name = entry.path().filename().string();
        safetensors = safetensors || name.ends_with(".safetensors");
        // A projector is a part of a model.
        if (name.ends_with(".gguf") && name.find("mmproj") == std::string::npos) files.insert(name);
    }
    if (error) throw Error(folder, fmt::format("cannot be read: {}", error.message()), "a folder of a model");
    std::set<std::string> models;
    for (const std::string& name : files) models.insert(without_shard(name));
    if (models.size() == 1) return open_gguf_file((path / *files.begin()).string());
    if (models.size() > 1)
        throw Error(folder,
                    fmt::format("{} models ({}, {}{})", models.size(), *models.begin(),
                                *std::next(models.begin()), models.size() > 2 ? ", ..." : ""),
                    "one of them", "give the file instead of the folder");
    if (is_there(path / "adapter_config.json"))
        throw Error(folder, "a LoRA adapter without its base model", "the folder of the base model",
                    "give the adapter's weights with --lora");
    throw Error(folder, safetensors ? "weights without a config.json" : "a folder without a model",
                "a folder with a config.json or a .gguf");
}

/// Blobs of download caches have no suffix, so the first bytes decide.
bool starts_like_gguf(const std::string& path) {
    const auto source = open_file(path);
    if (source->size() < 4) return false;
    const auto magic = source->view(0, 4);
    return std::memcmp(magic.data(), "GGUF", 4) == 0;
}

OpenedModel open_existing(const std::string& path) {
    std::error_code error;
    if (fs::is_directory(path, error)) return open_folder(path);
    const auto ends = [&](std::string_view suffix) { return path.ends_with(suffix); };
    if (ends(".gguf")) return open_gguf_file(path);
    if (ends(".safetensors") || ends(".safetensors.index.json")) return open_safetensors(path);
    if (ends(".json")) return open_json(path);
    if (ends(".yaml") || ends(".yml")) return open_yaml(path, "model file");
    if (starts_like_gguf(path)) return open_gguf_file(path);
    throw Error(path, "a file of no known kind", kForms,
                ends(".bin") || ends(".pt") || ends(".pth")
                    ? "PyTorch files are not read: give the config.json beside it"
                    : "");
}

/// Ids are file names; anything else could leave the folder.
bool is_id(const std::string& text) {
    return text.front() != '.' && std::all_of(text.begin(), text.end(), [](unsigned char c) {
               return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                      c == '.' || c == '-' || c == '_';
           });
}

std::optional<OpenedModel> open_by_name(const std::string& name) {
    if (const std::string user = user_directory(); !user.empty() && is_id(name)) {
        const fs::path path = fs::path(user) / "models" / (name + ".yaml");
        if (is_there(path)) return open_yaml(path.string(), "user catalogue");
    }
    auto model = load_catalog_model(name);
    if (!model) return std::nullopt;
    OpenedModel opened;
    opened.kind = "catalogue";
    opened.model = *std::move(model);
    return opened;
}

bool looks_like_path(const std::string& text) {
    constexpr std::string_view kSuffixes[] = {".gguf", ".safetensors", ".json", ".yaml", ".yml"};
    return text.starts_with('/') || text.starts_with('.') || text.ends_with('/') ||
           std::any_of(std::begin(kSuffixes), std::end(kSuffixes),
                       [&](std::string_view s) { return text.ends_with(s); });
}

}  // namespace

OpenedModel open_model(const std::string& argument) {
    if (argument.empty()) throw Error("MODEL", "an empty name", kForms);
    if (is_there(argument)) return open_existing(argument);
    if (argument.find("://") != std::string::npos || argument.starts_with("hf:"))
        throw Error(argument, "models are not fetched yet", "a file",
                    "download its config.json, or the first megabytes of the .gguf, and give that path");
    if (looks_like_path(argument)) throw Error(argument, "no such file or folder", kForms);
    const std::string name = argument.substr(0, kLongestName);
    if (name.size() == argument.size())
        if (auto opened = open_by_name(name)) return *std::move(opened);
    const auto near = suggest_catalog_ids(name);
    throw Error("MODEL", fmt::format("'{}' is neither a file nor an id of the catalogue", name), kForms,
                near.empty() ? "memwall models lists the ids"
                             : fmt::format("did you mean {}?", fmt::join(near, ", ")));
}

}  // namespace memwall::model
