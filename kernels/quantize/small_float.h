// Floating point numbers of 16 bits and fewer. Decoding is exact; encoding rounds to nearest, ties to even.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace memwall::quantize {

/// IEEE binary16, subnormals, infinities and NaN included.
inline float f16_to_f32(std::uint16_t h) {
    const std::uint32_t sign = std::uint32_t{h & 0x8000u} << 16;
    const std::uint32_t rest = h & 0x7fffu;
    if (rest >= 0x7c00u) return std::bit_cast<float>(sign | 0x7f800000u | (rest & 0x3ffu) << 13);
    // As an f32 the same bits lie 112 binary orders too low; the product is exact, subnormals too.
    return std::bit_cast<float>(sign |
                                std::bit_cast<std::uint32_t>(std::bit_cast<float>(rest << 13) * 0x1p112f));
}

/// Values from 65520 become infinite, as IEEE rounding has it.
inline std::uint16_t f32_to_f16(float x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000u);
    const float a = std::fabs(x);
    if (std::isnan(x)) return sign | 0x7e00u;
    if (a >= 65520.0f) return sign | 0x7c00u;
    if (a < 0x1p-14f)  // subnormal: adding 2^-1 leaves units of 2^-24 in the last place
        return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(a + 0.5f) - 0x3f000000u));
    const std::uint32_t magnitude = bits & 0x7fffffffu;
    const std::uint32_t odd = magnitude >> 13 & 1;
    return static_cast<std::uint16_t>(sign | (magnitude - (112u << 23) + 0xfffu + odd) >> 13);
}

/// x as the nearest f16, for scales that are stored so.
inline float round_to_f16(float x) {
    return f16_to_f32(f32_to_f16(x));
}

inline float bf16_to_f32(std::uint16_t h) {
    return std::bit_cast<float>(std::uint32_t{h} << 16);
}

inline std::uint16_t f32_to_bf16(float x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    if (std::isnan(x)) return static_cast<std::uint16_t>(bits >> 16 | 0x40u);
    return static_cast<std::uint16_t>((bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}

inline constexpr float kE4m3Max = 448.0f;

/// FP8 E4M3 without infinities (OCP 8-bit floating point, "E4M3"): bias 7, 0x7f and 0xff are NaN.
inline float e4m3_to_f32(std::uint8_t e) {
    const int exponent = e >> 3 & 15, mantissa = e & 7;
    if ((e & 0x7f) == 0x7f) return std::bit_cast<float>(0x7fc00000u);
    const float a = exponent == 0 ? std::ldexp(static_cast<float>(mantissa), -9)
                                  : std::ldexp(static_cast<float>(8 + mantissa), exponent - 10);
    return e & 0x80 ? -a : a;
}

/// Values beyond 448 are clamped: a quantizer wants no NaN.
inline std::uint8_t f32_to_e4m3(float x) {
    const float a = std::min(std::fabs(x), kE4m3Max);
    const std::uint8_t sign = std::signbit(x) ? 0x80 : 0;
    if (!(a > 0)) return sign;
    // Units of 2^-9 below 2^-6; three bits after the leading one above. A carry moves into the exponent.
    const int exponent = std::max(std::ilogb(a), -6);
    const auto units = static_cast<int>(std::nearbyint(std::ldexp(a, 3 - exponent)));
    return static_cast<std::uint8_t>(sign | ((exponent + 6) * 8 + units));
}

/// OCP microscaling E8M0: 2^(e - 127). 255 is NaN.
inline float e8m0_to_f32(std::uint8_t e) {
    if (e == 255) return std::bit_cast<float>(0x7fc00000u);
    return std::ldexp(1.0f, e - 127);
}

/// FP4 E2M1 by code: bit 3 is the sign. Code 8 is plain zero, as ggml decodes it.
inline constexpr float kE2m1[16] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6, 0, -0.5f, -1, -1.5f, -2, -3, -4, -6};

/// Values beyond 6 are clamped. Ties go to the even code; never code 8.
inline std::uint8_t f32_to_e2m1(float x) {
    constexpr float kMiddle[7] = {0.25f, 0.75f, 1.25f, 1.75f, 2.5f, 3.5f, 5};
    const float a = std::fabs(x);
    std::uint8_t code = 0;
    for (int i = 0; i < 7; ++i) code += i % 2 == 0 ? a > kMiddle[i] : a >= kMiddle[i];
    return static_cast<std::uint8_t>(code | (code != 0 && x < 0 ? 8 : 0));
}

/// Nearest integer, ties to even, for |x| below 2^22; compiles to two additions.
inline float round_even(float x) {
    return (x + 0x1.8p23f) - 0x1.8p23f;
}

}  // namespace memwall::quantize
