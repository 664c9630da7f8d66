// Models with an encoder: speech and text encoder-decoders, and encoder-only embedders.
#include "core/model/hugging_face/text.h"

namespace memwall::model::hugging_face {
namespace {

Attention square_attention(std::int64_t heads, std::int64_t head_dim) {
    Attention a{.heads = heads, .kv_heads = heads, .key_dim = head_dim, .value_dim = head_dim};
    a.rope = false;
    return a;
}

std::size_t layer_count(const TextConfig& c, Keys keys, std::string_view field) {
    const std::int64_t count = c.keys.required(keys, field);
    if (count > kMostLayers)
        c.keys.fail(std::string(*keys.begin()) + " = " + std::to_string(count),
                    "at most " + std::to_string(kMostLayers) + " layers");
    return static_cast<std::size_t>(count);
}

}  // namespace

void read_whisper(const TextConfig& c) {
    Model& m = c.model;
    const auto build = [&](Keys heads_key, Keys width_key, std::string_view prefix) {
        Layer layer;
        const std::int64_t heads = c.keys.required(heads_key, std::string(prefix) + "heads");
        if (m.hidden % heads != 0)
            c.keys.fail("d_model " + std::to_string(m.hidden) + " does not divide into " +
                            std::to_string(heads) + " heads",
                        "a multiple");
        layer.attention = square_attention(heads, m.hidden / heads);
        layer.attention->query_bias = layer.attention->value_bias = layer.attention->output_bias = true;
        layer.feed_forward = FeedForward{
            .width = c.keys.required(width_key, std::string(prefix) + "width"), .gated = false, .bias = true};
        layer.norm_bias = true;
        return layer;
    };
    m.encoder.assign(layer_count(c, {"encoder_layers"}, "encoder_layers"),
                     build({"encoder_attention_heads"}, {"encoder_ffn_dim"}, "encoder_"));
    m.layers.assign(layer_count(c, {"decoder_layers"}, "layers"),
                    build({"decoder_attention_heads"}, {"decoder_ffn_dim"}, ""));
    m.cross_attention = true;
    m.encoder_positions = c.keys.required({"max_source_positions"}, "encoder_positions");
    m.position_embeddings = m.trained_context;
    m.extra_norm_bias = true;
    const std::int64_t h = m.hidden, mels = c.keys.required({"num_mel_bins"}, "mel_bins");
    m.extra_tensors = {{"enc.conv1.weight", {3, mels, h, 1}},
                       {"enc.conv1.bias", {h, 1, 1, 1}},
                       {"enc.conv2.weight", {3, h, h, 1}},
                       {"enc.conv2.bias", {h, 1, 1, 1}},
                       {"enc.position_embd.weight", {h, m.encoder_positions, 1, 1}},
                       {"enc.output_norm.weight", {h, 1, 1, 1}},
                       {"enc.output_norm.bias", {h, 1, 1, 1}}};
}

void read_t5(const TextConfig& c) {
    Model& m = c.model;
    Layer layer;
    const std::int64_t heads = c.keys.required(kHeadKeys, "heads");
    layer.attention = square_attention(heads, c.keys.required({"d_kv"}, "head_dim"));
    const bool gated = c.keys.text({"feed_forward_proj"}).rfind("gated", 0) == 0;
    layer.feed_forward = FeedForward{.width = c.keys.required({"d_ff"}, "width"), .gated = gated};
    const std::size_t encoder = layer_count(c, {"num_layers"}, "encoder_layers");
    m.encoder.assign(encoder, layer);
    m.layers.assign(
        c.keys.has({"num_decoder_layers"}) ? layer_count(c, {"num_decoder_layers"}, "layers") : encoder,
        layer);
    m.cross_attention = true;
    const std::int64_t buckets =
        c.keys.integer_or({"relative_attention_num_buckets"}, "relative_buckets", 32, "buckets = 32");
    m.extra_tensors = {{"enc.output_norm.weight", {m.hidden, 1, 1, 1}},
                       {"enc.blk.0.attn_rel_b.weight", {heads, buckets, 1, 1}},
                       {"dec.blk.0.attn_rel_b.weight", {heads, buckets, 1, 1}}};
}

void read_embedder(const TextConfig& c) {
    Model& m = c.model;
    m.encoder = std::move(m.layers);
    m.layers.clear();
    m.embedder = true;
    m.output = TiedOutput::tied;
    m.output_bias = false;
    c.keys.has({"global_attn_every_n_layers", "local_attention"});  // windows: an encoder keeps no cache
    const auto types = c.keys.integer({"type_vocab_size"}, "token_types");
    if (types && *types > 0) m.extra_tensors.push_back({"token_types.weight", {m.hidden, *types, 1, 1}});
    if (c.layout.has(kRelativeBias))  // MPNet
        m.extra_tensors.push_back(
            {"relative_attention_bias.weight",
             {c.keys.required(kHeadKeys, "heads"),
              c.keys.integer_or({"relative_attention_num_buckets"}, "relative_buckets", 32, "buckets = 32"),
              1, 1}});
    if (c.layout.learned_positions < 0 || (!types && !c.layout.has(kRelativeBias))) return;  // DistilBERT
    // Sentence encoders take the first token's state through a square layer; GGUF files drop it.
    m.components.push_back({"pooler", m.hidden * m.hidden + m.hidden, true, 0});
}

}  // namespace memwall::model::hugging_face
