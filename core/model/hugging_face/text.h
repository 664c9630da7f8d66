// The parts that a text model's config is read in. Internal to the reader.
#pragma once

#include <vector>

#include "core/model/architectures.h"
#include "core/model/check_model.h"
#include "core/model/hugging_face/keys.h"
#include "core/model/hugging_face/layout.h"

namespace memwall::model::hugging_face {

struct TextConfig {
    const ConfigObject& keys;
    const Architecture* architecture;  ///< nullptr when the type is unknown
    const ArchitectureDefaults& defaults;
    const CheckpointLayout& layout;
    Model& model;
    int layers = 0;
    std::int64_t picture_cells = 0;  ///< cells of the largest picture, for layers that attend to it
};

/// What mixes tokens in one layer.
struct Mixer {
    bool attention = true, recurrent = false;
    bool windowed = false, chunked = false;
    bool feed_forward = true;
    bool dense = false;  ///< its feed-forward has no experts, whatever the others have
};

/// One entry a layer, from layer_types, periods, offsets or index lists, windows included.
std::vector<Mixer> read_mixers(const TextConfig& config);
/// How many layers there are: a key says so, or lists with one entry a layer.
std::int64_t count_layers(const ConfigObject& keys, const CheckpointLayout& layout);
/// Tokens of the window, or of a chunk; the architecture's own when no key says so.
std::int64_t window_of(const TextConfig& config);
/// The object `key` of a JSON object; nullptr when there is none.
const nlohmann::json* part_of(const nlohmann::json& object, const char* key);

/// Attention of every layer whose mixer has one, in order of the layers.
void read_attention(const TextConfig& config, const std::vector<Mixer>& mixers);
void read_recurrent(const TextConfig& config, const std::vector<Mixer>& mixers);
void read_feed_forward(const TextConfig& config, const std::vector<Mixer>& mixers);
/// Norms, per-layer embeddings and what else sits in every layer; after the three above.
void read_layer_extras(const TextConfig& config);
/// Prediction (MTP) layers are copies of the last attention layer.
void read_prediction(const TextConfig& config);

/// Encoder-decoder models and embedders fill the whole model by themselves.
void read_whisper(const TextConfig& config);
void read_t5(const TextConfig& config);
void read_embedder(const TextConfig& config);

/// Vision towers, projectors and audio encoders beside the text model.
void read_components(const ConfigObject& keys, Model& model);

// Names that several parts ask for.
inline constexpr Keys kLayerKeys = {"num_hidden_layers", "n_layer", "num_layers", "n_layers",
                                    "num_transformer_layers"};
inline constexpr Keys kHiddenKeys = {"hidden_size", "n_embd", "d_model", "dim", "model_dim"};
inline constexpr Keys kHeadKeys = {"num_attention_heads", "n_head", "n_heads", "num_heads",
                                   "num_query_heads"};
inline constexpr Keys kWidthKeys = {"intermediate_size", "ffn_dim",      "n_inner",    "d_ff",
                                    "ffn_hidden_size",   "block_ff_dim", "hidden_dim", "ff_intermediate_size",
                                    "mlp_hidden_size"};

}  // namespace memwall::model::hugging_face
