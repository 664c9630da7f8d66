#include "core/model/check_model.h"

#include <initializer_list>

#include "core/base/error.h"

namespace memwall::model {
namespace {

struct Size {
    const char* field;
    std::int64_t value;
    std::int64_t least;
    std::int64_t most;
};

// Ten times and more what any published model has, and small enough that a product of two stays exact.
constexpr std::int64_t kWide = std::int64_t{1} << 24;   // hidden, widths, vocabulary
constexpr std::int64_t kMany = std::int64_t{1} << 16;   // heads, head widths, experts
constexpr std::int64_t kLong = std::int64_t{1} << 40;   // tokens
constexpr std::int64_t kTotal = std::int64_t{1} << 60;  // elements of the model

/// Where descriptors are checked: errors name the line of a field when its source says it.
struct Place {
    const Model& model;
    const std::string& file;
    std::string of(const char* field) const {
        const auto it = model.sources.find(field);
        return it != model.sources.end() && it->second.rfind(file + ":", 0) == 0 ? it->second : file;
    }
};

void check(std::initializer_list<Size> sizes, const Place& place) {
    for (const Size& s : sizes)
        if (s.value < s.least || s.value > s.most)
            throw Error(place.of(s.field), std::string(s.field) + " = " + std::to_string(s.value),
                        "a number from " + std::to_string(s.least) + " to " + std::to_string(s.most));
}

void check_attention(const Attention& a, int layer, const Place& place) {
    check({{"heads", a.heads, 1, kMany},
           {"kv_heads", a.kv_heads, 0, kMany},
           {"key_dim", a.key_dim, 1, kMany},
           {"value_dim", a.value_dim, 1, kMany},
           {"window", a.window, 0, kLong},
           {"latent_rank", a.latent_rank, 0, kMany},
           {"latent_rope_dim", a.latent_rope_dim, 0, kMany},
           {"nope_dim", a.nope_dim, 0, kMany},
           {"query_rank", a.query_rank, 0, kMany},
           {"index_heads", a.index_heads, 0, kMany},
           {"index_dim", a.index_dim, 0, kMany},
           {"picture_cells", a.picture_cells, 0, kLong},
           {"shared_with", a.shared_with, -1, layer - 1}},
          place);
}

void check_layer(const Layer& layer, int index, const Place& place) {
    if (layer.attention) check_attention(*layer.attention, index, place);
    if (const auto& r = layer.recurrent)
        check({{"recurrent_inner", r->inner, 1, kWide},
               {"recurrent_state", r->state, 0, kMany},
               {"conv_kernel", r->conv_kernel, 0, kMany},
               {"recurrent_heads", r->heads, 0, kMany},
               {"recurrent_groups", r->groups, 1, kMany},
               {"decay_rank", r->decay_rank, 0, kMany},
               {"gate_rank", r->gate_rank, 0, kMany},
               {"generation", r->generation, 5, 7}},
              place);
    if (const auto& f = layer.feed_forward) check({{"width", f->width, 1, kWide}}, place);
    if (const auto& x = layer.experts)
        check({{"experts", x->count, 1, kMany},
               {"experts_used", x->used, 1, x->count},
               {"expert_width", x->width, 1, kWide},
               {"expert_latent", x->latent, 0, kWide},
               {"shared_width", x->shared_width, 0, kWide},
               {"expert_groups", x->groups, 0, kMany},
               {"expert_groups_used", x->groups_used, 0, kMany}},
              place);
    check({{"norms", layer.norms, 0, 16}, {"extra_parameters", layer.extra_parameters, 0, kLong}}, place);
}

/// Elements of a tensor whose dims are positive, at most kTotal.
std::int64_t bounded_elements(const Tensor& t, const std::string& place) {
    std::int64_t n = 1;
    for (const std::int64_t d : t.dims)
        if (d < 0 || __builtin_mul_overflow(n, d, &n) || n > kTotal)
            throw Error(place, t.name + " has more than 2^60 elements", "a size that fits a model");
    return n;
}

}  // namespace

void complete_model(Model& m, const std::string& file) {
    const Place place{m, file};
    const std::int64_t layers = static_cast<std::int64_t>(m.layers.size() + m.encoder.size());
    check({{"layers", layers, 1, kMostLayers},
           {"prediction_layers", static_cast<std::int64_t>(m.prediction_layers.size()), 0, 64},
           {"hidden", m.hidden, 1, kWide},
           {"vocabulary", m.vocabulary, 0, std::int64_t{1} << 28},
           {"gguf_vocabulary", m.gguf_vocabulary, 0, std::max<std::int64_t>(m.vocabulary, 0)},
           {"trained_context", m.trained_context, 0, kLong},
           {"position_embeddings", m.position_embeddings, 0, kLong},
           {"per_layer_embedding_dim", m.per_layer_embedding_dim, 0, kMany},
           {"per_layer_vocabulary", m.per_layer_vocabulary, 0, std::int64_t{1} << 28},
           {"embedding_dim", m.embedding_dim, 0, kWide},
           {"extra_norms", m.extra_norms, 0, 16},
           {"rope_factors", m.rope_factors, 0, kMany},
           {"encoder_positions", m.encoder_positions, 0, kLong},
           {"extra_parameters", m.extra_parameters, 0, kLong},
           {"stored_scales", m.stored_scales, 0, kLong},
           {"published_parameters", m.published_parameters, 0, kTotal}},
          place);
    int index = 0;
    for (const auto* group : {&m.layers, &m.prediction_layers}) {
        for (const Layer& layer : *group) check_layer(layer, index++, place);
    }
    for (const Layer& layer : m.encoder) check_layer(layer, 0, place);
    std::int64_t total = 0;
    for (const Component& c : m.components) {
        check({{"parameters", c.parameters, 0, kTotal}, {"tokens_per_image", c.tokens_per_image, 0, kLong}},
              place);
        if (__builtin_add_overflow(total, c.parameters, &total)) total = kTotal + 1;
    }
    generate_tensors(m);
    for (const Tensor& t : m.tensors)
        if (__builtin_add_overflow(total, bounded_elements(t, file), &total) || total > kTotal)
            throw Error(file, "more than 2^60 elements in all", "a size that fits a model");
}

}  // namespace memwall::model
