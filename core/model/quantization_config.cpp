#include "core/model/quantization_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

#include "core/base/error.h"
#include "core/model/config_text.h"
#include "core/quant/format.h"
#include "core/quant/role_recipe.h"

namespace memwall::model {
namespace {

using Json = nlohmann::json;

/// The quantization block and the file it comes from. Absent keys and nulls are the same.
class Block {
  public:
    Block(const Json& json, const std::string& place) : json_(json), place_(place) {}

    const Json* find(const char* key) const {
        const auto it = json_.find(key);
        return it == json_.end() || it->is_null() ? nullptr : &*it;
    }
    std::string text(const char* key, const char* otherwise = "") const {
        const Json* v = find(key);
        return v && v->is_string() ? v->get<std::string>() : otherwise;
    }
    bool flag(const char* key, bool otherwise = false) const {
        const Json* v = find(key);
        return v && v->is_boolean() ? v->get<bool>() : otherwise;
    }
    /// Also numbers in quotes: "128".
    double number(const char* key, double otherwise, double low, double high) const {
        const Json* v = find(key);
        if (!v) return otherwise;
        double n = std::nan("");
        if (v->is_number()) n = v->get<double>();
        const std::string quoted = v->is_string() ? v->get<std::string>() : "";
        if (!quoted.empty() && quoted.size() < 6 &&
            quoted.find_first_not_of("-0123456789") == std::string::npos)
            n = std::atof(quoted.c_str());
        if (!(n >= low && n <= high))
            throw Error(fmt::format("{}: {}", place_, key), v->dump().substr(0, 40),
                        fmt::format("a number from {} to {}", low, high));
        return n;
    }
    int whole(const char* key, int otherwise, int low, int high) const {
        return static_cast<int>(number(key, otherwise, low, high));
    }
    /// The first of several spellings of one thing.
    int bits(std::initializer_list<const char*> keys) const {
        for (const char* key : keys)
            if (find(key)) return whole(key, 0, 1, 32);
        return 0;
    }
    /// Weights a scale; one scale a row is written -1, 0 or null.
    int group(const char* key = "group_size", int otherwise = 0) const {
        return std::max(0, whole(key, otherwise, -1, 1 << 20));
    }
    std::vector<std::string> names(std::initializer_list<const char*> keys) const {
        std::vector<std::string> out;
        for (const char* key : keys)
            if (const Json* v = find(key); v && v->is_array())
                for (const Json& name : *v)
                    if (name.is_string()) out.push_back(name.get<std::string>());
        return out;
    }
    /// A block inside this one; empty where there is none.
    Block inside(const char* key) const {
        static const Json none = Json::object();
        const Json* v = find(key);
        return {v && v->is_object() ? *v : none, place_};
    }
    const Json& json() const { return json_; }
    const std::string& place() const { return place_; }

