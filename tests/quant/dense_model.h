// A plain decoder for tests that need nothing but shapes.
#pragma once

#include "core/model/model.h"

namespace memwall::model {

struct DenseShape {
    int layers;
    std::int64_t hidden, ffn, heads, kv_heads, head_dim, vocabulary;
    bool tied = false;
    bool qkv_bias = false;
    std::int64_t experts = 0;  ///< instead of one feed-forward; width ffn each
};

inline Model dense_model(const char* architecture, const DenseShape& shape) {
    Model m;
    m.id = "test";
    m.architecture = architecture;
    m.hidden = shape.hidden;
    m.vocabulary = shape.vocabulary;
    m.output = shape.tied ? TiedOutput::tied : TiedOutput::untied;
    Layer layer;
    Attention& a = layer.attention.emplace();
    a.heads = shape.heads;
    a.kv_heads = shape.kv_heads;
    a.key_dim = a.value_dim = shape.head_dim;
    a.query_bias = a.key_bias = a.value_bias = shape.qkv_bias;
    if (shape.experts > 0) {
        Experts& x = layer.experts.emplace();
        x.count = shape.experts;
        x.used = 2;
        x.width = shape.ffn;
    } else {
        layer.feed_forward.emplace().width = shape.ffn;
    }
    m.layers.assign(static_cast<std::size_t>(shape.layers), layer);
    generate_tensors(m);
    return m;
}

}  // namespace memwall::model
