// What the bodies of all kernels share. A translation unit of one instruction set names its policy, the
// header that defines vectors of 16 lanes, in MEMWALL_POLICY: the same text, compiled once an instruction
// set.
#pragma once

#include "kernels/simd/jobs.h"

#include MEMWALL_POLICY

#if defined(MEMWALL_NO_UNROLL)
#define MEMWALL_UNROLL
#elif defined(__clang__)
#define MEMWALL_UNROLL _Pragma("unroll")
#else
#define MEMWALL_UNROLL _Pragma("GCC unroll 32")
#endif
#define MEMWALL_INLINE inline __attribute__((always_inline))

namespace memwall::kernels {
namespace {

// Prefetch along a stream: to() says where the lines ahead of a short run of lines stand, and fetch() takes
// one of them. A run that the stream's end cuts fetches a few lines beyond it.

/// Of a stream that is read alone. Beyond `end` it goes on `jump` bytes further: at the next matrix or page.
/// The far target may belong to another page than the near one.
struct Ahead {
    static constexpr bool kAlone = true;
    uintptr_t end = 0;
    ptrdiff_t jump = 0;
    ptrdiff_t near = 0, far = 0;
    uintptr_t far_end = 0;
    ptrdiff_t far_jump = 0;

    struct Targets {
        uintptr_t near, far;
        MEMWALL_INLINE void fetch(int line) const {
            __builtin_prefetch(reinterpret_cast<const uint8_t*>(near) + line * kLineBytes, 0, 3);
            __builtin_prefetch(reinterpret_cast<const uint8_t*>(far) + line * kLineBytes, 0, 2);
        }
    };
    MEMWALL_INLINE Targets to(const uint8_t* line) const {
        uintptr_t n = reinterpret_cast<uintptr_t>(line) + static_cast<uintptr_t>(near);
        uintptr_t f = reinterpret_cast<uintptr_t>(line) + static_cast<uintptr_t>(far);
        n += n >= end ? static_cast<uintptr_t>(jump) : 0;
        f += f >= far_end ? static_cast<uintptr_t>(far_jump) : 0;
        return {n, f};
    }
};

struct NearTarget {
    uintptr_t near;
    MEMWALL_INLINE void fetch(int line) const {
        __builtin_prefetch(reinterpret_cast<const uint8_t*>(near) + line * kLineBytes, 0, 3);
    }
};
/// Of one stream of several.
struct Straight {
    static constexpr bool kAlone = false;
    ptrdiff_t near;
    MEMWALL_INLINE NearTarget to(const uint8_t* line) const {
        return {reinterpret_cast<uintptr_t>(line) + static_cast<uintptr_t>(near)};
    }
};
/// Integers of M accumulators over `Lines` lines: acc[v] += codes x quads of vector v. The quads of the M
/// vectors stand `VectorStep` bytes apart, consecutive quads `quad_step`. Few accumulators alone are split in
/// two chains, since one would wait for itself; integers are exact in any order.
template <int Bits, int Lines, int VectorStep, int M, class Fetch>
MEMWALL_INLINE void dot_lines(const uint8_t* line, const int8_t*& a, ptrdiff_t quad_step, const Fetch& ahead,
                              Ints (&acc)[M]) {
    constexpr bool kSplit = M <= 2 && Fetch::kAlone;
    Ints odd[kSplit ? M : 1];
    if constexpr (kSplit) MEMWALL_UNROLL
    for (auto& x : odd) x = splat(0);
    const auto targets = ahead.to(line);
    MEMWALL_UNROLL
    for (int l = 0; l < Lines; ++l) {
        const Line x = load_line(line + l * kLineBytes);
        targets.fetch(l);
        if constexpr (Bits == 4) {
            const Line low = low_nibbles(x), high = high_nibbles(x);
            MEMWALL_UNROLL
            for (int v = 0; v < M; ++v) acc[v] = dot4(acc[v], low, a + v * VectorStep);
            a += quad_step;
            MEMWALL_UNROLL
            for (int v = 0; v < M; ++v) {
                Ints& to = kSplit ? odd[v % (kSplit ? M : 1)] : acc[v];
                to = dot4(to, high, a + v * VectorStep);
            }
            a += quad_step;
        } else {
            MEMWALL_UNROLL
            for (int v = 0; v < M; ++v) {
                Ints& to = kSplit && l % 2 == 1 ? odd[v % (kSplit ? M : 1)] : acc[v];
                to = dot8(to, x, a + v * VectorStep);
            }
            a += quad_step;
        }
    }
    if constexpr (kSplit) MEMWALL_UNROLL
    for (int v = 0; v < M; ++v) acc[v] = add(acc[v], odd[v]);
}

template <int Bits, class Quads>
MEMWALL_INLINE Ints dot_codes(Ints acc, Line codes, Quads quads) {
    if constexpr (Bits == 4)
        return dot4(acc, codes, quads);
    else
        return dot8(acc, codes, quads);
}

/// The same over `Streams` streams line by line, for a core that reads several places in turn. line(s),
/// ahead(s) and acc(s) are those of stream s; its quads stand `AStep` bytes after those of the stream before.
template <int Bits, int Lines, int VectorStep, int AStep, int Streams, class LineOf, class AheadOf,
          class AccOf>
MEMWALL_INLINE void dot_streams(const LineOf& line, const int8_t*& a, ptrdiff_t quad_step,
                                const AheadOf& ahead, const AccOf& acc) {
    if constexpr (Streams == 1) {
        dot_lines<Bits, Lines, VectorStep>(line(0), a, quad_step, ahead(0), acc(0));
    } else {
        constexpr int kM = sizeof(acc(0)) / sizeof(Ints);
        decltype(ahead(0).to(line(0))) targets[Streams];
        MEMWALL_UNROLL
        for (int s = 0; s < Streams; ++s) targets[s] = ahead(s).to(line(s));
        MEMWALL_UNROLL
        for (int l = 0; l < Lines; ++l) {
            Line x[Streams];
            MEMWALL_UNROLL
            for (int s = 0; s < Streams; ++s) {
                x[s] = load_line(line(s) + l * kLineBytes);
                targets[s].fetch(l);
            }
            MEMWALL_UNROLL
            for (int half = 0; half < (Bits == 4 ? 2 : 1); ++half, a += quad_step) {
                Line codes[Streams];
                MEMWALL_UNROLL
                for (int s = 0; s < Streams; ++s)
                    codes[s] = Bits != 4 ? x[s] : half == 0 ? low_nibbles(x[s]) : high_nibbles(x[s]);
                MEMWALL_UNROLL
                for (int v = 0; v < kM; ++v) {
                    if constexpr (AStep == 0) {
                        const auto quads = load_quads(a + v * VectorStep);
                        MEMWALL_UNROLL
                        for (int s = 0; s < Streams; ++s)
                            acc(s)[v] = dot_codes<Bits>(acc(s)[v], codes[s], quads);
                    } else {
                        MEMWALL_UNROLL
                        for (int s = 0; s < Streams; ++s)
                            acc(s)[v] = dot_codes<Bits>(acc(s)[v], codes[s], a + s * AStep + v * VectorStep);
                    }
                }
            }
        }
    }
}

/// 254 high + low, or the one digit there is.
template <int Digits, int M>
MEMWALL_INLINE Ints combine(const Ints (&acc)[M], int row) {
    if constexpr (Digits == 1) {
        return acc[row];
    } else {
        static_assert(kDigitBase == 256 - 2);
        const Ints high = acc[2 * row];
        return add(sub(shift_left<8>(high), shift_left<1>(high)), acc[2 * row + 1]);
    }
}

}  // namespace
}  // namespace memwall::kernels
