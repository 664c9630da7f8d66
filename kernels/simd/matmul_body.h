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

/// Adds `Lines` lines of panels side by side; moves the cursor's quads along.
template <int Bits, int Lines, int Digits, int Streams, int M, class Fetch>
MEMWALL_INLINE void dot_panels(const uint8_t* p, size_t apart, Cursor& c, const Fetch& ahead,
                               Ints (&acc)[Streams][M]) {
    dot_streams<Bits, Lines, 4, 0, Streams>(
        [&](int n) { return p + static_cast<size_t>(n) * apart; }, c.codes, c.rows * Digits * 4,
        [&](int) -> const Fetch& { return ahead; }, [&](int n) -> Ints(&)[M] { return acc[n]; });
}

// A format: start() of a panel, block() for each of its blocks, end() that leaves y. block() moves the cursor
// to the next block's activations. It takes panels that stand `apart` bytes side by side as streams: their
// sums do not meet, so a panel's bits are the same however many there are.

/// w4g32 and w8g32: a line of scales for two groups, then their codes.
template <int Bits>
struct Symmetric32 {
    static constexpr int kLines = Bits == 4 ? 4 : 8, kBlockBytes = (1 + 2 * kLines) * kLineBytes;
    template <int, int Rows>
    struct Sums {
        Floats y[Rows];
    };
    template <int Digits, int Rows>
    static MEMWALL_INLINE void start(const Cursor&, Sums<Digits, Rows>& s) {
        MEMWALL_UNROLL
        for (auto& y : s.y) y = splat(0.0f);
    }
    template <int Digits, int Rows, int Streams, class Fetch>
    static MEMWALL_INLINE void block(const uint8_t* p, size_t apart, Cursor& c, const Fetch& ahead,
                                     Sums<Digits, Rows> (&s)[Streams]) {
        constexpr int kM = Rows * Digits;
        MEMWALL_UNROLL
        for (int n = 0; n < Streams; ++n) ahead.to(p + static_cast<size_t>(n) * apart).fetch(0);
        MEMWALL_UNROLL
        for (int g = 0; g < 2; ++g) {
            Ints acc[Streams][kM];
            MEMWALL_UNROLL
            for (auto& one : acc) {
                if constexpr (Bits == 4 || kBias8 != 0)
                    start_at_offsets<Digits>(c, one);
                else
                    MEMWALL_UNROLL
                for (auto& x : one) x = splat(0);
            }
            dot_panels<Bits, kLines, Digits>(p + (1 + g * kLines) * kLineBytes, apart, c, ahead, acc);
            MEMWALL_UNROLL
            for (int n = 0; n < Streams; ++n)
                add_scaled<Digits>(c, acc[n], load_halves(p + static_cast<size_t>(n) * apart + g * 32),
                                   s[n].y);
            next_group<Digits>(c);
        }
    }
    template <int Digits, int Rows>
    static MEMWALL_INLINE void end(const MatmulJob&, int64_t, const Cursor&, Sums<Digits, Rows>&) {}
};

/// w4g128: scales and zero points of one group of 128. dot - zero x sum is formed in integers.
struct Asymmetric128 {
    static constexpr int kBlockBytes = 17 * kLineBytes;
    template <int Digits, int Rows>
    using Sums = Symmetric32<4>::Sums<Digits, Rows>;
    template <int Digits, int Rows>
    static MEMWALL_INLINE void start(const Cursor& c, Sums<Digits, Rows>& s) {
        Symmetric32<4>::start<Digits, Rows>(c, s);
    }
    template <int Digits, int Rows, int Streams, class Fetch>
    static MEMWALL_INLINE void block(const uint8_t* p, size_t apart, Cursor& c, const Fetch& ahead,
                                     Sums<Digits, Rows> (&s)[Streams]) {
        constexpr int kM = Rows * Digits;
        Ints acc[Streams][kM];
        MEMWALL_UNROLL
        for (int n = 0; n < Streams; ++n) {
            ahead.to(p + static_cast<size_t>(n) * apart).fetch(0);
            const Ints zero = load_bytes(p + static_cast<size_t>(n) * apart + 32);
            MEMWALL_UNROLL
            for (int v = 0; v < kM; ++v) acc[n][v] = mul(zero, splat(c.offsets[v]));
        }
        MEMWALL_UNROLL
        for (int part = 0; part < 4; ++part)
            dot_panels<4, 4, Digits>(p + (1 + part * 4) * kLineBytes, apart, c, ahead, acc);
        MEMWALL_UNROLL
        for (int n = 0; n < Streams; ++n)
            add_scaled<Digits>(c, acc[n], load_halves(p + static_cast<size_t>(n) * apart), s[n].y);
        next_group<Digits>(c);
    }
    template <int Digits, int Rows>
    static MEMWALL_INLINE void end(const MatmulJob&, int64_t, const Cursor&, Sums<Digits, Rows>&) {}
};

