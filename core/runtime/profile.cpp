#include "core/runtime/profile.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/yaml.h>

#include <map>
#include <mutex>

#include "core/base/embedded.h"
#include "core/base/error.h"
#include "core/base/size_text.h"

namespace memwall::runtime {
namespace {

constexpr std::string_view kSuffix = ".yaml";

std::vector<std::string> texts(const YAML::Node& node) {
    return node ? node.as<std::vector<std::string>>() : std::vector<std::string>{};
}

/// {low, central, high, basis}; a missing node is an exact zero.
Interval<Bytes> range(const YAML::Node& node, std::string_view place) {
    if (!node) return Interval<Bytes>::exact(Bytes(0));
    const auto end = [&](const char* key) { return parse_bytes(node[key].as<std::string>(), place); };
    return {end("low"), end("central"), end("high"), 0.9, intern(node["basis"].as<std::string>())};
}

KvLayout kv_layout(const std::string& name, std::string_view place) {
    static const std::map<std::string, KvLayout> names{{"cells", KvLayout::cells},
                                                       {"paged", KvLayout::paged},
                                                       {"static_arena", KvLayout::static_arena},
                                                       {"plain", KvLayout::plain}};
    const auto it = names.find(name);
    if (it == names.end())
        throw Error(std::string(place), fmt::format("kv layout '{}'", name),
                    "cells, paged, static_arena or plain");
    return it->second;
}

Profile parse_profile(std::string_view text, const std::string& place) {
    const YAML::Node y = YAML::Load(std::string(text));
    if (y["schema"].as<std::string>("") != "memwall/runtime/1")
        throw Error(place, "no schema", "memwall/runtime/1");
    Profile p;
    p.name = y["name"].as<std::string>();
    p.release = y["release"].as<std::string>("");
    p.about = y["about"].as<std::string>("");
    p.sources = texts(y["sources"]);
    p.recipes = texts(y["recipes"]);
    p.default_recipe = y["default_recipe"].as<std::string>();
    for (const auto& alias : y["recipe_aliases"])
        p.recipe_aliases[alias.first.as<std::string>()] = alias.second.as<std::string>();
    p.suggested_recipes = texts(y["suggested_recipes"]);
    p.kv_types = texts(y["kv_types"]);
    p.processors = texts(y["processors"]);
    p.gpu_classes = texts(y["gpu_classes"]);
    if (const YAML::Node npu = y["npu"]) {
        p.prompt_chunk = npu["prompt_chunk"].as<int>(0);
        p.routes_experts_on_npu = npu["routes_experts"].as<bool>(true);
    }
    p.default_batch = y["default_batch"].as<std::int64_t>();
    p.default_ubatch = y["default_ubatch"].as<std::int64_t>();
    const YAML::Node kv = y["kv"];
    p.kv_layout = kv_layout(kv["layout"].as<std::string>(), place);
    p.block_tokens = kv["block_tokens"].as<std::int64_t>(1);
    p.windows = kv["windows"].as<bool>(true);
    p.latent_cache = kv["latent_cache"].as<bool>(true);
    p.rotates_quantized_cache = kv["rotates_quantized"].as<bool>(false);
    p.quantized_values_need_flash = kv["quantized_values_need_flash"].as<bool>(false);
    p.input_tables_on_host = y["input_tables_on_host"].as<bool>(false);
    p.weights_mapped = y["weights_mapped"].as<bool>(false);
    p.measured_isa = texts(y["measured_isa"]);
    p.compute_isa = texts(y["compute_isa"]);
    p.output_buffer = y["output_buffer"].as<bool>(false);
    p.compute =
        y["compute"]["rule"].as<std::string>() == "replay" ? ComputeRule::replay : ComputeRule::family;
    for (const YAML::Node& line : y["repack"]) {
        RepackRule rule{line["isa"].as<std::string>(), {}};
        for (const auto& type : line["formats"])
            rule.types.push_back({quant::ggml(type.first.as<std::string>()), type.second.as<std::int64_t>()});
        p.repack.push_back(std::move(rule));
    }
    const YAML::Node overhead = y["overhead"];
    p.process.fixed = range(overhead["process"], place);
    p.process.per_vocabulary_entry = range(overhead["per_vocabulary_entry"], place);
    p.context_overhead = range(overhead["context"], place);
    p.gpu_context = range(overhead["gpu_context"], place);
    return p;
}

}  // namespace

std::vector<std::string> profile_names() {
    std::vector<std::string> names;
    for (const EmbeddedFile& f : embedded_runtimes())
        if (f.path.ends_with(kSuffix))
            names.emplace_back(f.path.substr(9, f.path.size() - 9 - kSuffix.size()));
    return names;
}

Selected select_profile(std::string_view text, std::string_view place) {
    const std::size_t at = text.find('@');
    const std::string name(text.substr(0, at));
    const std::string path = fmt::format("runtimes/{}{}", name, kSuffix);
    const EmbeddedGroup files = embedded_runtimes();
    const EmbeddedFile* file = files.find(path);
    if (!file)
        throw Error(std::string(place), fmt::format("unknown runtime '{}'", name),
                    fmt::format("one of {}", fmt::join(profile_names(), ", ")));

    static std::mutex mutex;
    static std::map<std::string, Profile> parsed;
    const std::lock_guard lock(mutex);
    auto it = parsed.find(name);
    if (it == parsed.end()) it = parsed.emplace(name, parse_profile(file->text(), path)).first;
    Selected s{&it->second, it->second.release, true};
    if (at != std::string_view::npos) {
        s.release = text.substr(at + 1);
        if (!s.release.empty() && s.release.front() == 'v') s.release.erase(0, 1);
        s.release_known = s.release == it->second.release;
    }
    return s;
}

}  // namespace memwall::runtime
