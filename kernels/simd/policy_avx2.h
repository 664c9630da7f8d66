// Sixteen lanes as two 256-bit registers: plain AVX2, or AVX-VNNI (VEX coded vpdpbusd) where the including
// file is compiled for it. Included by avx2.cpp and avx_vnni.cpp only.
#pragma once

#include <immintrin.h>

#include "kernels/panels/formats.h"

namespace memwall::kernels {
namespace {

struct Ints {
    __m256i a, b;
};
struct Floats {
    __m256 a, b;
};
struct Line {
    __m256i a, b;
};
#ifdef __AVXVNNI__
constexpr int kBias8 = 128;
#else
constexpr int kBias8 = 0;  // dot8 takes the bias off each byte itself
#endif
constexpr int kMatmulVectors = 4;  // of 16 registers: 8 for ints; the floats wait in memory for their group
constexpr int kAttendVectors = 4;
constexpr int kFloatVectors = 3;
constexpr int kPeakVectors = 6;  // chains of the peak loops: latency times issue rate

inline Floats load(const float* p) {
    return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)};
}
inline void store(float* p, Floats x) {
    _mm256_storeu_ps(p, x.a);
    _mm256_storeu_ps(p + 8, x.b);
}
inline void store_around(float* p, Floats x) {
    _mm256_stream_ps(p, x.a);
    _mm256_stream_ps(p + 8, x.b);
}
inline Floats load_halves(const void* p) {
    const auto* h = static_cast<const __m128i*>(p);
    return {_mm256_cvtph_ps(_mm_loadu_si128(h)), _mm256_cvtph_ps(_mm_loadu_si128(h + 1))};
}
inline Floats splat(float x) {
    return {_mm256_set1_ps(x), _mm256_set1_ps(x)};
}
inline Floats add(Floats x, Floats y) {
    return {_mm256_add_ps(x.a, y.a), _mm256_add_ps(x.b, y.b)};
}
inline Floats sub(Floats x, Floats y) {
    return {_mm256_sub_ps(x.a, y.a), _mm256_sub_ps(x.b, y.b)};
}
inline Floats mul(Floats x, Floats y) {
    return {_mm256_mul_ps(x.a, y.a), _mm256_mul_ps(x.b, y.b)};
}
inline Floats fma(Floats x, Floats y, Floats c) {
    return {_mm256_fmadd_ps(x.a, y.a, c.a), _mm256_fmadd_ps(x.b, y.b, c.b)};
}
inline Floats max(Floats x, Floats y) {
    return {_mm256_max_ps(x.a, y.a), _mm256_max_ps(x.b, y.b)};
}
inline Floats to_floats(Ints x) {
    return {_mm256_cvtepi32_ps(x.a), _mm256_cvtepi32_ps(x.b)};
}
inline Floats bits_as_floats(Ints x) {
    return {_mm256_castsi256_ps(x.a), _mm256_castsi256_ps(x.b)};
}
inline Ints bits_as_ints(Floats x) {
    return {_mm256_castps_si256(x.a), _mm256_castps_si256(x.b)};
}

inline Ints splat(int x) {
    return {_mm256_set1_epi32(x), _mm256_set1_epi32(x)};
}
inline Ints add(Ints x, Ints y) {
    return {_mm256_add_epi32(x.a, y.a), _mm256_add_epi32(x.b, y.b)};
}
inline Ints sub(Ints x, Ints y) {
    return {_mm256_sub_epi32(x.a, y.a), _mm256_sub_epi32(x.b, y.b)};
}
inline Ints mul(Ints x, Ints y) {
    return {_mm256_mullo_epi32(x.a, y.a), _mm256_mullo_epi32(x.b, y.b)};
}
inline Ints bit_and(Ints x, Ints y) {
    return {_mm256_and_si256(x.a, y.a), _mm256_and_si256(x.b, y.b)};
}
inline Ints bit_or(Ints x, Ints y) {
    return {_mm256_or_si256(x.a, y.a), _mm256_or_si256(x.b, y.b)};
}
template <int N>
inline Ints shift_left(Ints x) {
    return {_mm256_slli_epi32(x.a, N), _mm256_slli_epi32(x.b, N)};
}
template <int N>
inline Ints shift_right(Ints x) {
    return {_mm256_srli_epi32(x.a, N), _mm256_srli_epi32(x.b, N)};
}
/// 16 unsigned bytes.
inline Ints load_bytes(const uint8_t* p) {
    const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    return {_mm256_cvtepu8_epi32(x), _mm256_cvtepu8_epi32(_mm_srli_si128(x, 8))};
}
/// The low byte of every lane.
inline void store_bytes(int8_t* p, Ints x) {
    const __m256i low = _mm256_setr_epi8(0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
                                         -1, -1, 0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1);
    const __m256i a = _mm256_shuffle_epi8(x.a, low), b = _mm256_shuffle_epi8(x.b, low);
    const __m128i first = _mm_or_si128(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
    const __m128i second = _mm_or_si128(_mm256_castsi256_si128(b), _mm256_extracti128_si256(b, 1));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm_unpacklo_epi64(first, second));
}

