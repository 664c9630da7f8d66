// Made-up models and machines whose sums can be done by hand.
#pragma once

#include <cmath>
#include <string>

#include "core/model/model.h"
#include "core/speed/machine.h"

namespace memwall::speed::test {

inline void add_tensor(model::Model& m, std::string name, std::int64_t in, std::int64_t out, model::Role role,
                       int layer, std::int64_t stacked = 1, const char* format = "F16") {
    model::Tensor t;
    t.name = std::move(name);
    t.dims = {in, out, stacked, 1};
    t.role = role;
    t.layer = layer;
    t.format = quant::ggml(format);
    m.tensors.push_back(t);
}

/// Two layers of width 1024: 8 query heads over 2 key heads of 128, feed-forward of 2048, a vocabulary of
/// 4096.
inline model::Model dense(const char* format = "F16") {
    model::Model m;
    m.hidden = 1024;
    m.vocabulary = 4096;
    add_tensor(m, "token_embd.weight", 1024, 4096, model::Role::token_embedding, -1, 1, format);
    add_tensor(m, "output.weight", 1024, 4096, model::Role::output, -1, 1, format);
    for (int i = 0; i < 2; ++i) {
        model::Layer layer;
        layer.attention.emplace();
        layer.attention->heads = 8;
        layer.attention->kv_heads = 2;
        layer.attention->key_dim = layer.attention->value_dim = 128;
        layer.feed_forward.emplace();
        layer.feed_forward->width = 2048;
        m.layers.push_back(layer);
        add_tensor(m, "attn_q", 1024, 1024, model::Role::attn_q, i, 1, format);
        add_tensor(m, "attn_k", 1024, 256, model::Role::attn_k, i, 1, format);
        add_tensor(m, "attn_v", 1024, 256, model::Role::attn_v, i, 1, format);
        add_tensor(m, "attn_output", 1024, 1024, model::Role::attn_output, i, 1, format);
        add_tensor(m, "ffn_up", 1024, 2048, model::Role::ffn_up, i, 1, format);
        add_tensor(m, "ffn_down", 2048, 1024, model::Role::ffn_down, i, 1, format);
    }
    return m;
}

/// The same with `count` experts of width 512 in place of the feed-forward, `used` of them a token.
inline model::Model mixture(std::int64_t count, std::int64_t used) {
    model::Model m = dense();
    std::erase_if(m.tensors, [](const model::Tensor& t) {
        return t.role == model::Role::ffn_up || t.role == model::Role::ffn_down;
    });
    for (int i = 0; i < 2; ++i) {
        model::Layer& layer = m.layers[static_cast<std::size_t>(i)];
        layer.feed_forward.reset();
        layer.experts.emplace();
        layer.experts->count = count;
        layer.experts->used = used;
        layer.experts->width = 512;
        add_tensor(m, "ffn_gate_inp", 1024, count, model::Role::router, i);
        add_tensor(m, "ffn_up_exps", 1024, 512, model::Role::expert_up, i, count);
        add_tensor(m, "ffn_down_exps", 512, 1024, model::Role::expert_down, i, count);
    }
    return m;
}

/// w = 50 GB/s of 100, k = 25 GB/s, o = 0.1 ms, x = 0.2 ms, d = 20 G weights/s, u = a = 1 Tops/s; deviations
/// of 10 %.
inline Machine machine() {
    Machine m;
    m.bandwidth = 100e9;
    m.compute = 4e12;
    m.rates.central[weight_stream] = 50e9;
    m.rates.central[kv_stream] = 25e9;
    m.rates.central[layer_overhead] = 1e-4;
    m.rates.central[expert_overhead] = 2e-4;
    m.rates.central[step_overhead] = 1e-3;
    m.rates.central[dequantization] = 20e9;
    m.rates.central[matrix_rate] = m.rates.central[attention_rate] = 1e12;
    for (std::size_t i = 0; i < rate_count; ++i) m.rates.covariance[i][i] = 0.01;
    m.noise = m.prefill_noise = 0.05;
    return m;
}

}  // namespace memwall::speed::test
