// From keys and tensors of a GGUF file to layers.
#pragma once

#include <cstdint>
#include <vector>

#include "core/model/architectures.h"
#include "core/model/gguf_keys.h"
#include "core/model/gguf_tensor_names.h"

namespace memwall::model {

/// What the keys say about all layers. Vectors hold one value for each of `blocks` layers.
struct LayerKeys {
    std::int64_t hidden = 0;
    std::int64_t blocks = 0;                              ///< prediction layers included, they come last
    std::int64_t encoder_blocks = 0, decoder_blocks = 0;  ///< of encoder-decoder models
    std::int64_t prediction = 0;                          ///< nextn_predict_layers

    // Attention
    std::vector<std::int64_t> heads, kv_heads;
    std::int64_t key_dim = 0, value_dim = 0, windowed_key_dim = 0, windowed_value_dim = 0;
    std::int64_t window = 0;
    std::vector<bool> windowed;
    std::int64_t own_caches = 0;  ///< layers from here on read an earlier layer's cache
    std::int64_t latent_rank = 0, latent_rope_dim = 0, query_rank = 0;
    bool untuned_rope = false;  ///< the file says rope.scaling.finetuned = false

    // Recurrent parts
    bool has_state = false;
    bool delta_net = false;
    std::vector<bool> recurrent;  ///< layers that are recurrent by the keys
    std::int64_t conv_kernel = 0, inner = 0, state = 0, state_heads = 0, groups = 0;
    std::int64_t short_conv = 0, token_shift_head = 0, token_shift_rows = 0, kda_head_dim = 0;

    // Feed-forward
    std::vector<std::int64_t> widths, expert_widths, experts_used;
    std::int64_t experts = 0, shared_experts = 0, shared_width = 0, dense_lead = 0, expert_step = 1;
    std::int64_t expert_groups = 1, expert_groups_used = 1;
    Gating gating = Gating::softmax;
    bool normalized = true;
    double expert_scale = 1;
};

/// `has_attention`: the file holds attention tensors, so a missing head count is an error.
LayerKeys read_layer_keys(GgufKeys& keys, const GgufFile& file, const Architecture& architecture,
                          bool has_attention, Model& model);

/// Layer `index` of a decoder or encoder. Its kinds come from the keys; its tensors, when the file holds any,
/// settle widths and tell biases, norms and fused matrices.
Layer read_layer(const LayerKeys& k, const Architecture& architecture, const LayerTensors& tensors,
                 int index);

}  // namespace memwall::model
