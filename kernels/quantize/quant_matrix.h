// A matrix quantized with integer codes, whoever chose them: round-to-nearest, GPTQ or AWQ. What kernels
// pack.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/quantize/matrix.h"

namespace memwall::quantize {

/// With g = r x groups() + c / group, the weight of row r and input input_order[c] is
///     ((codes[r][c] - zeros[g]) scales[g] + minima[g]) / input_scale[input]
/// Scales and minima are values that f16 can hold.
struct QuantMatrix {
    int rows = 0, cols = 0;
    int bits = 4;   ///< 2 to 8
    int group = 0;  ///< stored columns a scale; cols = one scale a row. The last group may be shorter.
    std::vector<std::uint8_t> codes;  ///< rows x cols, one a byte, 0 to 2^bits - 1
    std::vector<float> scales;        ///< rows x groups()
    std::vector<std::uint8_t> zeros;  ///< rows x groups(); 2^(bits - 1) everywhere when symmetric
    std::vector<float> minima;        ///< rows x groups(); empty = 0
    /// Input channel of each stored column (GPTQ's act-order). Empty = in order. A kernel gathers its
    /// activations so.
    std::vector<std::int32_t> input_order;
    /// Factor that an input channel's weights were multiplied by (AWQ); activations are divided by it. Empty
    /// = 1.
    std::vector<float> input_scale;

    int groups() const { return (cols + group - 1) / group; }
};

/// As above, in the order of the original inputs.
Matrix dequantize(const QuantMatrix& q);

}  // namespace memwall::quantize
