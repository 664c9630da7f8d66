// Uniform integer quantization: codes of 2 to 8 bits, symmetric, with a zero point or with a minimum; one
// scale a tensor, an output channel or a group of inputs. Round-to-nearest, scales in f16.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "kernels/quantize/quant_matrix.h"

namespace memwall::quantize {

/// How codes are placed on the line.
enum class Shift : std::uint8_t {
    symmetric,   ///< -top to top with top = 2^(bits-1) - 1
    zero_point,  ///< 0 to 2^bits - 1 less a code that stands for 0 ("asym": AWQ, GPTQ)
    minimum,     ///< 0 to 2^bits - 1 above an f16 minimum ("min": MLX, Q4_1)
};

struct UniformFormat {
    int bits = 4;  ///< 2 to 8
    Shift shift = Shift::symmetric;
    int group = 0;  ///< inputs a scale; 0 = an output channel, -1 = the tensor
    bool operator==(const UniformFormat&) const = default;
};

/// "int4-g128", "int4-asym-g128", "int3-min-g64", "int8-channel", "int4-tensor"; groups of 32, 64 and 128.
/// nullopt otherwise.
std::optional<UniformFormat> parse_uniform(std::string_view name);
std::string uniform_name(UniformFormat format);
/// Bits a weight with f16 scales and minima and zero points as wide as a code; those of a row or a tensor are
/// not counted.
double stored_bits(UniformFormat format);

/// Scale and minimum (already rounded to f16) and zero point that cover [low, high].
struct Step {
    float scale = 0;
    int zero = 0;
    float minimum = 0;
};
Step step_for(UniformFormat format, float low, float high);
inline int top_code(UniformFormat format) {
    return (1 << format.bits) - 1;
}
/// Nearest code of x. Symmetric codes never take the lowest one, so that the range is even.
std::uint8_t code_for(UniformFormat format, Step step, float x);
inline float value_of(Step step, std::uint8_t code) {
    return static_cast<float>(code - step.zero) * step.scale + step.minimum;
}

struct Range {
    float low = 0, high = 0;
};
Range range_of(std::span<const float> x);  ///< {0, 0} of nothing

// Scale, zero point and minimum of group `at` (row x groups() + group).
Step step_at(const QuantMatrix& q, std::size_t at);
void set_step(QuantMatrix& q, std::size_t at, Step step);

/// Shaped for w, all codes 0. Throws Error for a side beyond 2^31 or no columns.
QuantMatrix empty_matrix(UniformFormat format, MatrixView w);
QuantMatrix quantize_uniform(UniformFormat format, MatrixView w);
/// The same straight to values, row by row; `tensor` is the range of all rows (used when format.group = -1).
void round_trip_uniform(UniformFormat format, Range tensor, std::span<const float> row, std::span<float> out);

}  // namespace memwall::quantize
