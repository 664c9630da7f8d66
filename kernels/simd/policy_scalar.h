// Sixteen lanes as arrays: the specification that every instruction set must equal bit for bit. Included by
// scalar.cpp only.
#pragma once

#include "kernels/panels/formats.h"

#define MEMWALL_NO_UNROLL  // lanes are loops already: unrolled too, they cost minutes of compiling

namespace memwall::kernels {
namespace {

struct Ints {
    int32_t v[16];
};
struct Floats {
    float v[16];
};
struct Line {
    uint8_t v[64];
};
constexpr int kBias8 = 0;
constexpr int kMatmulVectors = 4;
constexpr int kAttendVectors = 4;
constexpr int kFloatVectors = 4;
constexpr int kPeakVectors = 4;  // chains of the peak loops: latency times issue rate

template <class To, class F>
inline To lanes(F f) {
    To r;
    for (int i = 0; i < 16; ++i) r.v[i] = f(i);
    return r;
}

/// IEEE binary16, exactly: as an f32 the bits lie 112 binary orders too low.
inline float half_to_float(uint16_t h) {
    const uint32_t magnitude = h & 0x7fffu;
    float x = __builtin_bit_cast(float, magnitude << 13) * 0x1p112f;
    if (magnitude >= 0x7c00u)
        x = __builtin_bit_cast(
            float, 0x7f800000u | (magnitude & 0x3ffu) << 13 | (magnitude > 0x7c00u ? 0x400000u : 0u));
    return __builtin_bit_cast(float, __builtin_bit_cast(uint32_t, x) | uint32_t{h & 0x8000u} << 16);
}
/// Modulo 2^32, as vector units add.
inline int32_t wrap(uint32_t x) {
    return static_cast<int32_t>(x);
}
inline uint32_t bits(int32_t x) {
    return static_cast<uint32_t>(x);
}

inline Floats load(const float* p) {
    return lanes<Floats>([&](int i) { return p[i]; });
}
inline void store(float* p, Floats x) {
    __builtin_memcpy(p, x.v, sizeof x.v);
}
inline void store_around(float* p, Floats x) {
    store(p, x);
}
inline Floats load_halves(const void* p) {
    return lanes<Floats>([&](int i) {
        uint16_t h;
        __builtin_memcpy(&h, static_cast<const char*>(p) + 2 * i, 2);
        return half_to_float(h);
    });
}
inline Floats splat(float x) {
    return lanes<Floats>([&](int) { return x; });
}
inline Floats add(Floats a, Floats b) {
    return lanes<Floats>([&](int i) { return a.v[i] + b.v[i]; });
}
inline Floats sub(Floats a, Floats b) {
    return lanes<Floats>([&](int i) { return a.v[i] - b.v[i]; });
}
inline Floats mul(Floats a, Floats b) {
    return lanes<Floats>([&](int i) { return a.v[i] * b.v[i]; });
}
inline Floats fma(Floats a, Floats b, Floats c) {
    return lanes<Floats>([&](int i) { return __builtin_fmaf(a.v[i], b.v[i], c.v[i]); });
}
inline Floats max(Floats a, Floats b) {
    return lanes<Floats>([&](int i) { return a.v[i] > b.v[i] ? a.v[i] : b.v[i]; });
}
inline Floats to_floats(Ints x) {
    return lanes<Floats>([&](int i) { return static_cast<float>(x.v[i]); });
}
// Lane by lane: GCC 12 for aarch64, at -O2, loses what a cast of all lanes at once should read.
inline Floats bits_as_floats(Ints x) {
    return lanes<Floats>([&](int i) { return __builtin_bit_cast(float, x.v[i]); });
}
inline Ints bits_as_ints(Floats x) {
    return lanes<Ints>([&](int i) { return __builtin_bit_cast(int32_t, x.v[i]); });
}

inline Ints splat(int x) {
    return lanes<Ints>([&](int) { return x; });
}
inline Ints add(Ints a, Ints b) {
    return lanes<Ints>([&](int i) { return wrap(bits(a.v[i]) + bits(b.v[i])); });
}
inline Ints sub(Ints a, Ints b) {
    return lanes<Ints>([&](int i) { return wrap(bits(a.v[i]) - bits(b.v[i])); });
}
inline Ints mul(Ints a, Ints b) {
    return lanes<Ints>([&](int i) { return wrap(bits(a.v[i]) * bits(b.v[i])); });
}
inline Ints bit_and(Ints a, Ints b) {
    return lanes<Ints>([&](int i) { return a.v[i] & b.v[i]; });
}
inline Ints bit_or(Ints a, Ints b) {
    return lanes<Ints>([&](int i) { return a.v[i] | b.v[i]; });
}
template <int N>
inline Ints shift_left(Ints x) {
    return lanes<Ints>([&](int i) { return wrap(bits(x.v[i]) << N); });
}
template <int N>
inline Ints shift_right(Ints x) {
    return lanes<Ints>([&](int i) { return wrap(bits(x.v[i]) >> N); });
}
/// 16 unsigned bytes.
inline Ints load_bytes(const uint8_t* p) {
    return lanes<Ints>([&](int i) { return int32_t{p[i]}; });
}
/// The low byte of every lane.
inline void store_bytes(int8_t* p, Ints x) {
    for (int i = 0; i < 16; ++i) p[i] = static_cast<int8_t>(x.v[i]);
}

inline Line load_line(const void* p) {
    Line r;
    __builtin_memcpy(r.v, p, sizeof r.v);
    return r;
}
inline void store_line(void* p, Line x) {
    __builtin_memcpy(p, x.v, sizeof x.v);
}
inline void store_line_around(void* p, Line x) {
    store_line(p, x);
}
template <class F>
inline Line bytes(F f) {
    Line r;
    for (int i = 0; i < 64; ++i) r.v[i] = static_cast<uint8_t>(f(i));
    return r;
}
inline Line merge(Line a, Line b) {
    return bytes([&](int i) { return a.v[i] ^ b.v[i]; });
}
inline Line low_nibbles(Line x) {
    return bytes([&](int i) { return x.v[i] & 15; });
}
inline Line high_nibbles(Line x) {
    return bytes([&](int i) { return x.v[i] >> 4; });
}

/// Four activations that several lines share; the compiler sees by itself what can stay in a register.
inline const int8_t* load_quads(const int8_t* a) {
    return a;
}
/// acc[r] += (w[4 r + i] - bias) a[i], i = 0..3.
template <int Bias>
inline Ints dot(Ints acc, const Line& w, const int8_t* a) {
    return lanes<Ints>([&](int r) {
        int32_t s = acc.v[r];
        for (int i = 0; i < 4; ++i) s += (w.v[4 * r + i] - Bias) * a[i];
        return s;
    });
}
inline Ints dot8(Ints acc, Line w, const int8_t* a) {
    return dot<128>(acc, w, a);
}
inline Ints dot4(Ints acc, Line w, const int8_t* a) {
    return dot<0>(acc, w, a);
}

// One tree on every instruction set: i + 8, i + 4, i + 2, i + 1.
inline float sum(Floats x) {
    for (int n = 8; n > 0; n /= 2)
        for (int i = 0; i < n; ++i) x.v[i] = x.v[i] + x.v[i + n];
    return x.v[0];
}
inline float maximum(Floats x) {
    for (int i = 1; i < 16; ++i) x.v[0] = x.v[i] > x.v[0] ? x.v[i] : x.v[0];
    return x.v[0];
}

}  // namespace
}  // namespace memwall::kernels
