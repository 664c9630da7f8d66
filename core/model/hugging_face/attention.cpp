// Heads, widths, biases and windows of attention layers.
#include "core/model/hugging_face/text.h"

namespace memwall::model::hugging_face {
namespace {

std::int64_t read_kv_heads(const TextConfig& c, std::int64_t heads) {
    // Falcon and GPT-BigCode say "one KV head" with a flag and leave num_kv_heads at the number of heads.
    if (c.keys.flag_or({"multi_query"}, false) && !c.keys.flag_or({"new_decoder_architecture"}, false)) {
        c.model.sources["kv_heads"] = "config.json:multi_query";
        return 1;
    }
    if (c.keys.flag({"multi_query_attention"}) == false) return heads;
    if (c.keys.text({"attn_type"}) == "multiquery_attention") {  // MPT
        c.model.sources["kv_heads"] = "config.json:attn_config.attn_type";
        return 1;
    }
    if (const auto shared = c.keys.integer({"n_shared_head"}, "kv_heads"); shared && *shared > 0)
        return (heads + *shared - 1) / *shared;  // PLaMo: query heads that share one
    if (c.keys.integers({"num_key_value_heads", "num_kv_heads", "num_key_value_heads_per_layer"}))
        return heads;  // set layer by layer
    return c.keys.integer_or({"num_key_value_heads", "num_kv_heads", "n_head_kv", "n_kv_heads", "kv_n_heads",
                              "multi_query_group_num", "num_query_groups", "num_attention_groups"},
                             "kv_heads", heads, "kv_heads = heads");
}

std::int64_t read_head_dim(const TextConfig& c, std::int64_t heads) {
    const auto given = c.keys.integer({"head_dim", "kv_channels", "d_kv", "attention_head_dim"}, "head_dim");
    if (given && *given > 0) return *given;
    if (c.model.hidden % heads != 0)
        c.keys.fail("no head_dim, and hidden_size " + std::to_string(c.model.hidden) +
                        " does not divide into " + std::to_string(heads) + " heads",
                    "head_dim");
    c.keys.note_default("head_dim", "head_dim = hidden/heads");
    return c.model.hidden / heads;
}

void read_biases(const TextConfig& c, Attention& a) {
    if (c.layout.has(kFixedBiases)) {
        a.query_bias = a.key_bias = a.value_bias = c.layout.has(kQueryKeyValueBias);
        a.output_bias = c.layout.has(kOutputBias);
        c.keys.has({"attention_bias"});
        return;
    }
    const auto given = c.keys.flag({"attention_bias", "add_qkv_bias", "use_qkv_bias", "qkv_bias", "bias",
                                    "use_bias", "enable_bias", "attn_qkv_bias"});
    const bool qkv = given.value_or(c.layout.has(kQueryKeyValueBias));
    // Only keys that name the whole attention reach its output.
    const auto whole = c.keys.flag({"attention_bias", "bias", "use_bias", "enable_bias"});
    a.query_bias = a.key_bias = a.value_bias = qkv;
    a.output_bias = !c.layout.has(kNoOutputBias) && whole.value_or(c.layout.has(kOutputBias));
    if (const auto own = c.keys.flag({"attention_out_bias"})) a.output_bias = *own;  // Seed-OSS
    c.model.sources["attention_bias"] = given ? "config.json" : "default: as checkpoints of this type have";
}

Attention::QkNorm read_qk_norm(const TextConfig& c) {
    using QkNorm = Attention::QkNorm;
    if (c.layout.has(kWeightlessQkNorm)) return QkNorm::none;
    const bool row = c.layout.has(kNormFullRow), head = c.layout.has(kNormPerHead);
    const bool used =
        c.keys.flag_or({"use_qk_norm", "qk_layernorm", "qk_norm", "normalize_qk_projections"}, row || head);
    if (!used) return QkNorm::none;
    // Cohere and StableLM norm every head with weights of its own: as many as the row has values.
    const bool per_head_weights = c.layout.norms == 1 || c.layout.has(kLayerNormBias);
    return row || per_head_weights ? QkNorm::full_row : QkNorm::per_head;
}

/// Latent attention where the config has a latent rank; the name decides nothing.
void read_latent(const TextConfig& c, Attention& a) {
    a.latent_rank = c.keys.integer({"kv_lora_rank"}, "latent_rank").value_or(0);
    if (a.latent_rank == 0) return;
    a.latent_rope_dim = c.keys.required({"qk_rope_head_dim"}, "latent_rope_dim");
    c.keys.has({"qk_head_dim", "head_dim", "num_key_value_heads"});  // follow from the others, or unused
    a.nope_dim = c.keys.required({"qk_nope_head_dim"}, "nope_dim");
    a.query_rank = c.keys.integer({"q_lora_rank"}, "query_rank").value_or(0);
    a.key_dim = a.nope_dim + a.latent_rope_dim;
    a.value_dim = c.keys.integer_or({"v_head_dim"}, "value_dim", c.model.hidden / a.heads,
                                    "value_dim = hidden/heads");  // MiniCPM3 leaves it out
    a.kv_heads = a.heads;
    a.fused_kv_b = c.layout.has(kFusedKvB);
    a.query_bias = a.key_bias = a.value_bias = false;
    a.gated_output = c.keys.flag_or({"mla_use_output_gate"}, false);
}

/// The indexer that picks the tokens a query sees (DeepSeek-V3.2, GLM-5).
void read_indexer(const TextConfig& c, Attention& a) {
    a.index_dim = c.keys.integer({"index_head_dim"}, "index_dim").value_or(0);
    if (a.index_dim == 0) return;
    a.index_heads = c.keys.required({"index_n_heads"}, "index_heads");
    c.keys.has({"index_topk", "index_topk_freq"});  // how many it picks changes neither weights nor cache
}

Attention read_shape(const TextConfig& c) {
    Attention a;
    const auto by_layer = c.keys.integers({"num_query_heads"}, "heads");
    a.heads = by_layer && !by_layer->empty() ? by_layer->front() : c.keys.required(kHeadKeys, "heads");
    if (a.heads == 0) c.keys.fail("num_query_heads = 0", "a positive whole number");
    read_biases(c, a);
    if (c.keys.integer({"kv_lora_rank"}).value_or(0) == 0) {
        a.kv_heads = read_kv_heads(c, a.heads);
        a.key_dim = read_head_dim(c, a.heads);
        if (a.kv_heads == 0 || a.heads % a.kv_heads != 0)
            c.keys.fail("num_key_value_heads = " + std::to_string(a.kv_heads),
                        "a divisor of the " + std::to_string(a.heads) + " heads");
        a.value_dim = c.keys.integer({"v_head_dim"}, "value_dim").value_or(a.key_dim);
        if (a.value_dim == 0) a.value_dim = a.key_dim;
        a.query_rank = c.keys.integer({"share_q_dim"}, "query_rank").value_or(0);  // Step-3
        // DeepSeek-VL2 keeps the keys of latent attention, as 0, without it.
        c.keys.has({"use_mla", "qk_rope_head_dim", "qk_nope_head_dim", "q_lora_rank"});
        a.gated_output = c.keys.flag_or({"attn_output_gate"}, c.layout.has(kGatedOutput));
    }
    read_latent(c, a);
    read_indexer(c, a);
    a.qk_norm = read_qk_norm(c);
    a.fused_qkv = c.layout.has(kFusedQkv);
    a.sinks = c.layout.has(kSinks);
    return a;
}

/// Gemma-4: layers that see everything have wider and fewer KV heads than the others.
void widen_global(const TextConfig& c, Attention& a) {
    if (const auto dim = c.keys.integer({"global_head_dim"}, "global_head_dim"); dim && *dim > 0)
        a.key_dim = a.value_dim = *dim;
    if (const auto heads = c.keys.integer({"num_global_key_value_heads"}, "global_kv_heads");
        heads && *heads > 0)
        a.kv_heads = *heads;
    a.keys_as_values = c.keys.flag_or({"attention_k_eq_v"}, false);
}

bool no_positions(const TextConfig& c) {
    const std::string type = c.keys.text({"position_embedding_type"});
    if (c.keys.flag_or({"mla_use_nope"}, false)) return true;  // Kimi-Linear
    return type == "nope" || type == "alibi" || type == "absolute" || type == "learned_absolute" ||
           c.keys.flag_or({"alibi"}, false);
}

/// MiMo-V2 and Step-3.5: layers with a window have heads of their own.
void narrow_windowed(const TextConfig& c, Attention& a) {
    if (const auto heads = c.keys.integer({"swa_num_key_value_heads"}, "swa_kv_heads"); heads && *heads > 0)
        a.kv_heads = *heads;
    if (const auto heads = c.keys.integer({"swa_num_attention_heads"}, "swa_heads"); heads && *heads > 0)
        a.heads = *heads;
    if (const auto dim = c.keys.integer({"swa_head_dim"}, "swa_head_dim"); dim && *dim > 0)
        a.key_dim = a.value_dim = *dim;
    if (const auto dim = c.keys.integer({"swa_v_head_dim"}, "swa_v_head_dim"); dim && *dim > 0)
        a.value_dim = *dim;
    a.sinks = c.keys.flag_or({"add_swa_attention_sink_bias"}, a.sinks);
    if (const nlohmann::json* other = c.keys.object({"attention_other_setting"})) {  // Step-3.5
        const ConfigObject keys(*other, c.keys.place(), c.model);
        a.heads = keys.integer_or({"num_attention_heads"}, "", a.heads, "");
        a.kv_heads = keys.integer_or({"num_attention_groups"}, "", a.kv_heads, "");
    }
}

/// Hunyuan-Large: of so many neighbouring layers the first one's cache serves all.
void share_neighbours(const TextConfig& c) {
    const std::int64_t factor = c.keys.integer({"cla_share_factor"}, "shared_layers").value_or(1);
    if (factor < 2 || !c.keys.flag_or({"use_cla"}, false)) return;
    for (int i = 0; i < c.layers; ++i)
        if (auto& a = c.model.layers[static_cast<std::size_t>(i)].attention; a && i % factor != 0)
            a->shared_with = i - static_cast<int>(i % factor);
}

/// Llama-3.2-Vision: these layers attend to the picture; its cells are those of the largest one.
void look_at_pictures(const TextConfig& c) {
    const auto list = c.keys.integers({"cross_attention_layers"}, "picture_layers");
    if (!list) return;
    for (const std::int64_t i : *list) {
        if (i >= c.layers) continue;
        auto& a = c.model.layers[static_cast<std::size_t>(i)].attention;
        if (!a) continue;
        a->picture_cells = c.picture_cells;
        a->qk_norm = Attention::QkNorm::per_head;
        a->rope = false;
        c.model.layers[static_cast<std::size_t>(i)].extra_tensors.push_back(
            {"cross_attn_gates", {2, 1, 1, 1}});
    }
}

/// OpenELM and Nemotron-NAS: heads a layer.
void set_heads_by_layer(const TextConfig& c) {
    if (const auto list = c.keys.integers({"num_query_heads"}, "heads"))
        for (std::size_t i = 0; i < c.model.layers.size() && i < list->size(); ++i)
            if (auto& a = c.model.layers[i].attention) a->heads = (*list)[i];
    const nlohmann::json* blocks = c.keys.list({"block_configs"});
    for (std::size_t i = 0; blocks != nullptr && i < blocks->size() && i < c.model.layers.size(); ++i) {
        auto& attention = c.model.layers[i].attention;
        const nlohmann::json* block = part_of((*blocks)[i], "attention");
        if (!attention || block == nullptr) continue;
        const ConfigObject keys(*block, c.keys.place(), c.model);
        const std::int64_t group = keys.integer({"n_heads_in_group"}).value_or(0);
        if (keys.flag_or({"no_op"}, false)) {
            attention.reset();
        } else if (keys.flag_or({"replace_with_linear"}, false)) {
            attention.reset();
            c.model.layers[i].extra_tensors.push_back(
                {"attn_linear.weight", {c.model.hidden, c.model.hidden, 1, 1}});
        } else if (group > 0) {
            attention->kv_heads = attention->heads / group;
        }
    }
    if (blocks != nullptr) c.model.sources["kv_heads"] = "config.json:block_configs";
}

/// GLM-5.2: layers of the type "shared" use the tokens that an earlier layer's indexer picked.
void share_indexers(const TextConfig& c) {
    const auto types = c.keys.texts({"indexer_types"});
    for (std::size_t i = 0; types && i < types->size() && i < c.model.layers.size(); ++i)
        if (auto& a = c.model.layers[i].attention; a && (*types)[i] == "shared")
            a->index_heads = a->index_dim = 0;
}

/// The last layers read the cache of the last earlier layer of their kind (Gemma-3n, Gemma-4).
void share_caches(const TextConfig& c) {
    const std::int64_t shared = c.keys.integer({"num_kv_shared_layers"}, "shared_layers").value_or(0);
    if (shared >= c.layers && shared > 0)
        c.keys.fail("num_kv_shared_layers = " + std::to_string(shared),
                    "fewer than the " + std::to_string(c.layers) + " layers");
    const int own = c.layers - static_cast<int>(shared);
    int last[2] = {-1, -1};  // of the layers that see everything, and of the windowed ones
    for (int i = 0; i < c.layers; ++i) {
        auto& attention = c.model.layers[static_cast<std::size_t>(i)].attention;
        if (!attention) continue;
        int& owner = last[attention->window > 0 ? 1 : 0];
        if (i < own)
            owner = i;
        else
            attention->shared_with = owner;
    }
}

}  // namespace

void read_attention(const TextConfig& c, const std::vector<Mixer>& mixers) {
    bool any = false, any_window = false;
    for (const Mixer& mixer : mixers) {
        any = any || mixer.attention;
        any_window = any_window || (mixer.attention && mixer.windowed);
    }
    if (!any) return;
    const Attention shape = read_shape(c);
    const auto kv_per_layer =
        c.keys.integers({"num_key_value_heads", "num_kv_heads", "num_key_value_heads_per_layer"}, "kv_heads");
    const auto rotated = c.keys.integers({"no_rope_layers"});  // 1 = rotates
    const std::int64_t every = c.keys.integer({"no_rope_layer_interval"}).value_or(0);
    const std::int64_t window = window_of(c);
    const bool positions = !no_positions(c);
    for (int i = 0; i < c.layers; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const Mixer& mixer = mixers[at];
        if (!mixer.attention) continue;
        Attention a = shape;
        if (kv_per_layer && at < kv_per_layer->size() && a.latent_rank == 0) a.kv_heads = (*kv_per_layer)[at];
        if (mixer.windowed) {
            a.window = window;
            a.chunked = mixer.chunked;
            narrow_windowed(c, a);
        } else if (any_window) {
            widen_global(c, a);
            a.sinks = c.keys.flag_or({"add_full_attention_sink_bias"}, a.sinks);
        }
        if (rotated && at < rotated->size())
            a.rope = (*rotated)[at] != 0;
        else if (every > 0)
            a.rope = (i + 1) % every != 0;
        else
            a.rope = positions && (c.architecture == nullptr ||
                                   layer_rotates(*c.architecture, i, mixer.windowed, any_window));
        c.model.layers[at].attention = a;
    }
    share_caches(c);
    share_neighbours(c);
    share_indexers(c);
    look_at_pictures(c);
    set_heads_by_layer(c);
}

}  // namespace memwall::model::hugging_face
