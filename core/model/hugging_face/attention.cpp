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
    return c.keys.integer_or({"num_key_value_heads", "num_kv_heads", "n_head_kv", "n_kv_heads",
                              "multi_query_group_num", "num_query_groups"},
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
    const auto given = c.keys.flag({"attention_bias", "add_qkv_bias", "use_qkv_bias", "qkv_bias", "bias",
                                    "use_bias", "enable_bias", "attn_qkv_bias"});
    const bool qkv = given.value_or(c.layout.has(kQueryKeyValueBias));
    // Only keys that name the whole attention reach its output.
    const auto whole = c.keys.flag({"attention_bias", "bias", "use_bias", "enable_bias"});
    a.query_bias = a.key_bias = a.value_bias = qkv;
    a.output_bias = !c.layout.has(kNoOutputBias) && whole.value_or(c.layout.has(kOutputBias));
    c.model.sources["attention_bias"] = given ? "config.json" : "default: as checkpoints of this type have";
}

Attention::QkNorm read_qk_norm(const TextConfig& c) {
    using QkNorm = Attention::QkNorm;
    if (c.layout.has(kWeightlessQkNorm)) return QkNorm::none;
    const bool row = c.layout.has(kNormFullRow), head = c.layout.has(kNormPerHead);
    const bool used = c.keys.flag_or({"use_qk_norm", "qk_layernorm"}, row || head);
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
    a.nope_dim = c.keys.required({"qk_nope_head_dim"}, "nope_dim");
    a.query_rank = c.keys.integer({"q_lora_rank"}, "query_rank").value_or(0);
    a.key_dim = a.nope_dim + a.latent_rope_dim;
    a.value_dim = c.keys.required({"v_head_dim"}, "value_dim");
    a.kv_heads = a.heads;
    a.fused_kv_b = c.layout.has(kFusedKvB);
    a.query_bias = a.key_bias = a.value_bias = false;
}

Attention read_shape(const TextConfig& c) {
    Attention a;
    a.heads = c.keys.required(kHeadKeys, "heads");
    read_biases(c, a);
    if (c.keys.integer({"kv_lora_rank"}).value_or(0) == 0) {
        a.kv_heads = read_kv_heads(c, a.heads);
        a.key_dim = read_head_dim(c, a.heads);
        a.value_dim = c.keys.integer({"v_head_dim"}, "value_dim").value_or(a.key_dim);
    }
    read_latent(c, a);
    a.qk_norm = read_qk_norm(c);
    a.fused_qkv = c.layout.has(kFusedQkv);
    a.gated_output = c.keys.flag_or({"attn_output_gate"}, c.layout.has(kGatedOutput));
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
    return type == "nope" || type == "alibi" || type == "absolute" || type == "learned_absolute" ||
           c.keys.flag_or({"alibi"}, false);
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
    const auto kv_per_layer = c.keys.integers({"num_key_value_heads", "num_kv_heads"});
    const auto rotated = c.keys.integers({"no_rope_layers"});  // 1 = rotates
    const std::int64_t every = c.keys.integer({"no_rope_layer_interval"}).value_or(0);
    const std::int64_t window =
        c.keys.integer({"attention_chunk_size"}, "window")
            .value_or(c.keys.integer({"sliding_window"}, "window").value_or(c.defaults.window));
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
        } else if (any_window) {
            widen_global(c, a);
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
}

}  // namespace memwall::model::hugging_face
