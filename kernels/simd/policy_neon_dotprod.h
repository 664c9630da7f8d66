// Sixteen lanes as four 128-bit registers of Arm's Advanced SIMD with dot products. Included by
// neon_dotprod.cpp only.
#pragma once

#include <arm_neon.h>

#include "kernels/panels/formats.h"

namespace memwall::kernels {
namespace {

struct Ints {
    int32x4_t v[4];
};
struct Floats {
    float32x4_t v[4];
};
struct Line {
    uint8x16_t v[4];
};
constexpr int kBias8 = 0;  // the signed dot product takes the bias off by flipping the sign bit
constexpr int kMatmulVectors = 4;
constexpr int kAttendVectors = 4;
constexpr int kFloatVectors = 3;
constexpr int kPeakVectors = 6;  // chains of the peak loops: latency times issue rate

template <class To, class F>
inline To parts(F f) {
    return {f(0), f(1), f(2), f(3)};
}

inline Floats load(const float* p) {
    return parts<Floats>([&](int i) { return vld1q_f32(p + 4 * i); });
}
inline void store(float* p, Floats x) {
    for (int i = 0; i < 4; ++i) vst1q_f32(p + 4 * i, x.v[i]);
}
inline void store_around(float* p, Floats x) {
    store(p, x);
}
inline Floats load_halves(const void* p) {
    const auto* h = static_cast<const uint16_t*>(p);
    return parts<Floats>([&](int i) { return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(h + 4 * i))); });
}
inline Floats splat(float x) {
    return parts<Floats>([&](int) { return vdupq_n_f32(x); });
}
inline Floats add(Floats a, Floats b) {
    return parts<Floats>([&](int i) { return vaddq_f32(a.v[i], b.v[i]); });
}
inline Floats sub(Floats a, Floats b) {
    return parts<Floats>([&](int i) { return vsubq_f32(a.v[i], b.v[i]); });
}
inline Floats mul(Floats a, Floats b) {
    return parts<Floats>([&](int i) { return vmulq_f32(a.v[i], b.v[i]); });
}
inline Floats fma(Floats a, Floats b, Floats c) {
    return parts<Floats>([&](int i) { return vfmaq_f32(c.v[i], a.v[i], b.v[i]); });
}
/// As x86 has it: the second operand where the first is no greater, a NaN included.
inline Floats max(Floats a, Floats b) {
    return parts<Floats>([&](int i) { return vbslq_f32(vcgtq_f32(a.v[i], b.v[i]), a.v[i], b.v[i]); });
}
inline Floats to_floats(Ints x) {
    return parts<Floats>([&](int i) { return vcvtq_f32_s32(x.v[i]); });
}
inline Floats bits_as_floats(Ints x) {
    return parts<Floats>([&](int i) { return vreinterpretq_f32_s32(x.v[i]); });
}
inline Ints bits_as_ints(Floats x) {
    return parts<Ints>([&](int i) { return vreinterpretq_s32_f32(x.v[i]); });
}