/// q4k: y += d step (scale dot) - dmin min_step (scale sum), groups of 32.
struct SuperBlock256 {
    static constexpr int kBlockBytes = 36 * kLineBytes;
    template <int Digits, int Rows>
    using Sums = Symmetric32<4>::Sums<Digits, Rows>;
    template <int Digits, int Rows>
    static MEMWALL_INLINE void start(const Cursor& c, Sums<Digits, Rows>& s) {
        Symmetric32<4>::start<Digits, Rows>(c, s);
    }
    template <int Digits, int Rows, int Streams, class Fetch>
    static MEMWALL_INLINE void block(const uint8_t* p, size_t apart, Cursor& c, const Fetch& ahead,
                                     Sums<Digits, Rows> (&s)[Streams]) {
        constexpr int kM = Rows * Digits;
        const Ints four_bits = splat(15), two_bits = splat(0x30);
        Floats d[Streams], dmin[Streams];
        MEMWALL_UNROLL
        for (int n = 0; n < Streams; ++n) {
            const uint8_t* head = p + static_cast<size_t>(n) * apart;
            const auto targets = ahead.to(head);
            for (int l = 0; l < 4; ++l) targets.fetch(l);
            d[n] = load_halves(head);
            dmin[n] = load_halves(head + 32);
        }
        const uint8_t* codes = p + 4 * kLineBytes;
        for (int pair = 0; pair < 4; ++pair) {
            MEMWALL_UNROLL
            for (int odd = 0; odd < 2; ++odd, codes += 4 * kLineBytes) {
                Ints acc[Streams][kM];
                MEMWALL_UNROLL
                for (auto& one : acc) MEMWALL_UNROLL
                for (auto& x : one) x = splat(0);
                dot_panels<4, 4, Digits>(codes, apart, c, ahead, acc);
                MEMWALL_UNROLL
                for (int n = 0; n < Streams; ++n) {
                    // High bits, two groups a byte: scale, min, scale, min, two bits each from the lowest.
                    const uint8_t* steps = p + static_cast<size_t>(n) * apart + kLineBytes;
                    const Ints high = load_bytes(steps + 128 + pair * 16);
                    const Ints low = load_bytes(steps + (2 * pair + odd) * 16);
                    const Ints scale_high = odd == 0 ? shift_left<4>(high) : high;
                    const Ints min_high = odd == 0 ? shift_left<2>(high) : shift_right<2>(high);
                    const Ints scale = bit_or(bit_and(low, four_bits), bit_and(scale_high, two_bits));
                    const Ints min = bit_or(shift_right<4>(low), bit_and(min_high, two_bits));
                    add_scaled<Digits>(c, acc[n], mul(d[n], to_floats(scale)), s[n].y);
                    const Floats down = mul(dmin[n], to_floats(min));
                    MEMWALL_UNROLL
                    for (int r = 0; r < Rows; ++r) s[n].y[r] = fma(down, splat(c.sums[r]), s[n].y[r]);
                }
                next_group<Digits>(c);
            }
        }
    }
    template <int Digits, int Rows>
    static MEMWALL_INLINE void end(const MatmulJob&, int64_t, const Cursor&, Sums<Digits, Rows>&) {}
};

