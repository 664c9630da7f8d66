#include "core/model/gguf_layers.h"

#include <algorithm>

namespace memwall::model {
namespace {

std::size_t at(int index) {
    return static_cast<std::size_t>(index);
}

Attention::QkNorm qk_norm(const LayerTensors& t, std::int64_t key_dim) {
    const GgufTensor* norm = t.find("attn_q_norm.weight");
    if (!norm) return Attention::QkNorm::none;
    return norm->dims[0] == key_dim && norm->dims[1] == 1 ? Attention::QkNorm::per_head
                                                          : Attention::QkNorm::full_row;
}

/// The layer whose cache layer `index` reads: the last one with a cache of its own and the same kind of
/// window.
int cache_owner(const LayerKeys& k, int index) {
    if (index < k.own_caches) return -1;
    for (auto owner = static_cast<int>(k.own_caches) - 1; owner >= 0; --owner)
        if (k.windowed[at(owner)] == k.windowed[at(index)] && k.kv_heads[at(owner)] > 0) return owner;
    return -1;
}

void read_latent(Attention& a, const LayerKeys& k, const LayerTensors& t) {
    a.latent_rank = k.latent_rank;
    a.latent_rope_dim = k.latent_rope_dim;
    if (const GgufTensor* down = t.find("attn_kv_a_mqa.weight"); down && a.latent_rope_dim == 0)
        a.latent_rope_dim = std::max<std::int64_t>(down->dims[1] - a.latent_rank, 0);
    a.nope_dim = std::max<std::int64_t>(a.key_dim - a.latent_rope_dim, 0);
    a.query_rank = t.empty() || t.has("attn_q_a.weight") ? k.query_rank : 0;
    a.kv_heads = a.heads;
    a.fused_kv_b = t.has("attn_kv_b.weight") && !t.has("attn_k_b.weight");
}

Attention read_attention(const LayerKeys& k, const Architecture& architecture, const LayerTensors& t,
                         int index, bool prediction) {
    Attention a;
    const bool windowed = !prediction && k.windowed[at(index)];
    a.heads = k.heads[at(index)];
    a.kv_heads = k.kv_heads[at(index)];
    a.key_dim = windowed ? k.windowed_key_dim : k.key_dim;
    a.value_dim = windowed ? k.windowed_value_dim : k.value_dim;
    a.window = windowed ? k.window : 0;
    a.chunked = windowed && architecture.defaults.chunked;
    if (!prediction) a.shared_with = cache_owner(k, index);
    if (k.latent_rank > 0) read_latent(a, k, t);

    a.fused_qkv = t.has("attn_qkv.weight");
    a.query_bias = t.has("attn_q.bias") || t.has("attn_qkv.bias");
    a.key_bias = t.has("attn_k.bias") || t.has("attn_qkv.bias");
    a.value_bias = t.has("attn_v.bias") || t.has("attn_qkv.bias");
    a.output_bias = t.has("attn_output.bias");
    a.qk_norm = qk_norm(t, a.key_dim);
    if (const GgufTensor* q = t.find("attn_q.weight"); q && a.latent_rank == 0)
        a.gated_output = q->dims[1] == 2 * a.heads * a.key_dim;
    a.sinks = t.has(Role::sinks);
    const bool stores_keys = t.has("attn_k.weight");
    a.keys_as_values =
        a.shared_with < 0 && stores_keys && a.latent_rank == 0 && !t.has("attn_v.weight") && !a.fused_qkv;
    a.unused_kv_stored = a.shared_with >= 0 && stores_keys;
    const bool any_window = std::find(k.windowed.begin(), k.windowed.end(), true) != k.windowed.end();
    a.rope = layer_rotates(architecture, index, windowed, any_window) &&
             !(architecture.defaults.rotates == Rotates::unless_untuned && k.untuned_rope);
    return a;
}

Recurrent read_recurrent(const LayerKeys& k, const LayerTensors& t, int index) {
    Recurrent r;
    r.conv_kernel = k.conv_kernel;
    r.inner = k.inner;
    r.state = k.state;
    r.heads = k.state_heads;
    r.groups = std::max<std::int64_t>(k.groups, 1);
    r.norm = t.has("ssm_norm.weight");
    r.conv_bias = t.has("ssm_conv1d.bias") || t.has("shortconv.conv.bias");
    r.proj_bias = t.has("ssm_in.bias") || t.has("ssm_out.bias") || t.has("shortconv.in_proj.bias");
    r.split_ba = t.has("ssm_ba.weight");
    if (k.token_shift_head > 0) {
        r.kind = RecurrentKind::rwkv;
        r.inner = k.hidden;
        r.state = k.token_shift_head;
        r.heads = k.hidden / k.token_shift_head;
        r.conv_kernel = k.token_shift_rows;
    } else if (k.short_conv > 0) {
        r.kind = RecurrentKind::short_conv;
        r.inner = k.hidden;
        r.conv_kernel = k.short_conv;
    } else if (k.kda_head_dim > 0) {
        r.kind = RecurrentKind::delta_net;
        r.heads = r.groups = k.heads[at(index)];
        r.state = k.kda_head_dim;
        r.inner = r.heads * k.kda_head_dim;
    } else if (k.delta_net || r.split_ba || t.has("ssm_beta.weight")) {
        r.kind = RecurrentKind::delta_net;
    } else if (k.groups == 0) {
        // Mamba-1 has no groups; its norms, where there are any, are those of dt, B and C.
        r.kind = RecurrentKind::mamba1;
        r.norm = t.has("ssm_dt_norm.weight");
    } else {
        r.kind = RecurrentKind::mamba2;
    }
    return r;
}

std::optional<FeedForward> read_feed_forward(const LayerKeys& k, const LayerTensors& t, int index,
                                             bool dense) {
    const GgufTensor* down = t.find("ffn_down.weight");
    if (!down) down = t.find("channel_mix_value.weight");
    if (t.empty() ? !dense || k.widths[at(index)] == 0 : down == nullptr) return std::nullopt;
    FeedForward f;
    f.width = down ? down->dims[0] : k.widths[at(index)];
    if (down) {
        const GgufTensor* up = t.find("ffn_up.weight");
        f.fused_gate_up = up && !t.has("ffn_gate.weight") && up->dims[1] == 2 * f.width;
        f.gated = f.fused_gate_up || t.has("ffn_gate.weight");
        f.bias = t.has("ffn_up.bias") || t.has("ffn_down.bias");
    }
    return f;
}

std::optional<Experts> read_experts(const LayerKeys& k, const LayerTensors& t, int index, bool sparse) {
    if (t.empty() ? !sparse : !t.has(Role::expert_down)) return std::nullopt;
    Experts e;
    e.count = k.experts;
    e.width = k.expert_widths[at(index)];
    if (const GgufTensor* down = t.find("ffn_down_exps.weight")) {
        e.width = down->dims[0];
        e.count = down->dims[2];
    }
    const std::int64_t used = k.experts_used[at(index)];
    e.used = used > 0 ? std::min(used, e.count) : e.count;
    e.shared_width = k.shared_width > 0 ? k.shared_width : k.shared_experts * e.width;
    if (const GgufTensor* shared = t.find("ffn_down_shexp.weight"))
        e.shared_width = shared->dims[0];
    else if (!t.empty())
        e.shared_width = 0;
    e.merged_gate_up = t.has("ffn_gate_up_exps.weight");
    e.gated = t.empty() || e.merged_gate_up || t.has(Role::expert_gate);
    e.shared_gate = t.has(Role::shared_expert_gate);
    e.bias = t.has("ffn_gate_inp.bias") || t.has("ffn_up_exps.bias");
    e.router_bias = t.has("exp_probs_b.bias") || t.has("exp_probs_b");
    e.sigmoid = k.gating == Gating::sigmoid;
    e.softmax_of_chosen = k.gating == Gating::softmax_of_chosen;
    e.normalized = k.normalized;
    e.scale = k.expert_scale;
    e.groups = k.expert_groups;
    e.groups_used = k.expert_groups_used;
    return e;
}

/// Norm vectors of the layer as such; those of heads, latents, state and the prediction head are counted
/// there.
bool is_layer_norm(const LayerTensors::Row& row, std::int64_t hidden) {
    constexpr std::string_view others[] = {"attn_q_norm", "attn_k_norm", "attn_q_a_norm", "attn_kv_a_norm",
                                           "nextn."};
    return row.role == Role::norm && row.tensor->dims[0] == hidden &&
           std::none_of(std::begin(others), std::end(others),
                        [&](std::string_view other) { return row.rest.starts_with(other); });
}

}  // namespace

Layer read_layer(const LayerKeys& k, const Architecture& architecture, const LayerTensors& t, int index) {
    const bool prediction = index >= k.blocks - k.prediction;
    const bool recurrent = k.recurrent[at(index)];
    const bool both = k.has_state && architecture.defaults.attention_and_recurrent && !prediction;
    const bool state_tensors =
        t.has(Role::recurrent_in) || t.has(Role::recurrent_out) || t.has(Role::recurrent_small);

    Layer layer;
    if (k.kv_heads[at(index)] > 0 && !recurrent)
        layer.attention = read_attention(k, architecture, t, index, prediction);
    if (k.has_state && (t.empty() ? recurrent || both : state_tensors))
        layer.recurrent = read_recurrent(k, t, index);
    const bool sparse = k.experts > 0 && index >= k.dense_lead && (index + 1) % k.expert_step == 0;
    layer.feed_forward = read_feed_forward(k, t, index, !sparse);
    layer.experts = read_experts(k, t, index, sparse);

    if (t.empty()) return layer;
    layer.norms = 0;
    for (const LayerTensors::Row& row : t.rows()) {
        if (is_layer_norm(row, k.hidden)) {
            const bool bias = row.rest.ends_with(".bias");
            layer.norms += bias ? 0 : 1;
            layer.norm_bias |= bias;
        }
        if (row.role == Role::other && !row.rest.starts_with("nextn."))
            layer.extra_parameters +=
                row.tensor->dims[0] * row.tensor->dims[1] * row.tensor->dims[2] * row.tensor->dims[3];
    }
    return layer;
}

}  // namespace memwall::model
