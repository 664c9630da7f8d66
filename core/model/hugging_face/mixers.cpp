// Which layers attend, which recur, and which of them see only a window.
#include "core/model/hugging_face/text.h"

namespace memwall::model::hugging_face {
namespace {

/// One value of `layer_types` or of an older list of the same meaning.
Mixer mixer_named(const TextConfig& c, const std::string& name) {
    if (name == "full_attention" || name == "attention" || name == "global_attention" || name == "global")
        return {};
    if (name == "sliding_attention" || name == "local_attention" || name == "local")
        return {.windowed = true};
    if (name == "chunked_attention") return {.windowed = true, .chunked = true};
    if (name == "deepseek_sparse_attention") return {};  // the indexer has keys of its own
    if (name == "mamba" || name == "mamba2" || name == "linear_attention" || name == "conv" ||
        name == "recurrent")
        return {.attention = false, .recurrent = true, .feed_forward = !c.layout.has(kOneBlock)};
    if (name == "hybrid") return {.recurrent = true};
    // Nemotron-H: a layer is one block.
    if (name == "moe" || name == "mlp") return {.attention = false, .dense = name == "mlp"};
    c.keys.fail(
        "layer type \"" + name.substr(0, 40) + "\"",
        "full_attention, sliding_attention, chunked_attention, linear_attention, mamba, conv, hybrid, "
        "moe or mlp");
}

/// Nemotron-H writes one letter a layer; each layer is one block.
Mixer mixer_lettered(const TextConfig& c, char letter) {
    if (letter == '*') return {.feed_forward = false};
    if (letter == 'M') return {.attention = false, .recurrent = true, .feed_forward = false};
    if (letter == '-' || letter == 'E') return {.attention = false, .dense = letter == '-'};
    c.keys.fail(std::string("hybrid_override_pattern holds '") + letter + "'", "M, *, - or E a layer");
}

/// Layers that attend in a model whose others recur, by periods or index lists; empty when nothing says so.
std::vector<bool> attention_layers(const TextConfig& c) {
    std::vector<bool> attends(static_cast<std::size_t>(c.layers));
    if (const nlohmann::json* linear = c.keys.object({"linear_attn_config"})) {  // Kimi counts from 1
        const ConfigObject keys(*linear, c.keys.place(), c.model);
        const auto full = keys.integers({"full_attn_layers"});
        if (!full) c.keys.fail("no linear_attn_config.full_attn_layers", "the numbers of the layers");
        for (const std::int64_t i : *full)
            if (i >= 1 && i <= c.layers) attends[static_cast<std::size_t>(i - 1)] = true;
        return attends;
    }
    if (const auto list = c.keys.integers({"attn_type_list"})) {  // MiniMax-Text-01: 1 = attention
        for (std::size_t i = 0; i < attends.size() && i < list->size(); ++i) attends[i] = (*list)[i] != 0;
        return attends;
    }
    if (const auto list = c.keys.integers({"full_attn_idxs", "attn_layer_indices"})) {
        for (const std::int64_t i : *list)
            if (i < c.layers) attends[static_cast<std::size_t>(i)] = true;
        return attends;
    }
    std::int64_t period = 0, offset = 0;
    if (const auto every = c.keys.integer({"attn_layer_period"})) {
        period = *every;
        offset = c.keys.integer({"attn_layer_offset"}).value_or(0);
    } else {
        period = c.keys.integer({"full_attention_interval"}).value_or(c.defaults.full_attention_interval);
        offset = period - 1;
    }
    if (period == 0) return {};
    for (int i = 0; i < c.layers; ++i) attends[static_cast<std::size_t>(i)] = i % period == offset % period;
    return attends;
}

/// Layer i sees only the window, by the config's period or the architecture's.
void set_windows(const TextConfig& c, std::vector<Mixer>& mixers) {
    if (const auto pattern = c.keys.integers({"hybrid_layer_pattern"})) {  // MiMo-V2: 1 = window
        for (std::size_t i = 0; i < mixers.size() && i < pattern->size(); ++i)
            mixers[i].windowed = (*pattern)[i] != 0;
        return;
    }
    if (const auto names = c.keys.texts({"attention_layers"})) {  // GPT-Neo
        for (std::size_t i = 0; i < mixers.size() && i < names->size(); ++i)
            mixers[i].windowed = mixer_named(c, (*names)[i]).windowed;
        return;
    }
    const auto chunk = c.keys.integer({"attention_chunk_size"}, "window");
    const auto window = c.keys.length({"sliding_window"}, "window");
    if (!chunk && !window && c.defaults.window == 0) return;
    if (!chunk && !c.keys.flag_or({"use_sliding_window"}, !c.layout.has(kWindowOptIn))) return;
    const std::int64_t width = chunk ? *chunk : window.value_or(c.defaults.window);
    if (width == 0) return;
    // A window as long as the trained context hides nothing.
    if (!c.keys.has({"sliding_window_pattern", "layer_switch"}) && c.defaults.window_period == 0 &&
        width >= c.model.trained_context && c.model.trained_context > 0)
        return;
    const auto period = c.keys.integer({"sliding_window_pattern", "_sliding_window_pattern", "layer_switch"});
    const auto rotated = c.keys.integers({"no_rope_layers"});  // 1 = rotates; the others see everything
    // Qwen2's older rule: the first layers see everything.
    const std::int64_t first = c.keys.flag_or({"use_sliding_window"}, false) && !period
                                   ? c.keys.integer({"max_window_layers"}).value_or(0)
                                   : 0;
    for (int i = 0; i < c.layers; ++i) {
        Mixer& mixer = mixers[static_cast<std::size_t>(i)];
        if (chunk && rotated && !rotated->empty())
            mixer.windowed =
                static_cast<std::size_t>(i) < rotated->size() && (*rotated)[static_cast<std::size_t>(i)] != 0;
        else if (period && *period > 0)
            mixer.windowed = i % *period != *period - 1;
        else if (c.architecture != nullptr && c.defaults.window_period > 0)
            mixer.windowed = layer_is_windowed(*c.architecture, i);
        else
            mixer.windowed = i >= first;
        mixer.chunked = mixer.windowed && (chunk.has_value() || c.defaults.chunked);
    }
}

}  // namespace

std::int64_t count_layers(const ConfigObject& keys, const CheckpointLayout& layout) {
    std::int64_t layers = 0;
    const auto names = keys.texts({"layers_block_type"});
    if (!keys.has(kLayerKeys) && names && !names->empty())
        layers = static_cast<std::int64_t>(names->size());
    else
        layers = keys.required(kLayerKeys, "layers");
    if (layers > kMostLayers)
        keys.fail("num_hidden_layers = " + std::to_string(layers), "at most " + std::to_string(kMostLayers));
    return layout.has(kTwoAttentions) ? 2 * layers : layers;
}

std::int64_t window_of(const TextConfig& c) {
    // MiMo-V2 has a chunk size too, and slides all the same.
    if (!c.keys.has({"hybrid_layer_pattern"}))
        if (const auto chunk = c.keys.integer({"attention_chunk_size"}, "window")) return *chunk;
    const auto window = c.keys.length({"sliding_window", "sliding_window_size", "window_size"}, "window");
    return window.value_or(c.defaults.window);
}

const nlohmann::json* part_of(const nlohmann::json& object, const char* key) {
    if (!object.is_object()) return nullptr;
    const auto it = object.find(key);
    return it != object.end() && it->is_object() ? &*it : nullptr;
}

std::vector<Mixer> read_mixers(const TextConfig& c) {
    const auto count = static_cast<std::size_t>(c.layers);
    // Read where nothing says it layer by layer.
    c.keys.has({"max_window_layers", "full_attention_interval", "sliding_window_pattern"});
    if (const auto names = c.keys.texts({"layer_types", "layers_block_type"})) {
        if (names->size() < count)
            c.keys.fail("layer_types has " + std::to_string(names->size()) + " entries",
                        "one for each of " + std::to_string(c.layers) + " layers");
        std::vector<Mixer> mixers;
        for (std::size_t i = 0; i < count; ++i) {
            mixers.push_back(mixer_named(c, (*names)[i]));
            // Where a layer is one block, attention has no feed-forward either.
            if (c.layout.has(kOneBlock) && mixers.back().attention) mixers.back().feed_forward = false;
        }
        return mixers;
    }
    const std::string letters = c.keys.text({"hybrid_override_pattern"});
    if (!letters.empty()) {
        if (letters.size() != count)
            c.keys.fail("hybrid_override_pattern has " + std::to_string(letters.size()) + " letters",
                        "one for each of " + std::to_string(c.layers) + " layers");
        std::vector<Mixer> mixers;
        for (const char letter : letters) mixers.push_back(mixer_lettered(c, letter));
        return mixers;
    }
    std::vector<Mixer> mixers(count);
    if (c.layout.has(kMixerOnly)) {
        mixers.assign(count, {.attention = false, .recurrent = true, .feed_forward = false});
    } else if (c.defaults.attention_and_recurrent) {
        mixers.assign(count, {.recurrent = true});
    } else if (c.layout.has(kAllRecurrent)) {
        mixers.assign(count, {.attention = false, .recurrent = true});  // RWKV
    } else if (const std::vector<bool> attends = attention_layers(c); !attends.empty()) {
        for (std::size_t i = 0; i < count; ++i) {
            mixers[i].attention = attends[i];
            mixers[i].recurrent = !attends[i];
        }
    }
    set_windows(c, mixers);
    return mixers;
}

}  // namespace memwall::model::hugging_face
