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
    if (name == "mamba" || name == "mamba2" || name == "linear_attention" || name == "conv" ||
        name == "recurrent")
        return {.attention = false, .recurrent = true};
    if (name == "hybrid") return {.recurrent = true};
    c.model.warnings.push_back("layer type \"" + name.substr(0, 40) +
                               "\" is unknown: read as full attention");
    return {};
}

/// Nemotron-H writes one letter a layer; each layer is one block.
Mixer mixer_lettered(const TextConfig& c, char letter) {
    if (letter == '*') return {.feed_forward = false};
    if (letter == 'M') return {.attention = false, .recurrent = true, .feed_forward = false};
    if (letter == '-' || letter == 'E') return {.attention = false};
    c.keys.fail(std::string("hybrid_override_pattern holds '") + letter + "'", "M, *, - or E a layer");
}

/// Layers that attend in a model whose others recur, by periods or index lists; empty when nothing says so.
std::vector<bool> attention_layers(const TextConfig& c) {
    std::vector<bool> attends(static_cast<std::size_t>(c.layers));
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
    const auto chunk = c.keys.integer({"attention_chunk_size"}, "window");
    const auto window = c.keys.integer({"sliding_window"}, "window");
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

std::vector<Mixer> read_mixers(const TextConfig& c) {
    const auto count = static_cast<std::size_t>(c.layers);
    if (const auto names = c.keys.texts({"layer_types", "layers_block_type"})) {
        if (names->size() < count)
            c.keys.fail("layer_types has " + std::to_string(names->size()) + " entries",
                        "one for each of " + std::to_string(c.layers) + " layers");
        std::vector<Mixer> mixers;
        for (std::size_t i = 0; i < count; ++i) mixers.push_back(mixer_named(c, (*names)[i]));
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
    } else if (c.keys.has({"attention_hidden_size", "head_size"}) && !c.keys.has(kHeadKeys)) {
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
