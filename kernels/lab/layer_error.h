// Error of a linear layer's output: what GPTQ, AWQ and plain rounding of the same format leave of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/lab/random_weights.h"
#include "kernels/quantize/uniform.h"

namespace memwall::lab {

/// Inputs [tokens, channels] as layers see them: a few common factors (correlation), independent noise, and
/// one channel in 128 larger by 20 to 100 times (QUALITY b.3).
Matrix synthetic_inputs(std::size_t tokens, std::size_t channels, std::uint64_t seed);

/// Relative errors |X (W' - W)^T| / |X W^T| of one format.
struct LayerError {
    std::string format;   ///< uniform format that all three share
    double bits = 0;      ///< stored, a weight
    double rounding = 0;  ///< round-to-nearest, on the calibration inputs; likewise below
    double gptq = 0, awq = 0;
    double rounding_unseen = 0, gptq_unseen = 0, awq_unseen = 0;  ///< on inputs that none of them saw
    double awq_alpha = 0;
    bool awq_clipped = false;
};

struct LayerReport {
    std::size_t rows = 0, channels = 0;
    std::size_t calibration_tokens = 0, unseen_tokens = 0;
    std::vector<LayerError> formats;
    /// Relative error of the output when the inputs are rounded and the weights are not.
    double inputs_q8_0 = 0;  ///< blocks of 32; 0 when the channels are no multiple
    double inputs_int8 = 0;  ///< one scale a token
};

/// The first half of `inputs` calibrates, the second tests. Throws Error when the widths differ or there are
/// fewer than 2 tokens.
LayerReport layer_errors(MatrixView w, MatrixView inputs,
                         const std::vector<quantize::UniformFormat>& formats);

}  // namespace memwall::lab
