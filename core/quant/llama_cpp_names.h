// What llama.cpp's quantizer takes a tensor for, by its name.
#pragma once

#include <cstdint>
#include <vector>

#include "core/model/model.h"
#include "core/quant/llama_cpp_rules.h"

namespace memwall::quant {

enum class Treatment : std::uint8_t {
    quantize,
    keep_f32,     ///< the converter writes it in F32 and the quantizer leaves it so
    keep_source,  ///< left in the 16 bits of the converted checkpoint
};

struct TensorKind {
    Treatment treatment = Treatment::quantize;
    Category category = kOther;
};

/// By name alone; that vectors are never quantized is the caller's to add.
std::vector<TensorKind> classify_all(const std::vector<model::Tensor>& tensors);

}  // namespace memwall::quant
