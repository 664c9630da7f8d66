// What a checkpoint holds that its config.json does not say, because the modelling code of its type carries
// it: biases, norms, fused matrices, gates. The counts that follow are checked against published ones.
#pragma once

#include <cstdint>
#include <string_view>

namespace memwall::model::hugging_face {

enum Trait : std::uint64_t {
    kQueryKeyValueBias = 1ULL << 0,  ///< unless the config has a bias key of its own
    kOutputBias = 1ULL << 1,         ///< of the attention output, likewise
    kNoOutputBias = 1ULL << 2,       ///< `attention_bias` never reaches the output projection
    kFeedForwardBias = 1ULL << 3,
    kNormPerHead = 1ULL << 4,       ///< queries and keys are normed head by head
    kNormFullRow = 1ULL << 5,       ///< ... over the whole row
    kWeightlessQkNorm = 1ULL << 6,  ///< `use_qk_norm` adds no weights
    kLayerNormBias = 1ULL << 7,
    kTwoMatrices = 1ULL << 8,  ///< feed-forward without a gate
    kFusedQkv = 1ULL << 9,     ///< GGUF keeps one matrix for query, key and value
    kFusedGateUp = 1ULL << 10,
    kTied = 1ULL << 11,                     ///< tie_word_embeddings when the key is absent
    kWindowOptIn = 1ULL << 12,              ///< sliding_window counts only with use_sliding_window
    kGatedOutput = 1ULL << 13,              ///< attn_output_gate when the key is absent
    kSinks = 1ULL << 14,                    ///< one learned sink a head
    kExpertBias = 1ULL << 15,               ///< router and experts have biases
    kRouterBias = 1ULL << 16,               ///< selection bias beside the router
    kSharedGate = 1ULL << 17,               ///< a gate vector for the shared expert
    kSharedExpert = 1ULL << 18,             ///< one shared expert of the experts' width, no key says so
    kHeadBias = 1ULL << 19,                 ///< bias of the output matrix
    kPrediction = 1ULL << 20,               ///< one multi-token-prediction layer, no key says so
    kPredictionHasEmbeddings = 1ULL << 21,  ///< with copies of token table and output matrix
    kMixerOnly = 1ULL << 22,                ///< layers have no feed-forward, intermediate_size is the mixer's
    kLayerScale = 1ULL << 23,               ///< one scalar a layer scales its output
    kDenseBesideExperts = 1ULL << 24,       ///< a dense feed-forward beside the experts of every layer
    kOneBetaAlpha = 1ULL << 25,             ///< delta net with one projection for both
    kInnerNorms = 1ULL << 26,               ///< mamba with norms of dt, B and C
    kFusedKvB = 1ULL << 27,                 ///< latent attention that files keep unsplit
    kUnusedKvStored = 1ULL << 28,           ///< layers that read another's cache have K and V projections too
    kAlwaysUntied = 1ULL << 29,             ///< both matrices are stored whatever tie_word_embeddings says
    kNormsBeside = 1ULL << 30,    ///< both feed-forwards of a layer have norms, router and experts scales
    kOneBlock = 1ULL << 31,       ///< a layer is a mixer or a feed-forward, never both
    kAllRecurrent = 1ULL << 32,   ///< every layer recurs, and has a feed-forward
    kTwoAttentions = 1ULL << 33,  ///< two attentions and two dense feed-forwards a layer, one set of experts
    kSubNorms = 1ULL << 34,       ///< norms before the output and the down projection
    kWidthOfBoth = 1ULL << 35,    ///< intermediate_size counts gate and up together
    kBiasOfAttention = 1ULL << 36,    ///< `bias` speaks of the attention only
    kActivationScalars = 1ULL << 37,  ///< two learned scalars in the activation
    kRelativeBias = 1ULL << 38,       ///< one table of relative positions for all layers
    kRwkv6 = 1ULL << 39,
    kRwkv7 = 1ULL << 40,
    kHeadGate = 1ULL << 41,    ///< a gate for every head, unless use_head_wise_attn_gate says no
    kFixedBiases = 1ULL << 42  ///< attention_bias is written and never read
};

struct CheckpointLayout {
    std::string_view model_types;  ///< `model_type` values, separated by blanks
    std::uint64_t traits = 0;
    int norms = 2;               ///< hidden-sized norms a layer
    int extra_norms = 1;         ///< outside the layers
    int learned_positions = -1;  ///< rows of a learned position table beyond the context; -1 = no table
    bool has(Trait trait) const { return (traits & trait) != 0; }
};

/// The row that lists `model_type`, or that of plain Llama-like decoders.
const CheckpointLayout& find_layout(std::string_view model_type);
/// Whether a row lists it: only then is what follows from the configuration checked.
bool has_layout(std::string_view model_type);

/// What configurations nested in another one leave out: transformers writes only what differs from the
/// class's own default. 0 when unknown.
std::int64_t class_default(std::string_view model_type, std::string_view key);

}  // namespace memwall::model::hugging_face
