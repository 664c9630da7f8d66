#include "core/memory/kv_cache.h"

#include <algorithm>

namespace memwall::memory {
namespace {

KvGroup group_of(const model::Attention& a, bool latent_cache) {
    KvGroup g;
    g.window = a.window;
    g.fixed_cells = a.picture_cells;
    if (a.latent_rank > 0 && latent_cache) {
        g.kv_heads = 1;
        g.key_dim = a.latent_rank + a.latent_rope_dim;
    } else if (a.latent_rank > 0) {
        g.kv_heads = a.heads;
        g.key_dim = a.nope_dim + a.latent_rope_dim;
        g.value_dim = a.value_dim;
    } else {
        g.kv_heads = a.kv_heads;
        g.key_dim = a.key_dim;
        g.value_dim = a.value_dim;
    }
    return g;
}

void add_layer(std::vector<KvGroup>& groups, KvGroup layer) {
    const auto same = [&](KvGroup g) {
        g.layers = 0;
        return g == layer;
    };
    auto it = std::find_if(groups.begin(), groups.end(), same);
    if (it == groups.end()) it = groups.insert(groups.end(), layer);
    ++it->layers;
}

}  // namespace

std::vector<KvGroup> kv_groups(const model::Model& model, bool latent_cache) {
    std::vector<KvGroup> groups;
    if (model.embedder) return groups;
    for (const model::Layer& layer : model.layers) {
        if (!layer.attention || layer.attention->shared_with >= 0) continue;
        const KvGroup g = group_of(*layer.attention, latent_cache);
        add_layer(groups, g);
        if (layer.attention->index_dim > 0)  // its keys are kept beside, one row a token for all its heads
            add_layer(groups, {.kv_heads = 1, .key_dim = layer.attention->index_dim, .window = g.window});
        if (model.cross_attention) {
            KvGroup cross = g;
            cross.window = 0;
            cross.fixed_cells = model.encoder_positions;
            if (cross.fixed_cells > 0) add_layer(groups, cross);
        }
    }
    return groups;
}

Bytes kv_token_bytes(const KvGroup& g, const quant::KvType& k, const quant::KvType& v) {
    Bytes bytes = quant::kv_row_bytes(k, g.kv_heads, g.key_dim);
    if (g.value_dim > 0) bytes += quant::kv_row_bytes(v, g.kv_heads, g.value_dim);
    return bytes;
}

std::int64_t cells_of(const KvGroup& g, const KvCells& cells) {
    if (g.fixed_cells > 0) return g.fixed_cells;
    if (g.window == 0 || cells.windows_full) return cells.full;
    const std::int64_t wanted = g.window * cells.window_multiple + cells.window_extra;
    return std::min(cells.full, (wanted + cells.padding - 1) / cells.padding * cells.padding);
}

Bytes layer_kv_bytes(const KvGroup& g, const KvCells& cells, const quant::KvType& k, const quant::KvType& v) {
    Bytes once = quant::kv_channel_bytes(k, g.kv_heads, g.key_dim);
    if (g.value_dim > 0) once += quant::kv_channel_bytes(v, g.kv_heads, g.value_dim);
    return kv_token_bytes(g, k, v) * (cells_of(g, cells) * cells.streams) + once;
}

Bytes kv_cache_bytes(std::span<const KvGroup> groups, const KvCells& cells, const quant::KvType& k,
                     const quant::KvType& v) {
    Bytes total;
    for (const KvGroup& g : groups) total += layer_kv_bytes(g, cells, k, v) * g.layers;
    return total;
}

std::int64_t recurrent_state_elements(const model::Recurrent& r, std::int64_t hidden) {
    switch (r.kind) {
        case model::RecurrentKind::mamba1:
            return (r.conv_kernel - 1) * r.inner + r.state * r.inner;
        case model::RecurrentKind::mamba2:
        case model::RecurrentKind::delta_net:
            return (r.conv_kernel - 1) * (r.inner + 2 * r.groups * r.state) + r.state * r.inner;
        case model::RecurrentKind::short_conv:
            return (r.conv_kernel - 1) * hidden;
        case model::RecurrentKind::lightning:
            return r.state * r.inner;
        case model::RecurrentKind::rwkv:
            return r.state * hidden + 2 * hidden;
    }
    return 0;
}

Bytes recurrent_state_bytes(const model::Model& model) {
    std::int64_t elements = 0;
    for (const model::Layer& layer : model.layers)
        if (layer.recurrent) elements += recurrent_state_elements(*layer.recurrent, model.hidden);
    return Bytes(4 * elements);
}

}  // namespace memwall::memory