inline Line load_line(const void* p) {
    const auto* l = static_cast<const __m256i*>(p);
    return {_mm256_loadu_si256(l), _mm256_loadu_si256(l + 1)};
}
inline void store_line(void* p, Line x) {
    _mm256_storeu_si256(static_cast<__m256i*>(p), x.a);
    _mm256_storeu_si256(static_cast<__m256i*>(p) + 1, x.b);
}
inline void store_line_around(void* p, Line x) {
    _mm256_stream_si256(static_cast<__m256i*>(p), x.a);
    _mm256_stream_si256(static_cast<__m256i*>(p) + 1, x.b);
}
inline Line merge(Line x, Line y) {
    return {_mm256_xor_si256(x.a, y.a), _mm256_xor_si256(x.b, y.b)};
}
inline Line low_nibbles(Line x) {
    const __m256i m = _mm256_set1_epi8(15);
    return {_mm256_and_si256(x.a, m), _mm256_and_si256(x.b, m)};
}
inline Line high_nibbles(Line x) {
    const __m256i m = _mm256_set1_epi8(15);
    return {_mm256_and_si256(_mm256_srli_epi16(x.a, 4), m), _mm256_and_si256(_mm256_srli_epi16(x.b, 4), m)};
}

/// Four activations that several lines share; the compiler sees by itself what can stay in a register.
inline const int8_t* load_quads(const int8_t* a) {
    return a;
}
inline __m256i quad(const int8_t* a) {
    int four;
    __builtin_memcpy(&four, a, 4);
    return _mm256_set1_epi32(four);
}
#ifdef __AVXVNNI__
/// acc[r] += w[4 r + i] a[i], i = 0..3.
inline Ints dot8(Ints acc, Line w, const int8_t* a) {
    const __m256i q = quad(a);
    return {_mm256_dpbusd_avx_epi32(acc.a, w.a, q), _mm256_dpbusd_avx_epi32(acc.b, w.b, q)};
}
inline Ints dot4(Ints acc, Line w, const int8_t* a) {
    return dot8(acc, w, a);
}
#else
inline __m256i dot_half(__m256i acc, __m256i w, __m256i a) {
    return _mm256_add_epi32(acc, _mm256_madd_epi16(_mm256_maddubs_epi16(w, a), _mm256_set1_epi16(1)));
}
inline __m256i dot_signed_half(__m256i acc, __m256i w, __m256i a) {
    const __m256i s = _mm256_xor_si256(w, _mm256_set1_epi8(-128));
    return dot_half(acc, _mm256_abs_epi8(s), _mm256_sign_epi8(a, s));
}
/// acc[r] += (w[4 r + i] - 128) a[i]: magnitudes times a with the sign moved over, at most 2 x 128 x 127.
inline Ints dot8(Ints acc, Line w, const int8_t* a) {
    const __m256i q = quad(a);
    return {dot_signed_half(acc.a, w.a, q), dot_signed_half(acc.b, w.b, q)};
}
/// acc[r] += w[4 r + i] a[i] for nibbles: at most 2 x 15 x 127 before the widening.
inline Ints dot4(Ints acc, Line w, const int8_t* a) {
    const __m256i q = quad(a);
    return {dot_half(acc.a, w.a, q), dot_half(acc.b, w.b, q)};
}
#endif

// One tree on every instruction set: i + 8, i + 4, i + 2, i + 1.
inline float sum(Floats x) {
    const __m256 h = _mm256_add_ps(x.a, x.b);
    const __m128 q = _mm_add_ps(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1));
    const __m128 d = _mm_add_ps(q, _mm_movehl_ps(q, q));
    return _mm_cvtss_f32(_mm_add_ss(d, _mm_shuffle_ps(d, d, 1)));
}
inline float maximum(Floats x) {
    const __m256 h = _mm256_max_ps(x.a, x.b);
    const __m128 q = _mm_max_ps(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1));
    const __m128 d = _mm_max_ps(q, _mm_movehl_ps(q, q));
    return _mm_cvtss_f32(_mm_max_ss(d, _mm_shuffle_ps(d, d, 1)));
}

}  // namespace
}  // namespace memwall::kernels
