// Mixed precision: a format for each matrix under a byte budget that loses least by the quality model.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/model/model.h"

namespace memwall::plan {

struct MixedRecipe {
    std::string quant;  ///< "Q4_K_M,attn_v=Q8_0,...": a value of --quant
    /// Patterns over GGUF tensor names and formats, for `llama-quantize --tensor-type PATTERN=FORMAT`.
    std::vector<std::pair<std::string, std::string>> tensor_types;
    Bytes weights;
    double loss = 0;  ///< sum of share x L(type) over the block linears, as the fit weighs it
};

/// Starts every block linear at `formats.front()` and improves the one whose next format saves most loss a
/// byte, until nothing more fits into `budget`: with a loss that is additive, convex in bits and bound to
/// bytes by the formats alone, that is the optimum but for the last tensor. Tensors of one role move together
/// layer by layer; of equals attention and shared matrices go before experts (QUALITY c.4). Embedding and
/// output keep the format of `base`. `formats` are ggml names from coarse to fine that the fit has losses
/// for. Throws Error when even the coarsest does not fit or the model has no GGUF names.
MixedRecipe mixed_recipe(const model::Model& model, const std::string& base, Bytes budget,
                         const std::vector<std::string>& formats = {"IQ3_S", "IQ4_XS", "Q4_K", "Q5_K", "Q6_K",
                                                                    "Q8_0"});

}  // namespace memwall::plan
