// What a checkpoint holds that its config.json does not say, because the modelling code of its type carries
// it: biases, norms, fused matrices, gates. The counts that follow are checked against published ones.
#pragma once

#include <cstdint>
#include <string_view>

namespace memwall::model::hugging_face {

enum Trait : std::uint32_t {
    kQueryKeyValueBias = 1U << 0,  ///< unless the config has a bias key of its own
    kOutputBias = 1U << 1,         ///< of the attention output, likewise
    kNoOutputBias = 1U << 2,       ///< `attention_bias` never reaches the output projection
    kFeedForwardBias = 1U << 3,
    kNormPerHead = 1U << 4,       ///< queries and keys are normed head by head
    kNormFullRow = 1U << 5,       ///< ... over the whole row
    kWeightlessQkNorm = 1U << 6,  ///< `use_qk_norm` adds no weights
    kLayerNormBias = 1U << 7,
    kTwoMatrices = 1U << 8,  ///< feed-forward without a gate
    kFusedQkv = 1U << 9,     ///< GGUF keeps one matrix for query, key and value
    kFusedGateUp = 1U << 10,
    kTied = 1U << 11,                     ///< tie_word_embeddings when the key is absent
    kWindowOptIn = 1U << 12,              ///< sliding_window counts only with use_sliding_window
    kGatedOutput = 1U << 13,              ///< attn_output_gate when the key is absent
    kSinks = 1U << 14,                    ///< one learned sink a head
    kExpertBias = 1U << 15,               ///< router and experts have biases
    kRouterBias = 1U << 16,               ///< selection bias beside the router
    kSharedGate = 1U << 17,               ///< a gate vector for the shared expert
    kSharedExpert = 1U << 18,             ///< one shared expert of the experts' width, no key says so
    kHeadBias = 1U << 19,                 ///< bias of the output matrix
    kPrediction = 1U << 20,               ///< one multi-token-prediction layer, no key says so
    kPredictionHasEmbeddings = 1U << 21,  ///< with copies of token table and output matrix
    kMixerOnly = 1U << 22,                ///< layers have no feed-forward, intermediate_size is the mixer's
    kLayerScale = 1U << 23,               ///< one scalar a layer scales its output
    kDenseBesideExperts = 1U << 24,       ///< a dense feed-forward beside the experts of every layer
    kOneBetaAlpha = 1U << 25,             ///< delta net with one projection for both
    kInnerNorms = 1U << 26,               ///< mamba with norms of dt, B and C
    kFusedKvB = 1U << 27,                 ///< latent attention that files keep unsplit
    kUnusedKvStored = 1U << 28,           ///< layers that read another's cache have K and V projections too
    kAlwaysUntied = 1U << 29              ///< both matrices are stored whatever tie_word_embeddings says
};

struct CheckpointLayout {
    std::string_view model_types;  ///< `model_type` values, separated by blanks
    std::uint32_t traits = 0;
    int norms = 2;               ///< hidden-sized norms a layer
    int extra_norms = 1;         ///< outside the layers
    int learned_positions = -1;  ///< rows of a learned position table beyond the context; -1 = no table
    bool has(Trait trait) const { return (traits & trait) != 0; }
};

/// The row that lists `model_type`, or that of plain Llama-like decoders.
const CheckpointLayout& find_layout(std::string_view model_type);

/// What configurations nested in another one leave out: transformers writes only what differs from the
/// class's own default. 0 when unknown.
std::int64_t class_default(std::string_view model_type, std::string_view key);

}  // namespace memwall::model::hugging_face