/// w8: one integer sum over all of k, which stays below 2^31 (kHighestRowK). Digits meet as floats.
struct PerRow8 {
    static constexpr int kBlockBytes = 4 * kLineBytes;
    template <int Digits, int Rows>
    struct Sums {
        Floats y[Rows];
        Ints acc[Rows * Digits];
    };
    template <int Digits, int Rows>
    static MEMWALL_INLINE void start(const Cursor& c, Sums<Digits, Rows>& s) {
        if constexpr (kBias8 != 0)
            start_at_offsets<Digits>(c, s.acc);
        else
            MEMWALL_UNROLL
        for (auto& x : s.acc) x = splat(0);
    }
    template <int Digits, int Rows, int Streams, class Fetch>
    static MEMWALL_INLINE void block(const uint8_t* p, size_t apart, Cursor& c, const Fetch& ahead,
                                     Sums<Digits, Rows> (&s)[Streams]) {
        dot_streams<8, 4, 4, 0, Streams>([&](int n) { return p + static_cast<size_t>(n) * apart; }, c.codes,
                                         c.rows * Digits * 4, [&](int) -> const Fetch& { return ahead; },
                                         [&](int n) -> Ints(&)[Rows * Digits] { return s[n].acc; });
    }
    template <int Digits, int Rows>
    static MEMWALL_INLINE void end(const MatmulJob& job, int64_t panel, const Cursor& c,
                                   Sums<Digits, Rows>& s) {
        const Floats row_scale = load(job.row_scales + panel * kPanelRows);
        MEMWALL_UNROLL
        for (int r = 0; r < Rows; ++r) {
            Floats whole = to_floats(s.acc[r * Digits + Digits - 1]);
            if constexpr (Digits == 2) whole = fma(to_floats(s.acc[2 * r]), splat(float{kDigitBase}), whole);
            s.y[r] = fma(whole, mul(row_scale, splat(c.scales[r])), splat(0.0f));
        }
    }
};

/// f16: even and odd k in chains of their own, added at the end.
struct Half {
    static constexpr int kBlockBytes = 2 * kLineBytes;
    template <int, int Rows>
    struct Sums {
        Floats y[Rows], odd[Rows];
    };
    template <int Digits, int Rows>
    static MEMWALL_INLINE void start(const Cursor&, Sums<Digits, Rows>& s) {
        MEMWALL_UNROLL
        for (int r = 0; r < Rows; ++r) s.y[r] = s.odd[r] = splat(0.0f);
    }
    template <int Digits, int Rows, int Streams, class Fetch>
    static MEMWALL_INLINE void block(const uint8_t* p, size_t apart, Cursor& c, const Fetch& ahead,
                                     Sums<Digits, Rows> (&s)[Streams]) {
        MEMWALL_UNROLL
        for (int l = 0; l < 2; ++l) {
            MEMWALL_UNROLL
            for (int n = 0; n < Streams; ++n) {
                const uint8_t* line = p + static_cast<size_t>(n) * apart + l * kLineBytes;
                ahead.to(line).fetch(0);
                const Floats even_k = load_halves(line), odd_k = load_halves(line + 32);
                MEMWALL_UNROLL
                for (int r = 0; r < Rows; ++r) s[n].y[r] = fma(even_k, splat(c.values[r]), s[n].y[r]);
                MEMWALL_UNROLL
                for (int r = 0; r < Rows; ++r)
                    s[n].odd[r] = fma(odd_k, splat(c.values[c.rows + r]), s[n].odd[r]);
            }
            c.values += 2 * c.rows;
        }
    }
    template <int Digits, int Rows>
    static MEMWALL_INLINE void end(const MatmulJob&, int64_t, const Cursor&, Sums<Digits, Rows>& s) {
        MEMWALL_UNROLL
        for (int r = 0; r < Rows; ++r) s.y[r] = add(s.y[r], s.odd[r]);
    }
};

