// What a checkpoint's config.json says about its quantization, as a recipe that core/quant knows and in
// words.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace memwall::model {

struct QuantizationConfig {
    std::string method;  ///< quant_method as the file spells it: "gptq", "compressed-tensors"
    std::string
        recipe;  ///< a name of core/quant/recipe.h; empty = nothing there fits, `text` says what is known
    std::string text;                      ///< in words: "GPTQ, 4 bit, groups of 128, activation order"
    int bits = 0;                          ///< a stored weight code; 0 = not said
    int group = 0;                         ///< weights a scale; 0 = a channel, a tensor or not said
    std::vector<std::string> unquantized;  ///< modules or patterns left alone, as the file spells them
    /// Modules with formats of their own, as names of core/quant/format.h ("nvfp4-pack").
    std::vector<std::pair<std::string, std::string>> modules;
    std::string kv_cache;  ///< format of a cache the checkpoint brings scales for: "fp8"; mostly empty
};

/// Reads `quantization_config` (also below `text_config`), the older `compression_config`, and `quantization`
/// of MLX. nullopt when the config has none of them. A method that nobody taught us is no error: its recipe
/// is empty. Throws Error when the text is no JSON object or says something impossible, such as 4,000 bits.
std::optional<QuantizationConfig> read_quantization_config(const std::string& config_json,
                                                           const std::string& place);

/// The file that ModelOpt writes beside config.json: the same block under "quantization".
std::optional<QuantizationConfig> read_hf_quant_config(const std::string& json, const std::string& place);

}  // namespace memwall::model
