// Fields of a block, little-endian on every machine. Only for the codecs.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "kernels/quantize/small_float.h"

namespace memwall::quantize {

inline std::uint8_t get_u8(const std::byte* p) {
    return std::to_integer<std::uint8_t>(*p);
}
inline void put_u8(std::byte* p, unsigned v) {
    *p = static_cast<std::byte>(v);
}
inline std::uint16_t get_u16(const std::byte* p) {
    return static_cast<std::uint16_t>(get_u8(p) | get_u8(p + 1) << 8);
}
inline void put_u16(std::byte* p, std::uint16_t v) {
    put_u8(p, v & 255u);
    put_u8(p + 1, v >> 8);
}
inline std::uint32_t get_u32(const std::byte* p) {
    return get_u16(p) | std::uint32_t{get_u16(p + 2)} << 16;
}
inline void put_u32(std::byte* p, std::uint32_t v) {
    put_u16(p, static_cast<std::uint16_t>(v));
    put_u16(p + 2, static_cast<std::uint16_t>(v >> 16));
}
inline float get_f16(const std::byte* p) {
    return f16_to_f32(get_u16(p));
}
/// Saturates: an infinite scale would turn zeros into NaN.
inline void put_f16(std::byte* p, float v) {
    put_u16(p, f32_to_f16(std::clamp(v, -65504.0f, 65504.0f)));
}
inline float get_f32(const std::byte* p) {
    return std::bit_cast<float>(get_u32(p));
}
inline void put_f32(std::byte* p, float v) {
    put_u32(p, std::bit_cast<std::uint32_t>(v));
}

/// 1/x, or 0 for a block of zeros and where the quotient would not be finite.
inline float reciprocal(float x) {
    const float r = 1.0f / x;
    return std::isfinite(r) ? r : 0.0f;
}

// Codecs by file. Encoders and decoders of one block each, as in BlockCodec.
void encode_q4_k(const float* x, const float* weights, std::byte* out);
void decode_q4_k(const std::byte* in, float* out);
void encode_q5_k(const float* x, const float* weights, std::byte* out);
void decode_q5_k(const std::byte* in, float* out);
void encode_q6_k(const float* x, const float* weights, std::byte* out);
void decode_q6_k(const std::byte* in, float* out);
void encode_mxfp4(const float* x, const float* weights, std::byte* out);
void decode_mxfp4(const std::byte* in, float* out);
void encode_nvfp4(const float* x, const float* weights, std::byte* out);
void decode_nvfp4(const std::byte* in, float* out);
float nvfp4_tensor_scale(float largest);
void encode_nf4(const float* x, const float* weights, std::byte* out);
void decode_nf4(const std::byte* in, float* out);

}  // namespace memwall::quantize