  private:
    const Json& json_;
    const std::string& place_;
};

std::string group_words(int group) {
    return group > 0 ? fmt::format("groups of {}", group) : "one scale a channel";
}

// One reader a method: fills recipe, text, bits and group. Keys as transformers and the tools write them.

void gptq(const Block& b, QuantizationConfig& q) {
    q.bits = b.bits({"bits", "w_bit", "wbits"});
    if (q.bits == 0) q.bits = 4;
    q.group = b.group("group_size", 128);
    q.recipe = q.group > 0 ? fmt::format("gptq-{}bit-{}g", q.bits, q.group)
                           : fmt::format("gptq-{}bit-nogroup", q.bits);
    q.text = fmt::format("GPTQ, {} bit, {}{}{}", q.bits, group_words(q.group),
                         b.flag("desc_act") ? ", activation order" : "",
                         b.flag("sym", true) ? "" : ", asymmetric");
}

void awq(const Block& b, QuantizationConfig& q) {
    q.bits = b.bits({"bits", "w_bit"});
    if (q.bits == 0) q.bits = 4;
    q.group = b.group(b.find("q_group_size") ? "q_group_size" : "group_size", 128);
    if (q.group > 0) q.recipe = fmt::format("awq-{}bit-{}g", q.bits, q.group);
    q.text = fmt::format("AWQ, {} bit, {}{}", q.bits, group_words(q.group),
                         b.flag("zero_point", true) ? "" : ", no zero points");
}

void auto_round(const Block& b, QuantizationConfig& q) {
    const std::string data_type = b.text("data_type", "int");
    const std::string packing = b.text("packing_format");
    if (data_type.starts_with("mx_fp") || data_type.starts_with("nv_fp")) {
        q.bits = b.bits({"bits"});
        q.group = b.group();
        if (q.bits == 4) q.recipe = data_type.starts_with("mx") ? "mxfp4" : "nvfp4";
        q.text = fmt::format("AutoRound, {}, {} bit", data_type, q.bits);
        return;
    }
    packing.find("awq") != std::string::npos ? awq(b, q) : gptq(b, q);
    q.text = fmt::format("AutoRound ({}): {}", packing.empty() ? "auto_gptq" : packing, q.text);
}

void bitsandbytes(const Block& b, QuantizationConfig& q) {
    if (b.flag("load_in_8bit") || b.flag("_load_in_8bit")) {
        q.bits = 8;
        q.recipe = "bnb-int8";
        q.text = "bitsandbytes LLM.int8(), 8 bit";
        return;
    }
    const std::string type = b.text("bnb_4bit_quant_type", "fp4");  // the library's default is fp4
    const bool twice = b.flag("bnb_4bit_use_double_quant");
    q.bits = 4;
    q.group = 64;
    q.recipe = twice ? "bnb-nf4-dq" : "bnb-nf4";  // FP4 differs in its code points only
    q.text =
        fmt::format("bitsandbytes {}, 4 bit, groups of 64{}", type, twice ? ", scales quantized too" : "");
}

/// Blocks of FP8 weights that share a scale: [128, 128] is the one size with a recipe.
std::string square_blocks(const Json* sides) {
    return sides && *sides == Json::array({128, 128}) ? "fp8-block128" : "";
}

void fp8(const Block& b, QuantizationConfig& q) {
    q.bits = 8;
    if (const Json* block = b.find("weight_block_size")) {
        q.recipe = square_blocks(block);
        q.text = fmt::format("FP8 {}, blocks of {}", b.text("fmt", "e4m3"), block->dump().substr(0, 40));
        return;
    }
    const bool row = q.method == "fbgemm_fp8";
    q.recipe = row ? "fp8-channel" : "fp8-tensor";
    q.text = fmt::format("FP8 {}, one scale a {}", b.text("fmt", "e4m3"), row ? "channel" : "tensor");
}

void mxfp4(const Block&, QuantizationConfig& q) {
    q.bits = 4;
    q.group = 32;
    q.recipe = "mxfp4-experts";
    q.text = "MXFP4 experts, one power of two for 32 values";
}

/// ModelOpt's algorithms as formats of a matrix.
std::string modelopt_format(std::string_view algorithm) {
    if (algorithm == "NVFP4" || algorithm == "W4A16_NVFP4") return "nvfp4-pack";
    if (algorithm == "FP8") return "fp8-tensor";
    return "";
}

/// MIXED_PRECISION names every quantized module; what most have is the recipe, the others are overrides.
void modelopt_mixed(const Block& b, QuantizationConfig& q) {
    std::map<std::string, int> counts;
    for (const auto& [module, json] : b.inside("quantized_layers").json().items()) {
        if (!json.is_object()) continue;
        const std::string format = modelopt_format(Block(json, b.place()).text("quant_algo"));
        if (!quant::parse_format(format)) return;  // one that nobody taught us: no recipe then
        q.modules.emplace_back(module, format);
        ++counts[format];
    }
    const auto most = std::max_element(counts.begin(), counts.end(),
                                       [](const auto& a, const auto& c) { return a.second < c.second; });
    if (most != counts.end()) q.recipe = most->first == "nvfp4-pack" ? "nvfp4" : most->first;
}

/// ModelOpt: an algorithm by name.
void modelopt(const Block& b, QuantizationConfig& q) {
    const std::string algorithm = b.text("quant_algo", q.method == "modelopt_fp4" ? "NVFP4" : "");
    const bool four = algorithm == "NVFP4" || algorithm == "W4A16_NVFP4";
    q.text = fmt::format("ModelOpt {}", algorithm.empty() ? "without quant_algo" : algorithm);
    q.kv_cache = b.text("kv_cache_quant_algo");
    if (four) {
        q.bits = 4;
        q.group = b.group("group_size", 16);
        q.recipe = "nvfp4";
    } else if (algorithm == "FP8") {
        q.bits = 8;
        q.recipe = "fp8-tensor";
    } else if (algorithm == "MIXED_PRECISION") {
        modelopt_mixed(b, q);
    }
}

void hqq(const Block& b, QuantizationConfig& q) {
    // transformers nests the parameters of the weights two levels down.
    const Block nested = b.inside("quant_config").inside("weight_quant_params");
    const Block& from = nested.json().empty() ? b : nested;
    q.bits = from.bits({"nbits", "bits"});
    q.group = from.group("group_size", 64);
    q.text = fmt::format("HQQ, {} bit, {}", q.bits, group_words(q.group));
    if (q.bits > 0 && q.group > 0) q.recipe = fmt::format("hqq-{}bit-{}g", q.bits, q.group);
}

void quanto(const Block& b, QuantizationConfig& q) {
    const std::string weights = b.text("weights", "int8");
    q.text = fmt::format("quanto {}", weights);
    if (weights == "int8") {
        q.bits = 8;
        q.recipe = "w8a16";
    } else if (weights == "float8") {
        q.bits = 8;
        q.recipe = "fp8-channel";
    }
}

void exllama(const Block& b, QuantizationConfig& q) {
    const double bits = b.number("bits", 0, 1, 16);
    q.text = fmt::format("{}, {} bit", q.method == "exl2" ? "EXL2" : "EXL3", bits);
    if (bits > 0) q.recipe = fmt::format("{}-{}", q.method, bits);
}

void mlx(const Block& b, QuantizationConfig& q) {
    const std::string mode = b.text("mode", "affine");
    q.bits = b.bits({"bits"});
    q.group = b.group("group_size", 64);
    q.text = fmt::format("MLX {}, {} bit, {}", mode, q.bits, group_words(q.group));
    if (mode == "affine" && q.bits > 0 && q.group > 0)
        q.recipe = fmt::format("mlx-{}bit-{}g", q.bits, q.group);
}

/// The weights of one config group of compressed-tensors: type, width and what shares a scale.
void compressed_weights(const Block& group, QuantizationConfig& q) {
    const Block weights = group.inside("weights");
    const Block inputs = group.inside("input_activations");
    const std::string type = weights.text("type", "int");
    const std::string strategy = weights.text("strategy", "tensor");
    q.bits = weights.bits({"num_bits"});
    q.group = weights.group();
    const int activations = inputs.json().empty() ? 16 : inputs.bits({"num_bits"});
    const std::string scale = q.group > 0 ? group_words(q.group) : fmt::format("one scale a {}", strategy);
    q.text = fmt::format("{} {} bit, {}, {} bit activations", type == "float" ? "float" : "integer", q.bits,
                         scale, activations);
    if (type == "float" && q.bits == 4)
        q.recipe = q.group == 32 ? "mxfp4" : "nvfp4";
    else if (type == "float" && q.bits == 8)
        q.recipe = strategy == "block"     ? square_blocks(weights.find("block_structure"))
                   : strategy == "channel" ? "fp8-channel"
                                           : "fp8-tensor";
    else if (type == "int" && q.bits == 8 && q.group == 0)
        q.recipe = activations == 8 ? "w8a8" : "w8a16";
    else if (type == "int" && q.group > 0)
        q.recipe = fmt::format("w{}a{}-g{}", q.bits, activations, q.group);
}

void compressed_tensors(const Block& b, QuantizationConfig& q) {
    const Block groups = b.inside("config_groups");
    int count = 0;
    bool mixed = false;
    for (const auto& [name, json] : groups.json().items()) {
        if (!json.is_object()) continue;
        QuantizationConfig one;
        compressed_weights(Block(json, b.place()), one);
        mixed = mixed || (count > 0 && one.recipe != q.recipe);
        q.text += (count++ == 0 ? "" : "; ") + one.text;
        if (count > 1) continue;
        q.recipe = one.recipe;
        q.bits = one.bits;
        q.group = one.group;
    }
    const std::string format = b.text("format");
    const bool sparse = format == "marlin-24" || format == "sparse-24-bitmask";
    if (mixed || sparse) q.recipe.clear();  // no one recipe says what is stored
    if (mixed) q.bits = 0;
    q.text = fmt::format("compressed-tensors {}: {}", format.empty() ? "without format" : format,
                         count == 0 ? "no config groups" : q.text);
    const Block cache = b.inside("kv_cache_scheme");
    if (const int bits = cache.bits({"num_bits"}); bits > 0)
        q.kv_cache = bits == 8 && cache.text("type") == "float" ? "fp8" : fmt::format("int{}", bits);
}

struct Method {
    std::string_view name;
    void (*read)(const Block&, QuantizationConfig&);
};
constexpr Method kMethods[] = {
    {"gptq", gptq},
    {"gptq_marlin", gptq},
    {"gptqmodel", gptq},
    {"awq", awq},
    {"awq_marlin", awq},
    {"auto-round", auto_round},
    {"autoround", auto_round},
    {"auto_round", auto_round},
    {"intel/auto-round", auto_round},
    {"bitsandbytes", bitsandbytes},
    {"fp8", fp8},
    {"fbgemm_fp8", fp8},
    {"compressed-tensors", compressed_tensors},
    {"compressed_tensors", compressed_tensors},
    {"mxfp4", mxfp4},
    {"modelopt", modelopt},
    {"modelopt_fp4", modelopt},
    {"hqq", hqq},
    {"quanto", quanto},
    {"exl2", exllama},
    {"exl3", exllama},
    {"mlx", mlx},
};

/// Blocks of tools that leave out quant_method give themselves away by their keys.
std::string guess_method(const Block& b, bool written_by_mlx) {
    if (b.find("load_in_4bit") || b.find("load_in_8bit")) return "bitsandbytes";
    if (b.find("config_groups")) return "compressed-tensors";
    if (b.find("quant_algo")) return "modelopt";
    return written_by_mlx ? "mlx" : "";
}

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return text;
}

QuantizationConfig read_block(const Block& b, bool written_by_mlx) {
    QuantizationConfig q;
    q.method = lower(b.text("quant_method"));
    if (q.method.empty()) q.method = guess_method(b, written_by_mlx);
    const auto* known = std::find_if(std::begin(kMethods), std::end(kMethods),
                                     [&](const Method& m) { return m.name == q.method; });
    if (known != std::end(kMethods))
        known->read(b, q);
    else
        q.text = q.method.empty() ? "a quantization without quant_method"
                                  : fmt::format("unknown method '{}'", q.method.substr(0, 40));
    if (!q.recipe.empty()) {
        const auto recipe = quant::match_role_recipe(q.recipe);
        q.recipe = recipe ? recipe->name : "";
    }
    q.unquantized = b.names({"modules_to_not_convert", "ignore", "ignored_layers", "exclude_modules",
                             "llm_int8_skip_modules", "modules_not_quantized", "skip_modules"});
    return q;
}

}  // namespace

std::optional<QuantizationConfig> read_quantization_config(const std::string& config_json,
                                                           const std::string& place) {
    const Json config = parse_config_text(config_json, place);
    const auto object = [](const Json& in, const char* key) -> const Json* {
        const auto it = in.find(key);
        return it != in.end() && it->is_object() && !it->empty() ? &*it : nullptr;
    };
    const Json* text_config = object(config, "text_config");
    const Json* mlx_block = object(config, "quantization");
    for (const Json* in : {&config, text_config})
        for (const char* key : {"quantization_config", "compression_config"})
            if (const Json* block = in ? object(*in, key) : nullptr)
                return read_block(Block(*block, place), mlx_block != nullptr);
    if (mlx_block) return read_block(Block(*mlx_block, place), true);
    return std::nullopt;
}

std::optional<QuantizationConfig> read_hf_quant_config(const std::string& json, const std::string& place) {
    Json config = parse_config_text(json, place);
    const auto block = config.find("quantization");
    if (block == config.end() || !block->is_object()) return std::nullopt;
    if (!block->contains("quant_method")) (*block)["quant_method"] = "modelopt";
    return read_block(Block(*block, place), false);
}

}  // namespace memwall::model
