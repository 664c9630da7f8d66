// Loops that only move memory or only compute: what a kernel can be held against.
#pragma once

#include "kernels/simd/body.h"

namespace memwall::kernels {
namespace {

/// One stream: KERNELS section 2. Several: as far as the kernels look.
constexpr ptrdiff_t kNearAhead = 4096, kFarAhead = 32768;
template <Access A>
MEMWALL_INLINE void fetch_ahead(const uint8_t* p) {
    if constexpr (A == Access::near || A == Access::two_level) __builtin_prefetch(p + kNearAhead, 0, 3);
    if constexpr (A == Access::two_level) __builtin_prefetch(p + kFarAhead, 0, 2);
    if constexpr (A == Access::streams_near) __builtin_prefetch(p + Prefetch{}.near, 0, 3);
}

template <Access A>
Line read_lines(const uint8_t* p, size_t lines) {
    constexpr int kChains = 8, kStreams = A == Access::streams || A == Access::streams_near ? 4 : 1;
    Line chain[kChains];
    MEMWALL_UNROLL
    for (auto& x : chain) x = load_line(p);
    const size_t each = lines / kStreams, step = kChains / kStreams;
    for (size_t i = 0; i + step <= each; i += step) {
        MEMWALL_UNROLL
        for (int c = 0; c < kChains; ++c) {
            const auto stream = static_cast<size_t>(c) % kStreams,
                       line = i + static_cast<size_t>(c) / kStreams;
            const uint8_t* at = p + (stream * each + line) * kLineBytes;
            fetch_ahead<A>(at);
            chain[c] = merge(chain[c], load_line(at));
        }
    }
    MEMWALL_UNROLL
    for (int c = 1; c < kChains; ++c) chain[0] = merge(chain[0], chain[c]);
    return chain[0];
}

uint64_t read(const void* from, size_t bytes, Access access) {
    const auto* p = static_cast<const uint8_t*>(from);
    const size_t lines = bytes / kLineBytes;
    if (lines == 0) return 0;
    Line x;
    switch (access) {
        case Access::near:
            x = read_lines<Access::near>(p, lines);
            break;
        case Access::two_level:
            x = read_lines<Access::two_level>(p, lines);
            break;
        case Access::streams:
            x = read_lines<Access::streams>(p, lines);
            break;
        case Access::streams_near:
            x = read_lines<Access::streams_near>(p, lines);
            break;
        default:
            x = read_lines<Access::plain>(p, lines);
            break;
    }
    uint64_t words[8];
    store_line(words, x);
    uint64_t all = 0;
    for (const uint64_t w : words) all ^= w;
    return all;
}

template <Access A>
void copy_lines(uint8_t* to, const uint8_t* from, size_t lines) {
    for (size_t i = 0; i < lines; ++i) {
        fetch_ahead<A>(from + i * kLineBytes);
        const Line x = load_line(from + i * kLineBytes);
        if constexpr (A == Access::nontemporal)
            store_line_around(to + i * kLineBytes, x);
        else
            store_line(to + i * kLineBytes, x);
    }
}
void copy(void* to, const void* from, size_t bytes, Access access) {
    auto* t = static_cast<uint8_t*>(to);
    const auto* f = static_cast<const uint8_t*>(from);
    const size_t lines = bytes / kLineBytes;
    switch (access) {
        case Access::near:
            return copy_lines<Access::near>(t, f, lines);
        case Access::two_level:
            return copy_lines<Access::two_level>(t, f, lines);
        case Access::nontemporal:
            return copy_lines<Access::nontemporal>(t, f, lines);
        default:
            return copy_lines<Access::plain>(t, f, lines);
    }
}

template <Access A>
void triad_lines(float* a, const float* b, const float* c, Floats s, size_t n) {
    for (size_t i = 0; i + 16 <= n; i += 16) {
        fetch_ahead<A>(reinterpret_cast<const uint8_t*>(b + i));
        fetch_ahead<A>(reinterpret_cast<const uint8_t*>(c + i));
        const Floats x = fma(load(c + i), s, load(b + i));
        if constexpr (A == Access::nontemporal)
            store_around(a + i, x);
        else
            store(a + i, x);
    }
}
void triad(float* a, const float* b, const float* c, float s, size_t n, Access access) {
    switch (access) {
        case Access::near:
            return triad_lines<Access::near>(a, b, c, splat(s), n);
        case Access::two_level:
            return triad_lines<Access::two_level>(a, b, c, splat(s), n);
        case Access::nontemporal:
            return triad_lines<Access::nontemporal>(a, b, c, splat(s), n);
        default:
            return triad_lines<Access::plain>(a, b, c, splat(s), n);
    }
}

/// Keeps the compiler from taking what memory holds for known.
MEMWALL_INLINE void forget_memory(const void* p) {
    asm volatile("" : : "r"(p) : "memory");
}

uint64_t peak_int8(uint64_t rounds) {
    alignas(64) uint8_t codes[kLineBytes] = {1, 2, 3};
    alignas(64) int8_t quads[kPeakVectors * 4] = {1, -1, 2};
    Ints acc[kPeakVectors];
    MEMWALL_UNROLL
    for (int v = 0; v < kPeakVectors; ++v) acc[v] = splat(0);
    for (uint64_t i = 0; i < rounds; ++i) {
        forget_memory(codes);
        const Line x = load_line(codes);
        MEMWALL_UNROLL
        for (int v = 0; v < kPeakVectors; ++v) acc[v] = dot8(acc[v], x, quads + 4 * v);
    }
    Ints all = acc[0];
    MEMWALL_UNROLL
    for (int v = 1; v < kPeakVectors; ++v) all = add(all, acc[v]);
    store_bytes(quads, all);
    forget_memory(quads);
    return rounds * kPeakVectors * kLineBytes * 2;
}

uint64_t peak_f32(uint64_t rounds) {
    alignas(64) float x[16] = {1.0f, -1.0f}, y[16] = {0.5f};
    Floats acc[kPeakVectors];
    MEMWALL_UNROLL
    for (int v = 0; v < kPeakVectors; ++v) acc[v] = splat(0.0f);
    for (uint64_t i = 0; i < rounds; ++i) {
        forget_memory(x);
        const Floats a = load(x), b = load(y);
        MEMWALL_UNROLL
        for (int v = 0; v < kPeakVectors; ++v) acc[v] = fma(a, b, acc[v]);
    }
    Floats all = acc[0];
    MEMWALL_UNROLL
    for (int v = 1; v < kPeakVectors; ++v) all = add(all, acc[v]);
    store(x, all);
    forget_memory(x);
    return rounds * kPeakVectors * 16 * 2;
}

}  // namespace
}  // namespace memwall::kernels
