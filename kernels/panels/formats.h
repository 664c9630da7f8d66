// Names and constants that the kernels of every instruction set share. Plain C headers only: the kernels'
// translation units must not hold inline library code (KERNELS section 3).
#pragma once

#include <stdint.h>

namespace memwall::kernels {

/// How weights are packed; panels.h describes each.
enum class PanelFormat : uint8_t { w4g32, w4g128, q4k, w8, w8g32, f16 };
/// How keys and values of a cache page are stored; kv_page.h describes each.
enum class KvFormat : uint8_t { f16, int8, int4 };

inline constexpr int kPanelRows = 16;  ///< rows of a panel: one a vector lane
inline constexpr int kLineBytes = 64;  ///< 16 rows x 4 codes of 8 bits, or two quads of 4 bits
inline constexpr int kPageTokens = 64;
inline constexpr int kHighestHeadDim = 256;  ///< of keys and of values: 254 x 255 x 127 x 256 < 2^31

/// An activation of two digits is scale x (254 high + low), both digits within +-127: base 254, not 256,
/// keeps -128 out, so that AVX2's maddubs never saturates (128 x 127 x 2 < 2^15).
inline constexpr int kDigitBase = 254;
/// Activation vectors (rows x digits) that are laid out side by side, so that one pass over a panel's codes
/// serves all of them. 12 int32 and 12 float accumulators fill the 32 registers of AVX-512.
inline constexpr int kTileVectors = 12;

}  // namespace memwall::kernels
