// KV cache and recurrent state from what each layer keeps. Layers with equal rows form a group, so that a
// plan is a handful of multiplications whatever the depth of the model.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/units.h"
#include "core/model/model.h"
#include "core/quant/kv_type.h"

namespace memwall::memory {

/// Layers that own caches of the same shape.
struct KvGroup {
    int layers = 0;
    std::int64_t kv_heads = 0;
    std::int64_t key_dim = 0;      ///< per head
    std::int64_t value_dim = 0;    ///< per head; 0 = values are read out of the key row (latent attention)
    std::int64_t window = 0;       ///< tokens kept; 0 = all
    std::int64_t fixed_cells = 0;  ///< cross attention: as many cells as the encoder or picture has positions
    bool operator==(const KvGroup&) const = default;
};

/// Groups of the layers that own a cache, in order of first appearance. Layers that share an earlier layer's
/// cache or have no attention own none; embedders own none. `latent_cache` false expands latent attention
/// into full heads (engines before they learnt it): nope + rope wide keys, value_dim wide values, every query
/// head.
std::vector<KvGroup> kv_groups(const model::Model& model, bool latent_cache);

/// Bytes of one token in one layer of the group.
Bytes kv_token_bytes(const KvGroup& group, const quant::KvType& k, const quant::KvType& v);

/// How many cells one stream of a layer holds: `full`, or for a windowed layer
/// min(full, round up(window x window_multiple + window_extra, padding)).
struct KvCells {
    std::int64_t full = 0;             ///< padded already
    std::int64_t window_multiple = 1;  ///< sequences that share one stream
    std::int64_t window_extra = 0;     ///< tokens of a micro-batch that must fit beside the window
    std::int64_t padding = 1;
    std::int64_t streams = 1;
    bool windows_full = false;  ///< windowed layers keep everything
};

std::int64_t cells_of(const KvGroup& group, const KvCells& cells);

/// One layer of the group, all streams.
Bytes layer_kv_bytes(const KvGroup& group, const KvCells& cells, const quant::KvType& k,
                     const quant::KvType& v);

/// sum over groups: layers x (streams x cells x (K row + V row) + scales kept once a channel).
Bytes kv_cache_bytes(std::span<const KvGroup> groups, const KvCells& cells, const quant::KvType& k,
                     const quant::KvType& v);

/// State of all recurrent layers for one sequence, in 32-bit floats whatever the KV types:
/// mamba1 (conv-1) inner + state inner; mamba2 and delta net (conv-1)(inner + 2 groups state) + state inner;
/// short convolution (kernel-1) hidden; rwkv hidden state + 2 hidden. Source: allocations of llama.cpp 0.5.0.
/// Lightning attention, which that release lacks: state inner.
Bytes recurrent_state_bytes(const model::Model& model);
std::int64_t recurrent_state_elements(const model::Recurrent& recurrent, std::int64_t hidden);

}  // namespace memwall::memory
