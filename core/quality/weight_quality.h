// What a recipe costs a model: computed once for a pair of model and recipe, then combined with the choices
// that a search turns (KV types, window, context) without allocating.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/model/model.h"
#include "core/quality/loss.h"
#include "core/quant/format.h"
#include "core/quant/kv_type.h"

namespace memwall::quality {

/// Importance matrix at quantization.
enum class Imatrix : std::uint8_t { unknown, with, without };

/// What is known about a recipe besides the formats it gives.
struct RecipeInfo {
    std::string name;                         ///< "Q4_K_M"; rows of the same name count as measured
    std::int32_t activation_bits = 16;        ///< precision of activations in the kernels; 16 = not reduced
    std::int64_t images = 0;                  ///< images in the prompt
    std::vector<std::string> evidence_files;  ///< --evidence: rows that win (evidence.h)
};

/// KV types as far as quality tells them apart.
enum class KvClass : std::uint8_t { full, q8, int8, fp8, q5, q4, int4 };
inline constexpr std::size_t kKvClasses = 7;
/// From the bytes of a type: 16 bits and more are `full`.
KvClass kv_class(const quant::KvType& type);

struct KvChoice {
    KvClass keys = KvClass::full, values = KvClass::full;
    bool rotation = false;     ///< keys (and values) pass a Hadamard rotation before they are stored
    std::int64_t context = 0;  ///< tokens a sequence
    std::int64_t window = 0;   ///< forced on full layers; 0 = none
    std::int64_t sinks = 0;    ///< first tokens kept besides
};

/// Weights of one format among the block linear weights.
struct TypeShare {
    quant::Format format;
    double share = 0;  ///< of the block linear weights: embeddings, output head, norms and routers left out
    double loss = 0;   ///< L(type) of the fit; NaN = not in the fit
};

struct WeightQuality {
    Loss loss;                     ///< of the weights alone, cache at full precision, context within the rows
    std::vector<TypeShare> types;  ///< largest share first
    double bits = 0;               ///< mean bits a weight of the block linears
    double parameters = 0;         ///< billions, experts all counted
    double class_factor = 1, small_factor = 1, imatrix_factor = 1;  ///< of the fit; see fit.h
    std::string family;                                             ///< row of the table of families
    std::string generation;                                         ///< "ordinary" or "sensitive"
    bool key_bias = false, sinks = false, hybrid = false;           ///< what makes a cache fragile
    bool trained_windows = false;          ///< every attention layer has a window of its own
    std::int64_t measured_context = 4096;  ///< longest that the evidence reaches (QUALITY a.9: 512 to 4096)
    std::vector<std::string> evidence;     ///< ids of the rows that a measured or interpolated loss rests on
    /// [rotation][keys][values]: the loss with that cache; filled by weight_quality().
    std::array<Loss, 2 * kKvClasses * kKvClasses> with_cache;
};

/// A matrix that the loss of weights counts: those of the blocks, without routers, norms and small tensors.
bool is_block_linear(const model::Tensor& tensor);

/// `formats` in the order of model.tensors. Throws Error only for a broken evidence file.
WeightQuality weight_quality(const model::Model& model, std::span<const quant::Format> formats,
                             const RecipeInfo& recipe, Imatrix imatrix);

/// Nanoseconds, no allocation, thread-safe.
Loss combine(const WeightQuality& weights, const KvChoice& cache);

}  // namespace memwall::quality
