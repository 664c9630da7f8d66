// Activations as the integer kernels want them: one or two int8 digits with a scale a group, laid out in
// tiles so that one 4-byte broadcast serves a quad of a panel line.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/panels/panels.h"

namespace memwall::kernels {

/// m vectors of k values for panels of one format. Tiles of tile_rows() vectors; the last one may hold fewer.
/// Digits are innermost: vector v of a tile is row v / digits, digit v % digits, the high digit first.
struct Activations {
    PanelFormat format = PanelFormat::w8;
    std::int64_t m = 0, k = 0;
    std::int64_t padded_k = 0;          ///< whole blocks of the format, filled with zeros
    int digits = 0;                     ///< 1 (A8) or 2 (A16: 15 bits a group); 0 for f16, which takes floats
    std::vector<std::int8_t> codes;     ///< [tile][quad][vector][4]
    std::vector<float> scales;          ///< [tile][group][row]
    std::vector<std::int32_t> offsets;  ///< [tile][group][vector]: -bias x sum of the group's codes
    std::vector<float> sums;            ///< q4k: [tile][group][row]: -(scale x sum of the group)
    std::vector<float> values;          ///< f16: [tile][k][row]

    int tile_rows() const { return kTileVectors / (digits == 2 ? 2 : 1); }
};

/// Largest k of w8 panels: 255 x 127 x k must stay below 2^31.
inline constexpr std::int64_t kHighestRowK = 65'000;

/// x is [m][k] with k = x.size() / m. A group's scale is max|x| / 127 or / 32,258; groups with infinities or
/// NaN get a NaN scale, so that the result shows them. Throws Error when x does not divide into m rows,
/// digits is neither 1 nor 2, or k is above kHighestRowK for w8.
Activations quantize_activations(std::span<const float> x, std::int64_t m, PanelFormat format, int digits);
/// The same into an existing object, whose memory is used again.
void quantize_activations(std::span<const float> x, std::int64_t m, PanelFormat format, int digits,
                          Activations& into);
/// [m][k]: what the kernels see of x.
std::vector<float> dequantize(const Activations& activations);

}  // namespace memwall::kernels
