// Weight bytes by what they are for and by where they may be placed.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/interval.h"
#include "core/model/model.h"
#include "core/quant/format.h"
#include "core/runtime/profile.h"

namespace memwall::memory {

enum class WeightClass : std::uint8_t {
    input_embedding,
    output,
    attention,
    feed_forward,
    experts,
    recurrent,
    other
};
inline constexpr std::size_t kWeightClasses = 7;
std::string_view weight_class_name(WeightClass c);
WeightClass weight_class(model::Role role);

struct Weights {
    Interval<Bytes> total;  ///< of the tensors; uncertain only where a tied output may be stored twice
    std::array<Bytes, kWeightClasses> by_class{};
    std::vector<Bytes> layer;          ///< bytes of each decoder layer, experts included
    std::vector<Bytes> layer_experts;  ///< of these, expert matrices
    Bytes outside;                     ///< in no layer: embeddings, output, final norm
    Bytes token_table;                 ///< the token embedding alone
    Bytes prediction;                  ///< multi-token-prediction layers
    Bytes largest_tensor;
    std::string_view largest_tensor_name;  ///< lives as long as the model
};

/// `formats` is parallel to model.tensors.
Weights weigh(const model::Model& model, std::span<const quant::Format> formats);

/// Bytes of the matrices that this CPU build copies at load (RepackRule), the same size a tensor: multiply
/// matrices of the listed formats, token embedding and three-dimensional non-expert tensors excluded. Source:
/// allocations of llama.cpp 0.5.0 on x86; other instruction sets read from its source.
Bytes repacked_bytes(const model::Model& model, std::span<const quant::Format> formats,
                     const runtime::RepackRule& rule);

/// Bytes of the file that stay mapped: from the first to the last tensor that is used in place. Pages before
/// and after hold only tensors that were copied, and the engine gives them back. Models without a file: all
/// tensors.
Bytes mapped_bytes(const model::Model& model, std::span<const quant::Format> formats,
                   const runtime::RepackRule* rule);

/// The first rule whose instruction set `isa` holds, nullptr for none.
const runtime::RepackRule* repack_rule(const runtime::Profile& profile, std::span<const std::string> isa);

}  // namespace memwall::memory
