// The tensor list of a descriptor, named and shaped as the GGUF converter writes it, so that rules keyed on
// tensor names apply to descriptors and files alike. Element counts are those of the checkpoint.
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
    // The converter splits the checkpoint's kv_b: keys transposed, so that decoding absorbs both.
    e.linear("attn_k_b", a.nope_dim, a.latent_rank, Role::attn_k_b, false, a.heads);
    e.linear("attn_v_b", a.latent_rank, a.value_dim, Role::attn_v_b, false, a.heads);
    e.linear("attn_output", a.heads * a.value_dim, hidden, Role::attn_output, a.output_bias);
}

void attention(Emitter& e, const Attention& a, std::int64_t hidden) {
    if (a.latent_rank > 0) return latent_attention(e, a, hidden);
    const std::int64_t q = a.heads * a.key_dim * (a.gated_output ? 2 : 1);
    const std::int64_t k = a.kv_heads * a.key_dim, v = a.kv_heads * a.value_dim;
    if (a.fused_qkv) {
        e.linear("attn_qkv", hidden, q + k + v, Role::attn_qkv, a.query_bias);
    } else {
        e.linear("attn_q", hidden, q, Role::attn_q, a.query_bias);
        if (a.shared_with < 0) {
            e.linear("attn_k", hidden, k, Role::attn_k, a.key_bias);
            if (!a.keys_as_values) e.linear("attn_v", hidden, v, Role::attn_v, a.value_bias);
        }
    }
    e.linear("attn_output", a.heads * a.value_dim, hidden, Role::attn_output, a.output_bias);
    if (a.qk_norm != Attention::QkNorm::none) {
        const bool per_head = a.qk_norm == Attention::QkNorm::per_head;
        e.norm("attn_q_norm", per_head ? a.key_dim : a.heads * a.key_dim);
        if (a.shared_with < 0) e.norm("attn_k_norm", per_head ? a.key_dim : k);
    }
    if (a.sinks) e.vector("attn_sinks.weight", a.heads, Role::sinks);
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
    if (x.merged_gate_up) {
        e.linear("ffn_gate_up_exps", hidden, 2 * x.width, Role::expert_up, x.bias, x.count);
    } else {
        if (x.gated) e.linear("ffn_gate_exps", hidden, x.width, Role::expert_gate, x.bias, x.count);
        e.linear("ffn_up_exps", hidden, x.width, Role::expert_up, x.bias, x.count);
    }
    e.linear("ffn_down_exps", x.width, hidden, Role::expert_down, x.bias, x.count);
    if (x.shared_width == 0) return;
    if (x.shared_gate) e.vector("ffn_gate_inp_shexp.weight", hidden, Role::shared_expert_gate);
    if (x.gated) e.linear("ffn_gate_shexp", hidden, x.shared_width, Role::shared_gate);
    e.linear("ffn_up_shexp", hidden, x.shared_width, Role::shared_up);
    e.linear("ffn_down_shexp", x.shared_width, hidden, Role::shared_down);
}

/// Names of the hidden-sized norms of a layer with `count` of them.
void layer_norms(Emitter& e, const Layer& layer, std::int64_t hidden) {
    static const std::string two[] = {"attn_norm", "ffn_norm"};
    static const std::string four[] = {"attn_norm", "post_attention_norm", "ffn_norm", "post_ffw_norm"};
    for (int i = 0; i < layer.norms; ++i)
        e.norm(layer.norms <= 2 ? two[i]
               : i < 4          ? four[i]
                                : "norm_" + std::to_string(i),
               hidden, layer.norm_bias);
}

void layer_tensors(Emitter& e, const Layer& layer, std::int64_t hidden) {
    layer_norms(e, layer, hidden);
    if (layer.attention) attention(e, *layer.attention, hidden);
    if (layer.feed_forward) feed_forward(e, *layer.feed_forward, hidden);
    if (layer.experts) experts(e, *layer.experts, hidden);
    if (layer.extra_parameters > 0) e.vector("extra", layer.extra_parameters, Role::other);
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
    e.linear("token_embd", m.hidden, m.vocabulary, Role::token_embedding);
    e.norm("output_norm", m.hidden, m.extra_norm_bias);
    if (m.output == TiedOutput::untied) e.linear("output", m.hidden, m.vocabulary, Role::output);
    if (m.output_bias) e.vector("output.bias", m.vocabulary, Role::bias);
    if (m.rope_factors > 0) e.vector("rope_freqs.weight", m.rope_factors, Role::rope_factors);
}

}  // namespace

void generate_tensors(Model& model) {
    std::vector<Tensor> tensors;
    tensors.reserve(8 + 24 * (model.layers.size() + model.prediction_layers.size()));
    Emitter globals(tensors, "", -1);
    global_tensors(globals, model);
    int index = 0;
    for (const auto* group : {&model.layers, &model.prediction_layers})
        for (const Layer& layer : *group) {
            Emitter e(tensors, "blk." + std::to_string(index) + ".", index);
            layer_tensors(e, layer, model.hidden);
            if (group == &model.prediction_layers) prediction_tensors(e, model);
            ++index;
        }
    model.tensors = std::move(tensors);
}

}  // namespace memwall::model
