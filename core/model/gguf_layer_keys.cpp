#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/model/gguf_layers.h"

namespace memwall::model {
namespace {

void read_heads(LayerKeys& k, GgufKeys& keys, const GgufFile& file, bool has_attention) {
    const auto heads = keys.per_layer("heads", "attention.head_count", k.blocks);
    if (heads) {
        k.heads = *heads;
    } else if (k.has_state && !has_attention) {
        k.heads.assign(static_cast<std::size_t>(k.blocks), 0);
        keys.assume("heads", "no attention in a purely recurrent model");
    } else {
        throw Error(
            file.name, fmt::format("no key '{}'", keys.full("attention.head_count")), "",
            "the number of heads cannot be told from other keys; convert the model again with current "
            "tools");
    }
    if (const auto kv = keys.per_layer("kv_heads", "attention.head_count_kv", k.blocks)) {
        k.kv_heads = *kv;
    } else {
        k.kv_heads = k.heads;
        keys.assume("kv_heads", "kv_heads = heads");
    }
    for (std::size_t i = 0; i < k.heads.size(); ++i)
        if (k.kv_heads[i] > 0 && k.heads[i] == 0)
            throw Error(file.name, fmt::format("{} KV heads but no heads in layer {}", k.kv_heads[i], i),
                        "at least one head where there are KV heads");
}

void read_head_widths(LayerKeys& k, GgufKeys& keys, const GgufFile& file) {
    const auto first = std::find_if(k.heads.begin(), k.heads.end(), [](std::int64_t n) { return n > 0; });
    const std::int64_t even = first == k.heads.end() ? 0 : k.hidden / *first;
    k.latent_rank = keys.integer("latent_rank", "attention.kv_lora_rank").value_or(0);
    // Latent attention: plain key_length and value_length describe the cached latent, the "_mla" ones the
    // heads.
    const auto width = [&](std::string_view field, const char* plain, const char* latent) {
        auto n = k.latent_rank > 0 ? keys.integer(field, latent) : std::nullopt;
        if (!n) n = keys.integer(field, plain);
        if (!n) keys.assume(field, "head_dim = hidden/heads");
        return n.value_or(even);
    };
    k.key_dim = width("key_dim", "attention.key_length", "attention.key_length_mla");
    k.value_dim = width("value_dim", "attention.value_length", "attention.value_length_mla");
    k.windowed_key_dim = keys.integer("windowed_key_dim", "attention.key_length_swa").value_or(k.key_dim);
    k.windowed_value_dim =
        keys.integer("windowed_value_dim", "attention.value_length_swa").value_or(k.value_dim);
    if (first != k.heads.end() && (k.key_dim == 0 || k.value_dim == 0))
        throw Error(file.name, fmt::format("heads of {} x {} values", k.key_dim, k.value_dim),
                    "heads of at least one value");
    if (k.latent_rank > 0) {
        k.latent_rope_dim = keys.integer("latent_rope_dim", "rope.dimension_count").value_or(0);
        k.query_rank = keys.integer("query_rank", "attention.q_lora_rank").value_or(0);
        keys.assume("kv_heads", "each head has keys and values of its own in the expanded latent");
    }
}

void read_window(LayerKeys& k, GgufKeys& keys, const Architecture& architecture, Model& model) {
    k.windowed.assign(static_cast<std::size_t>(k.blocks), false);
    if (const auto window = keys.integer("window", "attention.sliding_window", GgufKeys::kMaxTokens)) {
        k.window = *window;
    } else if (architecture.defaults.window > 0) {
        k.window = architecture.defaults.window;
        keys.assume("window", fmt::format("{} has {} tokens", architecture.name, k.window));
    }
    if (k.window == 0) return;
    const char* pattern_key = "attention.sliding_window_pattern";
    const GgufEntry* entry = keys.find(pattern_key);
    const auto pattern = keys.per_layer("window_pattern", pattern_key, k.blocks - k.prediction);
    if (pattern && entry->value.type == GgufType::array) {
        for (std::size_t i = 0; i < pattern->size(); ++i) k.windowed[i] = (*pattern)[i] != 0;
        return;
    }
    Architecture periodic = architecture;
    if (pattern && !pattern->empty()) {
        periodic.defaults.window_period =
            static_cast<std::int16_t>(std::min(pattern->front(), GgufKeys::kMaxLayers));
    } else if (architecture.source.empty()) {  // not in the table
        model.warnings.push_back(
            "the file names a window but not its layers; all layers are taken to see everything");
        return;
    } else {
        keys.assume("window_pattern",
                    fmt::format("{} windows by the table of architectures", architecture.name));
    }
    for (std::int64_t i = 0; i < k.blocks - k.prediction; ++i)
        k.windowed[static_cast<std::size_t>(i)] = layer_is_windowed(periodic, static_cast<int>(i));
}

void read_cache_sharing(LayerKeys& k, GgufKeys& keys, const Architecture& architecture) {
    k.own_caches = k.blocks;
    const std::int64_t layers = k.blocks - k.prediction;
    if (const auto shared = keys.integer("shared_with", "attention.shared_kv_layers")) {
        if (*shared > 0) k.own_caches = std::max<std::int64_t>(layers - *shared, 0);
    } else if (architecture.defaults.own_cache_layers > 0) {
        k.own_caches = std::min<std::int64_t>(layers, architecture.defaults.own_cache_layers);
        keys.assume("shared_with", fmt::format("the first {} layers own caches", k.own_caches));
    }
}

void read_state(LayerKeys& k, GgufKeys& keys, const Architecture& architecture, Model& model) {
    k.conv_kernel = keys.integer("conv_kernel", "ssm.conv_kernel").value_or(0);
    k.inner = keys.integer("recurrent_inner", "ssm.inner_size").value_or(0);
    k.state = keys.integer("recurrent_state", "ssm.state_size").value_or(0);
    k.state_heads = keys.integer("recurrent_heads", "ssm.time_step_rank").value_or(0);
    k.groups = keys.integer("recurrent_groups", "ssm.group_count").value_or(0);
    k.short_conv = keys.integer("conv_kernel", "shortconv.l_cache").value_or(0);
    k.token_shift_head = keys.integer("recurrent_state", "wkv.head_size").value_or(0);
    k.kda_head_dim = keys.integer("recurrent_state", "kda.head_dim").value_or(0);
    if (k.token_shift_head > 0)
        k.token_shift_rows = keys.integer("conv_kernel", "token_shift_count").value_or(2);
    k.has_state = k.inner > 0 || k.short_conv > 0 || k.token_shift_head > 0 || k.kda_head_dim > 0;
    if (k.has_state)
        model.sources["recurrent"] = "gguf:" + keys.full(k.inner > 0          ? "ssm.*"
                                                         : k.short_conv > 0   ? "shortconv.l_cache"
                                                         : k.kda_head_dim > 0 ? "kda.head_dim"
                                                                              : "wkv.head_size");
    k.delta_net = k.kda_head_dim > 0 || architecture.defaults.full_attention_interval > 0 ||
                  keys.find("full_attention_interval");
}

/// Which layers are recurrent: a list, an interval, or the layers without KV heads.
void read_recurrent_layers(LayerKeys& k, GgufKeys& keys, const Architecture& architecture) {
    k.recurrent.assign(static_cast<std::size_t>(k.blocks), false);
    if (!k.has_state) return;
    const auto listed = keys.per_layer("recurrent_layers", "attention.recurrent_layers", k.blocks);
    std::int64_t interval = 0;
    if (!listed) {
        const auto given = keys.integer("recurrent_layers", "full_attention_interval");
        interval = given.value_or(architecture.defaults.full_attention_interval);
        if (!given && interval > 0)
            keys.assume("recurrent_layers", fmt::format("every {}th layer has attention", interval));
    }
    for (std::size_t i = 0; i < k.recurrent.size(); ++i) {
        const auto layer = static_cast<std::int64_t>(i);
        if (layer >= k.blocks - k.prediction) break;
        k.recurrent[i] = listed         ? (*listed)[i] != 0
                         : interval > 0 ? (layer + 1) % interval != 0
                                        : k.kv_heads[i] == 0;
    }
}

void read_experts(LayerKeys& k, GgufKeys& keys, const Architecture& architecture, Model& model) {
    const std::vector<std::int64_t> none(static_cast<std::size_t>(k.blocks), 0);
    k.widths = keys.per_layer("feed_forward_width", "feed_forward_length", k.blocks).value_or(none);
    k.experts = keys.integer("experts", "expert_count").value_or(0);
    const auto used = keys.per_layer("experts_used", "expert_used_count", k.blocks);
    if (!used && k.experts > 0) {
        keys.assume("experts_used", "all of them");
        model.warnings.push_back("the file does not say how many experts a token visits; all are counted");
    }
    k.experts_used = used.value_or(none);
    const auto widths = keys.per_layer("expert_width", "expert_feed_forward_length", k.blocks);
    if (!widths && k.experts > 0) keys.assume("expert_width", "expert_width = feed_forward_width");
    k.expert_widths = widths.value_or(k.widths);
    k.shared_experts = keys.integer("shared_experts", "expert_shared_count").value_or(0);
    k.shared_width = keys.integer("shared_width", "expert_shared_feed_forward_length").value_or(0);
    k.dense_lead = keys.integer("dense_lead", "leading_dense_block_count").value_or(0);
    k.expert_step =
        std::max<std::int64_t>(keys.integer("expert_step", "interleave_moe_layer_step").value_or(1), 1);
    k.expert_groups = keys.integer("expert_groups", "expert_group_count").value_or(1);
    k.expert_groups_used = keys.integer("expert_groups_used", "expert_group_used_count").value_or(1);

    // 1 softmax, 2 sigmoid, 3 softmax of the chosen (enum llama_expert_gating_func_type, llama.cpp v0.5.0)
    const auto gating = keys.integer("expert_gating", "expert_gating_func").value_or(0);
    k.gating = gating == 1   ? Gating::softmax
               : gating == 2 ? Gating::sigmoid
               : gating == 3 ? Gating::softmax_of_chosen
                             : architecture.defaults.gating;
    if (gating == 0) keys.assume("expert_gating", fmt::format("as {} does", architecture.name));
    const auto normalized = keys.flag("normalized", "expert_weights_norm");
    k.normalized = normalized.value_or(architecture.defaults.normalized_experts);
    if (!normalized) keys.assume("normalized", fmt::format("as {} does", architecture.name));
    const double scale = keys.real("expert_scale", "expert_weights_scale").value_or(1);
    k.expert_scale = scale == 0 ? 1 : scale;  // 0 means none to engines
}

}  // namespace

LayerKeys read_layer_keys(GgufKeys& keys, const GgufFile& file, const Architecture& architecture,
                          bool has_attention, Model& model) {
    LayerKeys k;
    const char* hint = "the file is no language model, or an incomplete conversion of one";
    k.hidden = keys.required("hidden", "embedding_length", hint);
    k.blocks = keys.required("layers", "block_count", hint, GgufKeys::kMaxLayers);
    k.encoder_blocks = k.blocks;
    k.decoder_blocks =
        keys.integer("decoder_layers", "decoder_block_count", GgufKeys::kMaxLayers).value_or(k.blocks);
    k.blocks = std::max(k.encoder_blocks, k.decoder_blocks);
    k.prediction = keys.integer("prediction_layers", "nextn_predict_layers", k.blocks).value_or(0);
    read_state(k, keys, architecture, model);
    read_heads(k, keys, file, has_attention);
    read_head_widths(k, keys, file);
    read_window(k, keys, architecture, model);
    read_cache_sharing(k, keys, architecture);
    read_recurrent_layers(k, keys, architecture);
    read_experts(k, keys, architecture, model);
    if (architecture.defaults.rotates == Rotates::unless_untuned)
        k.untuned_rope = !keys.flag("rope", "rope.scaling.finetuned").value_or(true);
    return k;
}

}  // namespace memwall::model
