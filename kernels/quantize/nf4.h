// NF4 as bitsandbytes has it: 16 quantiles of the normal distribution under an f32 maximum a block of 64, and
// "double quantization" of those maxima. Source: the QLoRA paper (arXiv 2305.14314), section 3, and the
// published tables of bitsandbytes (functional.py: get_4bit_type, create_dynamic_map).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace memwall::quantize {

inline constexpr int kNf4Block = 64;
inline constexpr int kNf4AbsmaxBlock = 256;  ///< maxima that share a scale under double quantization

inline constexpr std::array<float, 16> kNf4{
    -1.0f,        -0.69619280f, -0.52507305f, -0.39491749f, -0.28444138f, -0.18477343f, -0.091050036f, 0.0f,
    0.079580300f, 0.16093020f,  0.24611230f,  0.33791524f,  0.44070983f,  0.56261700f,  0.72295684f,   1.0f};

/// The 256 values of an 8-bit code with up to 7 decimal exponents: denser near zero.
const std::array<float, 256>& dynamic_map();

/// Maxima in 8 bits: absmax = offset + map[code] x scale of its block.
struct DoubleQuantized {
    std::vector<std::uint8_t> codes;
    std::vector<float> scales;  ///< one for kNf4AbsmaxBlock codes
    float offset = 0;           ///< the mean
};
DoubleQuantized double_quantize(std::span<const float> absmax);
std::vector<float> double_dequantize(const DoubleQuantized& q);

}  // namespace memwall::quantize
