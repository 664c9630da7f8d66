// The tensor list of a descriptor, named and shaped as the GGUF converter writes it (llama.cpp v0.5.0,
// gguf-py/gguf/tensor_mapping.py), so that rules keyed on tensor names apply to descriptors and files alike.
// Element counts are those of the checkpoint. Types without a GGUF form get names in the same manner.
#include <algorithm>
#include <string>
#include <string_view>

#include "core/model/model.h"

namespace memwall::model {
namespace {

using Dims = std::array<std::int64_t, 4>;

/// Appends tensors whose names share a prefix ("blk.3.") to the model.
class Emitter {
  public:
    Emitter(std::vector<Tensor>& tensors, std::string prefix, int layer)
        : tensors_(tensors), prefix_(std::move(prefix)), layer_(layer) {}

    void tensor(std::string_view name, const Dims& dims, Role role) {
        Tensor t;
        t.name.reserve(prefix_.size() + name.size());
        t.name.append(prefix_).append(name);
        t.dims = dims;
        t.role = role;
        t.layer = layer_;
        tensors_.push_back(std::move(t));
    }
    void vector(std::string_view name, std::int64_t n, Role role) { tensor(name, {n, 1, 1, 1}, role); }
    /// A matrix of `outputs` rows of `inputs` values, stacked `count` times, with one bias a row if asked.
    void linear(const std::string& base, std::int64_t inputs, std::int64_t outputs, Role role,
                bool bias = false, std::int64_t count = 1) {
        tensor(base + ".weight", {inputs, outputs, count, 1}, role);
        if (bias) tensor(base + ".bias", {outputs, count, 1, 1}, Role::bias);
    }
    void norm(const std::string& base, std::int64_t n, bool bias = false) {
        vector(base + ".weight", n, Role::norm);
        if (bias) vector(base + ".bias", n, Role::norm);
    }
    void extras(const std::vector<ExtraTensor>& extras, std::int64_t unnamed) {
        for (const ExtraTensor& x : extras) tensor(x.name, x.dims, Role::other);
        if (unnamed > 0) vector("extra", unnamed, Role::other);
    }

