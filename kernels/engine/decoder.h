// What the small engine can run, and a Model seen its way: which tensor of each layer is multiplied when.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/model/model.h"
#include "kernels/engine/settings.h"

namespace memwall::kernels {

/// How an architecture computes what its tensors do not say; decoder.cpp has the table.
struct Conventions {
    bool interleaved_rope = false;  ///< rotated pairs are neighbours (2i, 2i+1), else (i, i + dim/2)
    bool gelu = false;              ///< tanh-approximated GELU gates the feed-forward, else SiLU
    double window_rope_base = 0;    ///< of windowed layers where it differs; 0 = the same
};

/// Indices into Model::tensors; -1 = the layer has none.
struct LayerTensors {
    int attn_norm = -1, post_attn_norm = -1, ffn_norm = -1, post_ffn_norm = -1;
    int q = -1, k = -1, v = -1, output = -1;
    int q_bias = -1, k_bias = -1, v_bias = -1;
    int q_norm = -1, k_norm = -1;
    int gate = -1, up = -1, down = -1;  ///< with experts: stacks of matrices
    int router = -1;
};

struct DecoderLayer {
    LayerTensors tensors;
    std::int64_t heads = 0, kv_heads = 0;
    int key_dim = 0, value_dim = 0;
    std::int64_t width = 0;              ///< of the feed-forward, or of one expert
    std::int64_t experts = 0, used = 0;  ///< 0 = dense
    bool normalized = true;              ///< weights of the chosen experts are divided by their sum
    bool windowed = false;               ///< rotates with Conventions::window_rope_base
    int group = 0;                       ///< of KV caches
    std::int64_t layer_in_group = 0;
    std::int64_t group_heads() const { return heads / kv_heads; }  ///< query heads of a KV head
};

struct Decoder {
    std::int64_t hidden = 0, vocabulary = 0;
    Conventions conventions;
    double embedding_scale = 1;
    double rope_base = 10000, epsilon = 1e-5;  ///< of the file; descriptors do not say, and memory and speed
                                               ///< do not depend on them
    int token_table = -1, output = -1, output_norm = -1, rope_factors = -1;  ///< output = token_table if tied
    std::vector<DecoderLayer> layers;
    std::vector<KvShape> caches;  ///< one a group of layers that are alike
    std::int64_t widest_ffn() const;
};

/// Throws Error (place: the model's id) naming the first thing the engine cannot do: anything but decoders of
/// RMS norms, rotary positions, grouped plain attention (whole, or with a sliding window) and gated
/// feed-forwards or softmax-routed experts.
Decoder decoder_of(const model::Model& model, const EngineSettings& settings);

}  // namespace memwall::kernels