inline Ints splat(int x) {
    return parts<Ints>([&](int) { return vdupq_n_s32(x); });
}
inline Ints add(Ints a, Ints b) {
    return parts<Ints>([&](int i) { return vaddq_s32(a.v[i], b.v[i]); });
}
inline Ints sub(Ints a, Ints b) {
    return parts<Ints>([&](int i) { return vsubq_s32(a.v[i], b.v[i]); });
}
inline Ints mul(Ints a, Ints b) {
    return parts<Ints>([&](int i) { return vmulq_s32(a.v[i], b.v[i]); });
}
inline Ints bit_and(Ints a, Ints b) {
    return parts<Ints>([&](int i) { return vandq_s32(a.v[i], b.v[i]); });
}
inline Ints bit_or(Ints a, Ints b) {
    return parts<Ints>([&](int i) { return vorrq_s32(a.v[i], b.v[i]); });
}
template <int N>
inline Ints shift_left(Ints x) {
    return parts<Ints>([&](int i) { return vshlq_n_s32(x.v[i], N); });
}
template <int N>
inline Ints shift_right(Ints x) {
    return parts<Ints>(
        [&](int i) { return vreinterpretq_s32_u32(vshrq_n_u32(vreinterpretq_u32_s32(x.v[i]), N)); });
}
/// 16 unsigned bytes.
inline Ints load_bytes(const uint8_t* p) {
    const uint8x16_t x = vld1q_u8(p);
    const uint16x8_t low = vmovl_u8(vget_low_u8(x)), high = vmovl_u8(vget_high_u8(x));
    const auto widen = [](uint16x4_t y) { return vreinterpretq_s32_u32(vmovl_u16(y)); };
    return {widen(vget_low_u16(low)), widen(vget_high_u16(low)), widen(vget_low_u16(high)),
            widen(vget_high_u16(high))};
}
/// The low byte of every lane.
inline void store_bytes(int8_t* p, Ints x) {
    const int16x8_t a = vcombine_s16(vmovn_s32(x.v[0]), vmovn_s32(x.v[1]));
    const int16x8_t b = vcombine_s16(vmovn_s32(x.v[2]), vmovn_s32(x.v[3]));
    vst1q_s8(p, vcombine_s8(vmovn_s16(a), vmovn_s16(b)));
}

inline Line load_line(const void* p) {
    return parts<Line>([&](int i) { return vld1q_u8(static_cast<const uint8_t*>(p) + 16 * i); });
}
inline void store_line(void* p, Line x) {
    for (int i = 0; i < 4; ++i) vst1q_u8(static_cast<uint8_t*>(p) + 16 * i, x.v[i]);
}
inline void store_line_around(void* p, Line x) {
    store_line(p, x);
}
inline Line merge(Line a, Line b) {
    return parts<Line>([&](int i) { return veorq_u8(a.v[i], b.v[i]); });
}
inline Line low_nibbles(Line x) {
    return parts<Line>([&](int i) { return vandq_u8(x.v[i], vdupq_n_u8(15)); });
}
inline Line high_nibbles(Line x) {
    return parts<Line>([&](int i) { return vshrq_n_u8(x.v[i], 4); });
}

/// Four activations that several lines share; the compiler sees by itself what can stay in a register.
inline const int8_t* load_quads(const int8_t* a) {
    return a;
}
inline int8x16_t quad(const int8_t* a) {
    int32_t four;
    __builtin_memcpy(&four, a, 4);
    return vreinterpretq_s8_s32(vdupq_n_s32(four));
}
/// acc[r] += w[4 r + i] a[i] for nibbles, i = 0..3.
inline Ints dot4(Ints acc, Line w, const int8_t* a) {
    const int8x16_t q = quad(a);
    return parts<Ints>([&](int i) { return vdotq_s32(acc.v[i], vreinterpretq_s8_u8(w.v[i]), q); });
}
/// acc[r] += (w[4 r + i] - 128) a[i].
inline Ints dot8(Ints acc, Line w, const int8_t* a) {
    return dot4(acc, parts<Line>([&](int i) { return veorq_u8(w.v[i], vdupq_n_u8(128)); }), a);
}

// One tree on every instruction set: i + 8, i + 4, i + 2, i + 1.
inline float sum(Floats x) {
    const float32x4_t q = vaddq_f32(vaddq_f32(x.v[0], x.v[2]), vaddq_f32(x.v[1], x.v[3]));
    const float32x2_t d = vadd_f32(vget_low_f32(q), vget_high_f32(q));
    return vget_lane_f32(d, 0) + vget_lane_f32(d, 1);
}
inline float maximum(Floats x) {
    return vmaxvq_f32(vmaxq_f32(vmaxq_f32(x.v[0], x.v[2]), vmaxq_f32(x.v[1], x.v[3])));
}

}  // namespace
}  // namespace memwall::kernels