/// Panels `first`, `first + step` ... side by side times `Rows` vectors; results go to `to`, which points at
/// row 0 of the matrix.
template <class Format, int Digits, int Rows, int Streams, class Fetch>
__attribute__((noinline)) void panels_times(const MatmulJob& job, int64_t first, int64_t step,
                                            const Cursor& at, const Fetch& ahead, float* to) {
    typename Format::template Sums<Digits, Rows> sums[Streams];
    const uint8_t* p = job.panels + static_cast<size_t>(first) * job.panel_bytes;
    const size_t apart = static_cast<size_t>(step) * job.panel_bytes;
    MEMWALL_UNROLL
    for (auto& s : sums) Format::template start<Digits, Rows>(at, s);
    Cursor c = at;
    for (int64_t b = 0; b < job.blocks; ++b, p += Format::kBlockBytes)
        Format::template block<Digits, Rows>(p, apart, c, ahead, sums);
    MEMWALL_UNROLL
    for (int s = 0; s < Streams; ++s) {
        const int64_t panel = first + s * step, left = job.rows - panel * kPanelRows;
        Format::template end<Digits, Rows>(job, panel, at, sums[s]);
        float* const out = to + panel * kPanelRows;
        MEMWALL_UNROLL
        for (int r = 0; r < Rows; ++r) {
            if (left >= kPanelRows) {
                store(out + r * job.y_stride, sums[s].y[r]);
            } else {  // the matrix ends within this panel
                float some[kPanelRows];
                store(some, sums[s].y[r]);
                for (int64_t i = 0; i < left; ++i) out[r * job.y_stride + i] = some[i];
            }
        }
    }
}

/// Turns a row count known at run time into a template argument.
template <class Format, int Digits, int Rows>
MEMWALL_INLINE void panel_times_rows(int64_t rows, const MatmulJob& job, int64_t panel, const Cursor& c,
                                     const Ahead& ahead, float* to) {
    if (rows >= Rows)
        panels_times<Format, Digits, Rows, 1>(job, panel, 1, c, ahead, to);
    else if constexpr (Rows > 1)
        panel_times_rows<Format, Digits, Rows - 1>(rows, job, panel, c, ahead, to);
}

/// Digits 0: the format takes floats. `GroupsPerBlock` 0: one group a row.
template <class Format, int Digits, int GroupsPerBlock, int AtOnce>
void multiply(const MatmulJob& job) {
    constexpr int kDigits = Digits == 0 ? 1 : Digits;
    constexpr int64_t kTileRows = kTileVectors / kDigits, kRows = AtOnce / kDigits;
    const int64_t groups = GroupsPerBlock == 0 ? 1 : job.blocks * GroupsPerBlock;
    const auto cursor = [&](int64_t first, int64_t r, int64_t rows) {
        return Cursor{job.codes + first * kDigits * job.padded_k + r * kDigits * 4,
                      job.scales + first * groups + r,
                      job.offsets + (first * groups + r) * kDigits,
                      job.sums + first * groups + r,
                      job.values + first * job.padded_k + r,
                      static_cast<ptrdiff_t>(rows)};
    };
    int64_t panel = job.first_panel;
    if (job.m == 1 && job.prefetch.streams == kStreams) {
        // One vector: each quarter of the range is a stream of its own. Where a stream ends its prefetch runs
        // on into the next quarter, once a matrix.
        const int64_t quarter = (job.last_panel - panel) / kStreams;
        const Straight ahead{job.prefetch.near};
        for (const int64_t end = panel + quarter; panel < end; ++panel)
            panels_times<Format, kDigits, 1, kStreams>(job, panel, quarter, cursor(0, 0, 1), ahead, job.y);
        panel += quarter * (kStreams - 1);
    }
    Ahead ahead;
    ahead.near = job.prefetch.near;
    ahead.far = job.prefetch.far;
    ahead.end = ahead.far_end =
        reinterpret_cast<uintptr_t>(job.panels + static_cast<size_t>(job.last_panel) * job.panel_bytes);
    if (job.next != nullptr)
        ahead.jump = ahead.far_jump =
            static_cast<ptrdiff_t>(reinterpret_cast<uintptr_t>(job.next) - ahead.end);
    for (; panel < job.last_panel; ++panel) {
        for (int64_t first = 0; first < job.m; first += kTileRows) {
            const int64_t rows = job.m - first < kTileRows ? job.m - first : kTileRows;
            for (int64_t r = 0; r < rows; r += kRows)
                panel_times_rows<Format, kDigits, static_cast<int>(kRows)>(
                    rows - r, job, panel, cursor(first, r, rows), ahead, job.y + (first + r) * job.y_stride);
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
