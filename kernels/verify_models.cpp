#include "kernels/verify.h"

namespace memwall::kernels {
namespace {

model::Model decoder(const char* id, const char* architecture, std::size_t layers, std::int64_t vocabulary,
                     const model::Attention& attention) {
    model::Model m;
    m.id = id;
    m.architecture = architecture;
    m.hidden = 1024;
    m.vocabulary = vocabulary;
    m.trained_context = 8192;
    model::Layer layer;
    layer.attention = attention;
    m.layers.assign(layers, layer);
    return m;
}

}  // namespace

std::vector<model::Model> verify_models() {
    using model::Attention;
    Attention grouped;
    grouped.heads = 16;
    grouped.kv_heads = 4;
    grouped.key_dim = grouped.value_dim = 64;
    model::FeedForward feed_forward;

    model::Model dense = decoder("small-dense", "llama", 8, 16384, grouped);
    feed_forward.width = 2816;
    for (model::Layer& l : dense.layers) l.feed_forward = feed_forward;

    model::Model experts = decoder("small-experts", "qwen3moe", 6, 16384, grouped);
    model::Experts x;
    x.count = 16;
    x.used = 4;
    x.width = 512;
    for (model::Layer& l : experts.layers) {
        l.attention->qk_norm = Attention::QkNorm::per_head;
        l.experts = x;
    }

    Attention wide = grouped;
    wide.heads = 8;
    wide.kv_heads = 2;
    wide.key_dim = wide.value_dim = 128;
    wide.qk_norm = Attention::QkNorm::per_head;
    model::Model windowed = decoder("small-windowed", "gemma3", 9, 16384, wide);
    windowed.output = model::TiedOutput::tied;
    windowed.embedding_scale = true;
    feed_forward.width = 2048;
    for (std::size_t i = 0; i < windowed.layers.size(); ++i) {
        windowed.layers[i].norms = 4;
        windowed.layers[i].feed_forward = feed_forward;
        if (i % 3 != 2) windowed.layers[i].attention->window = 512;
    }
    std::vector<model::Model> all = {dense, experts, windowed};
    for (model::Model& m : all) generate_tensors(m);
    return all;
}

}  // namespace memwall::kernels
