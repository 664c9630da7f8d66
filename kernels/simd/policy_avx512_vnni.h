// Sixteen lanes as one 512-bit register. Included by avx512_vnni.cpp only.
#pragma once

#include <immintrin.h>

#include "kernels/panels/formats.h"

namespace memwall::kernels {
namespace {

using Ints = __m512i;               // 16 int32
using Floats = __m512;              // 16 float
using Line = __m512i;               // 64 codes, or 128 nibbles
constexpr int kBias8 = 128;         // dot8 takes bytes unsigned: the bias is still in its result
constexpr int kMatmulVectors = 12;  // accumulators of ints; as many floats stand beside them
constexpr int kAttendVectors = 16;  // accumulators of ints or floats, alone
constexpr int kFloatVectors = 12;   // f16 matmul: two float accumulators each
constexpr int kPeakVectors = 12;    // chains of the peak loops: latency times issue rate

inline Floats load(const float* p) {
    return _mm512_loadu_ps(p);
}
inline void store(float* p, Floats x) {
    _mm512_storeu_ps(p, x);
}
inline void store_around(float* p, Floats x) {
    _mm512_stream_ps(p, x);
}
inline Floats load_halves(const void* p) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(static_cast<const __m256i*>(p)));
}
inline Floats splat(float x) {
    return _mm512_set1_ps(x);
}
inline Floats add(Floats a, Floats b) {
    return _mm512_add_ps(a, b);
}
inline Floats sub(Floats a, Floats b) {
    return _mm512_sub_ps(a, b);
}
inline Floats mul(Floats a, Floats b) {
    return _mm512_mul_ps(a, b);
}
inline Floats fma(Floats a, Floats b, Floats c) {
    return _mm512_fmadd_ps(a, b, c);
}
inline Floats max(Floats a, Floats b) {
    return _mm512_max_ps(a, b);
}
inline Floats to_floats(Ints x) {
    return _mm512_cvtepi32_ps(x);
}
inline Floats bits_as_floats(Ints x) {
    return _mm512_castsi512_ps(x);
}
inline Ints bits_as_ints(Floats x) {
    return _mm512_castps_si512(x);
}

inline Ints splat(int x) {
    return _mm512_set1_epi32(x);
}
inline Ints add(Ints a, Ints b) {
    return _mm512_add_epi32(a, b);
}
inline Ints sub(Ints a, Ints b) {
    return _mm512_sub_epi32(a, b);
}
inline Ints mul(Ints a, Ints b) {
    return _mm512_mullo_epi32(a, b);
}
inline Ints bit_and(Ints a, Ints b) {
    return _mm512_and_si512(a, b);
}
inline Ints bit_or(Ints a, Ints b) {
    return _mm512_or_si512(a, b);
}
template <int N>
inline Ints shift_left(Ints x) {
    return _mm512_slli_epi32(x, N);
}
template <int N>
inline Ints shift_right(Ints x) {
    return _mm512_srli_epi32(x, N);
}
/// 16 unsigned bytes.
inline Ints load_bytes(const uint8_t* p) {
    return _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
/// The low byte of every lane.
inline void store_bytes(int8_t* p, Ints x) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtepi32_epi8(x));
}

inline Line load_line(const void* p) {
    return _mm512_loadu_si512(p);
}
inline void store_line(void* p, Line x) {
    _mm512_storeu_si512(p, x);
}
inline void store_line_around(void* p, Line x) {
    _mm512_stream_si512(static_cast<__m512i*>(p), x);
}
inline Line merge(Line a, Line b) {
    return _mm512_xor_si512(a, b);
}
inline Line low_nibbles(Line x) {
    return _mm512_and_si512(x, _mm512_set1_epi8(15));
}
inline Line high_nibbles(Line x) {
    return _mm512_and_si512(_mm512_srli_epi16(x, 4), _mm512_set1_epi8(15));
}

/// acc[r] += w[4 r + i] a[i], i = 0..3. The broadcast is an operand of the instruction; through the intrinsic
/// GCC 12 copies every accumulator twice once 16 of them are live.
inline Ints dot8(Ints acc, Line w, const int8_t* a) {
    typedef int __attribute__((may_alias, aligned(1))) Quad;
    asm("vpdpbusd %2%{1to16%}, %1, %0" : "+v"(acc) : "v"(w), "m"(*reinterpret_cast<const Quad*>(a)));
    return acc;
}
inline Ints dot4(Ints acc, Line w, const int8_t* a) {
    return dot8(acc, w, a);
}
/// The same with four activations that several lines share.
inline Ints load_quads(const int8_t* a) {
    int four;
    __builtin_memcpy(&four, a, 4);
    return _mm512_set1_epi32(four);
}
inline Ints dot8(Ints acc, Line w, Ints a) {
    asm("vpdpbusd %2, %1, %0" : "+v"(acc) : "v"(w), "v"(a));
    return acc;
}
inline Ints dot4(Ints acc, Line w, Ints a) {
    return dot8(acc, w, a);
}

// One tree on every instruction set: i + 8, i + 4, i + 2, i + 1.
inline float sum(Floats x) {
    const __m256 h = _mm256_add_ps(_mm512_castps512_ps256(x), _mm512_extractf32x8_ps(x, 1));
    const __m128 q = _mm_add_ps(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1));
    const __m128 d = _mm_add_ps(q, _mm_movehl_ps(q, q));
    return _mm_cvtss_f32(_mm_add_ss(d, _mm_shuffle_ps(d, d, 1)));
}
inline float maximum(Floats x) {
    return _mm512_reduce_max_ps(x);
}

}  // namespace
}  // namespace memwall::kernels
