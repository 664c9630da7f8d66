// Panels times activation vectors: one loop for every number of vectors, so decode and prefill are the same
// arithmetic, and a vector's result does not depend on its neighbours.
#pragma once

#include "kernels/simd/body.h"

namespace memwall::kernels {
namespace {

/// Where a group of rows of a tile stands in the activations; moves along with the panel.
struct Cursor {
    const int8_t* codes;
    const float* scales;
    const int32_t* offsets;
    const float* sums;
    const float* values;
    ptrdiff_t rows;  // of the tile: steps of scales, sums and values
};

/// Moves to the next group's scales and offsets.
template <int Digits>
MEMWALL_INLINE void next_group(Cursor& c) {
    c.scales += c.rows;
    c.offsets += c.rows * Digits;
    c.sums += c.rows;
}

template <int Digits, int M>
MEMWALL_INLINE void start_at_offsets(const Cursor& c, Ints (&acc)[M]) {
    MEMWALL_UNROLL
    for (int v = 0; v < M; ++v) acc[v] = splat(c.offsets[v]);
}

/// y[r] += scale of the rows x scale of the activation x integers.
template <int Digits, int Rows, int M>
MEMWALL_INLINE void add_scaled(const Cursor& c, const Ints (&acc)[M], Floats row_scale, Floats (&y)[Rows]) {
    MEMWALL_UNROLL
    for (int r = 0; r < Rows; ++r)
        y[r] = fma(to_floats(combine<Digits>(acc, r)), mul(row_scale, splat(c.scales[r])), y[r]);
}

// A format: how a panel of `blocks` blocks adds to y. Registers are laid out by the caller's row count.

/// w4g32 and w8g32: a line of scales for two groups, then their codes.
template <int Bits>
struct Symmetric32 {
    template <int Digits, int Rows>
    static MEMWALL_INLINE void run(const MatmulJob&, const uint8_t* p, int64_t blocks, Cursor c,
                                   const Ahead& ahead, int64_t, Floats (&y)[Rows]) {
        constexpr int kM = Rows * Digits, kLines = Bits == 4 ? 4 : 8;
        for (int64_t b = 0; b < blocks; ++b) {
            ahead.fetch(p);
            const uint8_t* codes = p + kLineBytes;
            MEMWALL_UNROLL
            for (int g = 0; g < 2; ++g) {
                Ints acc[kM];
                if constexpr (Bits == 4 || kBias8 != 0)
                    start_at_offsets<Digits>(c, acc);
                else
                    MEMWALL_UNROLL
                for (auto& x : acc) x = splat(0);
                dot_lines<Bits, kLines, 4>(codes, c.codes, c.rows * Digits * 4, ahead, acc);
                add_scaled<Digits>(c, acc, load_halves(p + g * 32), y);
                next_group<Digits>(c);
                codes += kLines * kLineBytes;
            }
            p = codes;
        }
    }
};

/// w4g128: scales and zero points of one group of 128. dot - zero x sum is formed in integers.
struct Asymmetric128 {
    template <int Digits, int Rows>
    static MEMWALL_INLINE void run(const MatmulJob&, const uint8_t* p, int64_t blocks, Cursor c,
                                   const Ahead& ahead, int64_t, Floats (&y)[Rows]) {
        constexpr int kM = Rows * Digits;
        for (int64_t b = 0; b < blocks; ++b) {
            ahead.fetch(p);
            const Ints zero = load_bytes(p + 32);
            Ints acc[kM];
            MEMWALL_UNROLL
            for (int v = 0; v < kM; ++v) acc[v] = mul(zero, splat(c.offsets[v]));
            const uint8_t* codes = p + kLineBytes;
            MEMWALL_UNROLL
            for (int part = 0; part < 4; ++part)
                dot_lines<4, 4, 4>(codes + part * 4 * kLineBytes, c.codes, c.rows * Digits * 4, ahead, acc);
            add_scaled<Digits>(c, acc, load_halves(p), y);
            next_group<Digits>(c);
            p = codes + 16 * kLineBytes;
        }
    }
};

/// q4k: y += d step (scale dot) - dmin min_step (scale sum), groups of 32.
struct SuperBlock256 {
    template <int Digits, int Rows>
    static MEMWALL_INLINE void run(const MatmulJob&, const uint8_t* p, int64_t blocks, Cursor c,
                                   const Ahead& ahead, int64_t, Floats (&y)[Rows]) {
        constexpr int kM = Rows * Digits;
        const Ints four_bits = splat(15), two_bits = splat(0x30);
        for (int64_t b = 0; b < blocks; ++b) {
            for (int l = 0; l < 4; ++l) ahead.fetch(p + l * kLineBytes);
            const uint8_t* steps = p + kLineBytes;
            const uint8_t* codes = p + 4 * kLineBytes;
            const Floats d = load_halves(p), dmin = load_halves(p + 32);
            for (int pair = 0; pair < 4; ++pair) {
                // High bits, two groups a byte: scale, min, scale, min, two bits each from the lowest.
                const Ints high = load_bytes(steps + 128 + pair * 16);
                MEMWALL_UNROLL
                for (int odd = 0; odd < 2; ++odd) {
                    const Ints low = load_bytes(steps + (2 * pair + odd) * 16);
                    const Ints scale_high = odd == 0 ? shift_left<4>(high) : high;
                    const Ints min_high = odd == 0 ? shift_left<2>(high) : shift_right<2>(high);
                    const Ints scale = bit_or(bit_and(low, four_bits), bit_and(scale_high, two_bits));
                    const Ints min = bit_or(shift_right<4>(low), bit_and(min_high, two_bits));
                    Ints acc[kM];
                    MEMWALL_UNROLL
                    for (auto& x : acc) x = splat(0);
                    dot_lines<4, 4, 4>(codes, c.codes, c.rows * Digits * 4, ahead, acc);
                    add_scaled<Digits>(c, acc, mul(d, to_floats(scale)), y);
                    const Floats down = mul(dmin, to_floats(min));
                    MEMWALL_UNROLL
                    for (int r = 0; r < Rows; ++r) y[r] = fma(down, splat(c.sums[r]), y[r]);
                    next_group<Digits>(c);
                    codes += 4 * kLineBytes;
                }
            }
            p = codes;
        }
    }
};

/// w8: one integer sum over all of k, which stays below 2^31 (kHighestRowK). Digits meet as floats.
struct PerRow8 {
    template <int Digits, int Rows>
    static MEMWALL_INLINE void run(const MatmulJob& job, const uint8_t* p, int64_t blocks, Cursor c,
                                   const Ahead& ahead, int64_t panel, Floats (&y)[Rows]) {
        constexpr int kM = Rows * Digits;
        Ints acc[kM];
        if constexpr (kBias8 != 0)
            start_at_offsets<Digits>(c, acc);
        else
            MEMWALL_UNROLL
        for (auto& x : acc) x = splat(0);
        for (int64_t b = 0; b < blocks; ++b, p += 4 * kLineBytes)
            dot_lines<8, 4, 4>(p, c.codes, c.rows * Digits * 4, ahead, acc);
        const Floats row_scale = load(job.row_scales + panel * kPanelRows);
        MEMWALL_UNROLL
        for (int r = 0; r < Rows; ++r) {
            Floats whole = to_floats(acc[r * Digits + Digits - 1]);
            if constexpr (Digits == 2) whole = fma(to_floats(acc[2 * r]), splat(float{kDigitBase}), whole);
            y[r] = fma(whole, mul(row_scale, splat(c.scales[r])), y[r]);
        }
    }
};

/// f16: even and odd k in chains of their own, added at the end.
struct Half {
    template <int Digits, int Rows>
    static MEMWALL_INLINE void run(const MatmulJob&, const uint8_t* p, int64_t blocks, Cursor c,
                                   const Ahead& ahead, int64_t, Floats (&y)[Rows]) {
        Floats odd[Rows];
        MEMWALL_UNROLL
        for (auto& x : odd) x = splat(0.0f);
        for (int64_t b = 0; b < blocks; ++b, p += 2 * kLineBytes) {
            MEMWALL_UNROLL
            for (int l = 0; l < 2; ++l) {
                ahead.fetch(p + l * kLineBytes);
                const Floats even_k = load_halves(p + l * kLineBytes),
                             odd_k = load_halves(p + l * kLineBytes + 32);
                MEMWALL_UNROLL
                for (int r = 0; r < Rows; ++r) y[r] = fma(even_k, splat(c.values[r]), y[r]);
                c.values += c.rows;
                MEMWALL_UNROLL
                for (int r = 0; r < Rows; ++r) odd[r] = fma(odd_k, splat(c.values[r]), odd[r]);
                c.values += c.rows;
            }
        }
        MEMWALL_UNROLL
        for (int r = 0; r < Rows; ++r) y[r] = add(y[r], odd[r]);
    }
};

/// One panel times `Rows` vectors, results stored: all 16 of a panel, fewer at the matrix's end.
template <class Format, int Digits, int Rows>
__attribute__((noinline)) void panel_times(const MatmulJob& job, int64_t panel, const Cursor& c,
                                           const Ahead& ahead, float* to) {
    Floats y[Rows];
    MEMWALL_UNROLL
    for (int r = 0; r < Rows; ++r) y[r] = splat(0.0f);
    Format::template run<Digits, Rows>(job, job.panels + static_cast<size_t>(panel) * job.panel_bytes,
                                       job.blocks, c, ahead, panel, y);
    const int64_t left = job.rows - panel * kPanelRows;
    MEMWALL_UNROLL
    for (int r = 0; r < Rows; ++r) {
        if (left >= kPanelRows) {
            store(to + r * job.y_stride, y[r]);
        } else {
            float some[kPanelRows];
            store(some, y[r]);
            for (int64_t i = 0; i < left; ++i) to[r * job.y_stride + i] = some[i];
        }
    }
}

/// Turns a row count known at run time into a template argument.
template <class Format, int Digits, int Rows>
MEMWALL_INLINE void panel_times_rows(int64_t rows, const MatmulJob& job, int64_t panel, const Cursor& c,
                                     const Ahead& ahead, float* to) {
    if (rows >= Rows)
        panel_times<Format, Digits, Rows>(job, panel, c, ahead, to);
    else if constexpr (Rows > 1)
        panel_times_rows<Format, Digits, Rows - 1>(rows, job, panel, c, ahead, to);
}

/// Digits 0: the format takes floats. `GroupBlocks`: groups a block (0: one group a row).
template <class Format, int Digits, int GroupsPerBlock, int AtOnce>
void multiply(const MatmulJob& job) {
    constexpr int kDigits = Digits == 0 ? 1 : Digits;
    constexpr int64_t kTileRows = kTileVectors / kDigits, kRows = AtOnce / kDigits;
    const int64_t groups = GroupsPerBlock == 0 ? 1 : job.blocks * GroupsPerBlock;
    const uint8_t* end = job.panels + static_cast<size_t>(job.last_panel) * job.panel_bytes;
    Ahead ahead;
    ahead.near = job.prefetch.near;
    ahead.far = job.prefetch.far;
    ahead.end = ahead.far_end = reinterpret_cast<uintptr_t>(end);
    if (job.next != nullptr)
        ahead.jump = ahead.far_jump =
            static_cast<ptrdiff_t>(reinterpret_cast<uintptr_t>(job.next) - ahead.end);
    for (int64_t panel = job.first_panel; panel < job.last_panel; ++panel) {
        for (int64_t first = 0; first < job.m; first += kTileRows) {
            const int64_t rows = job.m - first < kTileRows ? job.m - first : kTileRows;
            for (int64_t r = 0; r < rows; r += kRows) {
                const Cursor c{job.codes + first * kDigits * job.padded_k + r * kDigits * 4,
                               job.scales + first * groups + r,
                               job.offsets + (first * groups + r) * kDigits,
                               job.sums + first * groups + r,
                               job.values + first * job.padded_k + r,
                               static_cast<ptrdiff_t>(rows)};
                panel_times_rows<Format, kDigits, static_cast<int>(kRows)>(
                    rows - r, job, panel, c, ahead, job.y + (first + r) * job.y_stride + panel * kPanelRows);
            }
        }
    }
}

template <class Format, int GroupsPerBlock>
void multiply_digits(const MatmulJob& job) {
    if (job.digits == 2)
        multiply<Format, 2, GroupsPerBlock, kMatmulVectors>(job);
    else
        multiply<Format, 1, GroupsPerBlock, kMatmulVectors>(job);
}

void matmul(const MatmulJob& job) {
    switch (job.format) {
        case PanelFormat::w4g32:
            return multiply_digits<Symmetric32<4>, 2>(job);
        case PanelFormat::w4g128:
            return multiply_digits<Asymmetric128, 1>(job);
        case PanelFormat::q4k:
            return multiply_digits<SuperBlock256, 8>(job);
        case PanelFormat::w8:
            return multiply_digits<PerRow8, 0>(job);
        case PanelFormat::w8g32:
            return multiply_digits<Symmetric32<8>, 2>(job);
        case PanelFormat::f16:
            return multiply<Half, 0, 0, kFloatVectors>(job);
    }
}

}  // namespace
}  // namespace memwall::kernels