  private:
    std::vector<Tensor>& tensors_;
    std::string prefix_;
    int layer_;
};

void latent_attention(Emitter& e, const Attention& a, std::int64_t hidden) {
    const std::int64_t query_width = a.heads * (a.nope_dim + a.latent_rope_dim);
    if (a.query_rank > 0) {
        e.linear("attn_q_a", hidden, a.query_rank, Role::attn_q_a);
        e.norm("attn_q_a_norm", a.query_rank);
        e.linear("attn_q_b", a.query_rank, query_width, Role::attn_q_b);
    } else {
        e.linear("attn_q", hidden, query_width, Role::attn_q);
    }
    e.linear("attn_kv_a_mqa", hidden, a.latent_rank + a.latent_rope_dim, Role::attn_kv_a);
    e.norm("attn_kv_a_norm", a.latent_rank);
    if (a.fused_kv_b) {
        e.linear("attn_kv_b", a.latent_rank, a.heads * (a.nope_dim + a.value_dim), Role::attn_kv_b);
    } else {  // The converter splits the checkpoint's kv_b, keys transposed, so that decoding absorbs both.
        e.linear("attn_k_b", a.nope_dim, a.latent_rank, Role::attn_k_b, false, a.heads);
        e.linear("attn_v_b", a.latent_rank, a.value_dim, Role::attn_v_b, false, a.heads);
    }
    if (a.gated_output) e.linear("attn_gate", hidden, a.heads * a.value_dim, Role::attn_gate);
    e.linear("attn_output", a.heads * a.value_dim, hidden, Role::attn_output, a.output_bias);
    if (a.index_dim == 0) return;
    const std::int64_t index_inputs = a.query_rank > 0 ? a.query_rank : hidden;
    e.linear("indexer.attn_q_b", index_inputs, a.index_heads * a.index_dim, Role::attn_q_b);
    e.linear("indexer.attn_k", hidden, a.index_dim, Role::attn_k);
    e.norm("indexer.k_norm", a.index_dim, true);
    e.linear("indexer.proj", hidden, a.index_heads, Role::other);
}

void attention(Emitter& e, const Attention& a, std::int64_t hidden) {
    if (a.latent_rank > 0) return latent_attention(e, a, hidden);
    const std::int64_t q = a.heads * a.key_dim * (a.gated_output ? 2 : 1);
    const std::int64_t k = a.kv_heads * a.key_dim, v = a.kv_heads * a.value_dim;
    const bool has_kv = a.shared_with < 0 || a.unused_kv_stored;
    if (a.fused_qkv) {
        e.linear("attn_qkv", hidden, q + k + v, Role::attn_qkv, a.query_bias);
    } else {
        if (a.query_rank > 0) {
            e.linear("attn_q_a", hidden, a.query_rank, Role::attn_q_a);
            e.norm("attn_q_a_norm", a.query_rank);
            e.linear("attn_q_b", a.query_rank, q, Role::attn_q_b);
        } else {
            e.linear("attn_q", hidden, q, Role::attn_q, a.query_bias);
        }
        if (has_kv) e.linear("attn_k", hidden, k, Role::attn_k, a.key_bias);
        if (has_kv && !a.keys_as_values) e.linear("attn_v", hidden, v, Role::attn_v, a.value_bias);
    }
    e.linear("attn_output", a.heads * a.value_dim, hidden, Role::attn_output, a.output_bias);
    if (a.qk_norm != Attention::QkNorm::none) {
        const bool per_head = a.qk_norm == Attention::QkNorm::per_head;
        e.norm("attn_q_norm", per_head ? a.key_dim : a.heads * a.key_dim);
        if (has_kv) e.norm("attn_k_norm", per_head ? a.key_dim : k);
    }
    if (a.sinks) e.vector("attn_sinks.weight", a.heads, Role::sinks);
}

void cross_attention(Emitter& e, const Attention& a, std::int64_t hidden, bool norm_bias) {
    e.norm("cross_attn_norm", hidden, norm_bias);
    const auto part = [&](const char* base, std::int64_t inputs, std::int64_t outputs, bool bias) {
        e.linear(base, inputs, outputs, Role::cross_attention, bias);
    };
    part("cross_attn_q", hidden, a.heads * a.key_dim, a.query_bias);
    part("cross_attn_k", hidden, a.kv_heads * a.key_dim, a.key_bias);
    part("cross_attn_v", hidden, a.kv_heads * a.value_dim, a.value_bias);
    part("cross_attn_output", a.heads * a.value_dim, hidden, a.output_bias);
}

void convolution(Emitter& e, const Recurrent& r, std::int64_t channels) {
    e.tensor("ssm_conv1d.weight", {r.conv_kernel, channels, 1, 1}, Role::recurrent_small);
    if (r.conv_bias) e.vector("ssm_conv1d.bias", channels, Role::bias);
}

void mamba1(Emitter& e, const Recurrent& r, std::int64_t hidden) {
    const std::int64_t rank = r.heads;
    e.linear("ssm_in", hidden, 2 * r.inner, Role::recurrent_in, r.proj_bias);
    convolution(e, r, r.inner);
    e.linear("ssm_x", r.inner, rank + 2 * r.state, Role::recurrent_small);
    e.linear("ssm_dt", rank, r.inner, Role::recurrent_small, true);
    e.tensor("ssm_a", {r.state, r.inner, 1, 1}, Role::recurrent_small);
    e.vector("ssm_d", r.inner, Role::recurrent_small);
    if (r.norm) {
        e.norm("ssm_dt_norm", rank);
        e.norm("ssm_b_norm", r.state);
        e.norm("ssm_c_norm", r.state);
    }
    e.linear("ssm_out", r.inner, hidden, Role::recurrent_out, r.proj_bias);
}

void mamba2(Emitter& e, const Recurrent& r, std::int64_t hidden) {
    const std::int64_t channels = r.inner + 2 * r.groups * r.state;
    e.linear("ssm_in", hidden, r.inner + channels + r.heads, Role::recurrent_in, r.proj_bias);
    convolution(e, r, channels);
    e.vector("ssm_dt.bias", r.heads, Role::recurrent_small);
    e.tensor("ssm_a", {1, r.heads, 1, 1}, Role::recurrent_small);
    e.tensor("ssm_d", {1, r.heads, 1, 1}, Role::recurrent_small);
    if (r.norm) e.tensor("ssm_norm.weight", {r.inner / r.groups, r.groups, 1, 1}, Role::norm);
    e.linear("ssm_out", r.inner, hidden, Role::recurrent_out, r.proj_bias);
}

void delta_net(Emitter& e, const Recurrent& r, std::int64_t hidden) {
    const std::int64_t channels = 2 * r.groups * r.state + r.inner;
    e.linear("attn_qkv", hidden, channels, Role::recurrent_in);
    if (r.gate_rank > 0) {
        e.linear("ssm_g_a", hidden, r.gate_rank, Role::recurrent_small);
        e.linear("ssm_g_b", r.gate_rank, r.inner, Role::recurrent_small);
    } else {
        e.linear("attn_gate", hidden, r.inner, Role::attn_gate);
    }
    convolution(e, r, channels);
    e.vector("ssm_dt.bias", r.decay_rank > 0 ? r.inner : r.heads, Role::recurrent_small);
    e.vector("ssm_a", r.heads, Role::recurrent_small);
    if (r.split_ba) {
        e.linear("ssm_ba", hidden, 2 * r.heads, Role::recurrent_small);
    } else {
        e.linear("ssm_beta", hidden, r.heads, Role::recurrent_small);
        if (r.decay_rank > 0) {
            e.linear("ssm_f_a", hidden, r.decay_rank, Role::recurrent_small);
            e.linear("ssm_f_b", r.decay_rank, r.inner, Role::recurrent_small);
        } else {
            e.linear("ssm_alpha", hidden, r.heads, Role::recurrent_small);
        }
    }
    if (r.norm) e.norm("ssm_norm", r.inner / std::max<std::int64_t>(r.heads, 1));
    e.linear("ssm_out", r.inner, hidden, Role::recurrent_out);
}

void short_convolution(Emitter& e, const Recurrent& r, std::int64_t hidden) {
    e.tensor("shortconv.conv.weight", {r.conv_kernel, hidden, 1, 1}, Role::recurrent_small);
    if (r.conv_bias) e.vector("shortconv.conv.bias", hidden, Role::bias);
    e.linear("shortconv.in_proj", hidden, 3 * hidden, Role::recurrent_in, r.proj_bias);
    e.linear("shortconv.out_proj", hidden, hidden, Role::recurrent_out, r.proj_bias);
}

/// Linear attention whose decay is fixed a head (MiniMax): neither convolution nor learned decay.
void lightning(Emitter& e, const Recurrent& r, std::int64_t hidden) {
    e.linear("attn_qkv", hidden, 3 * r.inner, Role::recurrent_in);
    e.linear("attn_gate", hidden, r.inner, Role::attn_gate);
    e.norm("ssm_norm", r.inner);
    e.linear("ssm_out", r.inner, hidden, Role::recurrent_out);
}

/// RWKV-7: the decay, learning rate, value and gate come through low-rank matrices (the layer's extras).
void rwkv7(Emitter& e, const Recurrent& r, std::int64_t hidden) {
    e.tensor("time_mix_lerp_fused.weight", {hidden, 1, 1, 6}, Role::recurrent_small);
    for (const char* name :
         {"time_mix_k_k.weight", "time_mix_k_a.weight", "time_mix_r_k.weight", "channel_mix_lerp_k.weight"})
        e.vector(name, hidden, Role::recurrent_small);
    for (const char* name : {"time_mix_key", "time_mix_value", "time_mix_receptance"})
        e.linear(name, hidden, r.inner, Role::recurrent_in);
    e.norm("time_mix_ln", r.inner, true);
    e.linear("time_mix_output", r.inner, hidden, Role::recurrent_out);
}

/// RWKV-5 and 6: time mixing, and the receptance gate of the channel mixing that takes the feed-forward's
/// place. 6 has one more interpolation and low-rank matrices (the layer's extras).
void rwkv(Emitter& e, const Recurrent& r, std::int64_t hidden) {
    if (r.generation == 7) return rwkv7(e, r, hidden);
    if (r.generation == 6)
        for (const char* name : {"time_mix_lerp_x.weight", "time_mix_lerp_w.weight"})
            e.vector(name, hidden, Role::recurrent_small);
    for (const char* name :
         {"time_mix_lerp_k.weight", "time_mix_lerp_v.weight", "time_mix_lerp_r.weight",
          "time_mix_lerp_g.weight", "channel_mix_lerp_k.weight", "channel_mix_lerp_r.weight"})
        e.vector(name, hidden, Role::recurrent_small);
    e.tensor("time_mix_decay.weight", {r.state, r.heads, 1, 1}, Role::recurrent_small);
    e.tensor("time_mix_first.weight", {r.state, r.heads, 1, 1}, Role::recurrent_small);
    for (const char* name : {"time_mix_key", "time_mix_value", "time_mix_receptance", "time_mix_gate"})
        e.linear(name, hidden, r.inner, Role::recurrent_in);
    e.norm("time_mix_ln", r.inner, true);
    e.linear("time_mix_output", r.inner, hidden, Role::recurrent_out);
    e.linear("channel_mix_receptance", hidden, hidden, Role::recurrent_in);
}

void recurrent(Emitter& e, const Recurrent& r, std::int64_t hidden) {
    switch (r.kind) {
        case RecurrentKind::mamba1:
            return mamba1(e, r, hidden);
        case RecurrentKind::mamba2:
            return mamba2(e, r, hidden);
        case RecurrentKind::delta_net:
            return delta_net(e, r, hidden);
        case RecurrentKind::short_conv:
            return short_convolution(e, r, hidden);
        case RecurrentKind::rwkv:
            return rwkv(e, r, hidden);
        case RecurrentKind::lightning:
            return lightning(e, r, hidden);
    }
}

void feed_forward(Emitter& e, const FeedForward& f, std::int64_t hidden) {
    if (f.fused_gate_up) {
        e.linear("ffn_up", hidden, 2 * f.width, Role::ffn_up, f.bias);
    } else {
        if (f.gated) e.linear("ffn_gate", hidden, f.width, Role::ffn_gate, f.bias);
        e.linear("ffn_up", hidden, f.width, Role::ffn_up, f.bias);
    }
    e.linear("ffn_down", f.width, hidden, Role::ffn_down, f.bias);
}

void experts(Emitter& e, const Experts& x, std::int64_t hidden) {
    e.linear("ffn_gate_inp", hidden, x.count, Role::router, x.bias);
    if (x.router_bias) e.vector("exp_probs_b.bias", x.count, Role::bias);
    const std::int64_t inputs = x.latent > 0 ? x.latent : hidden;
    if (x.latent > 0) {
        e.linear("ffn_latent_down", hidden, x.latent, Role::other);
        e.linear("ffn_latent_up", x.latent, hidden, Role::other);
    }
    if (x.merged_gate_up) {
        e.linear("ffn_gate_up_exps", inputs, 2 * x.width, Role::expert_up, x.bias, x.count);
    } else {
        if (x.gated) e.linear("ffn_gate_exps", inputs, x.width, Role::expert_gate, x.bias, x.count);
        e.linear("ffn_up_exps", inputs, x.width, Role::expert_up, x.bias, x.count);
    }
    e.linear("ffn_down_exps", x.width, inputs, Role::expert_down, x.bias, x.count);
    if (x.shared_width == 0) return;
    if (x.shared_gate) e.vector("ffn_gate_inp_shexp.weight", hidden, Role::shared_expert_gate);
    if (x.gated) e.linear("ffn_gate_shexp", hidden, x.shared_width, Role::shared_gate);
    e.linear("ffn_up_shexp", hidden, x.shared_width, Role::shared_up);
    e.linear("ffn_down_shexp", x.shared_width, hidden, Role::shared_down);
}

void layer_tensors(Emitter& e, const Layer& layer, const Model& m) {
    static const std::array<std::string, 7> norms = {
        "attn_norm",      "post_attention_norm", "ffn_norm",       "post_ffw_norm",
        "pre_ffw_norm_2", "post_ffw_norm_1",     "post_ffw_norm_2"};
    for (std::size_t i = 0; i < static_cast<std::size_t>(layer.norms); ++i)
        e.norm(layer.norms == 2 && i == 1 ? "ffn_norm"
               : i < norms.size()         ? norms[i]
                                          : "norm_" + std::to_string(i),
               m.hidden, layer.norm_bias);
    if (layer.attention) attention(e, *layer.attention, m.hidden);
    if (layer.recurrent) recurrent(e, *layer.recurrent, m.hidden);
    if (layer.feed_forward) feed_forward(e, *layer.feed_forward, m.hidden);
    if (layer.experts) experts(e, *layer.experts, m.hidden);
    if (m.per_layer_embedding_dim > 0) {
        e.linear("inp_gate", m.hidden, m.per_layer_embedding_dim, Role::other);
        e.linear("proj", m.per_layer_embedding_dim, m.hidden, Role::other);
        e.norm("post_norm", m.hidden);
    }
    if (m.layer_output_scale) e.vector("layer_output_scale.weight", 1, Role::other);
    e.extras(layer.extra_tensors, layer.extra_parameters);
}

void prediction_tensors(Emitter& e, const Model& m) {
    e.linear("nextn.eh_proj", 2 * m.hidden, m.hidden, Role::other);
    e.norm("nextn.enorm", m.hidden);
    e.norm("nextn.hnorm", m.hidden);
    e.norm("nextn.shared_head_norm", m.hidden);
    if (!m.prediction_has_embeddings) return;
    e.linear("nextn.embed_tokens", m.hidden, m.vocabulary, Role::token_embedding);
    e.linear("nextn.shared_head_head", m.hidden, m.vocabulary, Role::output);
}

void global_tensors(Emitter& e, const Model& m) {
    const std::int64_t width = m.embedding_dim > 0 ? m.embedding_dim : m.hidden;
    e.linear("token_embd", width, m.vocabulary, Role::token_embedding);
    if (width != m.hidden) {
        e.linear("project_in", width, m.hidden, Role::other);
        e.linear("project_out", m.hidden, width, Role::other);
    }
    if (m.position_embeddings > 0)
        e.linear("position_embd", m.hidden, m.position_embeddings, Role::position_embedding);
    if (m.per_layer_embedding_dim > 0) {
        const std::int64_t all = m.per_layer_embedding_dim * static_cast<std::int64_t>(m.layers.size());
        e.linear("per_layer_token_embd", all,
                 m.per_layer_vocabulary > 0 ? m.per_layer_vocabulary : m.vocabulary,
                 Role::per_layer_embedding);
        e.linear("per_layer_model_proj", m.hidden, all, Role::other);
        e.norm("per_layer_proj_norm", m.per_layer_embedding_dim);
    }
    for (int i = 0; i < m.extra_norms; ++i)
        e.norm(m.embedder || i == 1 ? "token_embd_norm" : "output_norm", m.hidden, m.extra_norm_bias);
    if (m.output == TiedOutput::untied) e.linear("output", width, m.vocabulary, Role::output);
    if (m.output_bias) e.vector("output.bias", m.vocabulary, Role::bias);
    // More than half a head's worth: one tensor for long contexts and one for short ones (Phi-3.5).
    std::int64_t half_head = m.rope_factors;
    for (const Layer& layer : m.layers)
        if (layer.attention) half_head = layer.attention->key_dim / 2;
    if (m.rope_factors > half_head) {
        e.vector("rope_factors_long.weight", m.rope_factors / 2, Role::rope_factors);
        e.vector("rope_factors_short.weight", m.rope_factors - m.rope_factors / 2, Role::rope_factors);
    } else if (m.rope_factors > 0) {
        e.vector("rope_freqs.weight", m.rope_factors, Role::rope_factors);
    }
    e.extras(m.extra_tensors, m.extra_parameters);
}

}  // namespace

void generate_tensors(Model& model) {
    std::vector<Tensor> tensors;
    tensors.reserve(8 + 24 * (model.layers.size() + model.prediction_layers.size() + model.encoder.size()));
    Emitter globals(tensors, "", -1);
    global_tensors(globals, model);
    int index = 0;
    for (const Layer& layer : model.encoder) {
        Emitter e(tensors, (model.embedder ? "blk." : "enc.blk.") + std::to_string(index++) + ".", -1);
        layer_tensors(e, layer, model);
    }
    index = 0;
    const std::string block = model.cross_attention ? "dec.blk." : "blk.";
    for (const auto* group : {&model.layers, &model.prediction_layers})
        for (const Layer& layer : *group) {
            Emitter e(tensors, block + std::to_string(index) + ".", index);
            layer_tensors(e, layer, model);
            if (model.cross_attention && layer.attention)
                cross_attention(e, *layer.attention, model.hidden, layer.norm_bias);
            if (group == &model.prediction_layers) prediction_tensors(e, model);
            ++index;
        }
    model.tensors = std::move(tensors);
}

}  // namespace memwall::model
