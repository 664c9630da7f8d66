// What attention does with the pages of a block: scores of keys, probabilities as digits, sums of values; for
// pages of bytes and nibbles, and for pages of halves.
#pragma once

#include "kernels/simd/page_ahead.h"

namespace memwall::kernels {
namespace {

constexpr int kPagePanels = kPageTokens / kPanelRows;  // of keys
constexpr int kBlockPages = kStreams;
/// x + this - this rounds to an integer, ties to even, for |x| < 2^22; it then stands in the low bits of x +
/// this.
constexpr float kRounder = 0x1.8p23f;

/// exp for x <= 0, smaller ones as -87: 2^n times a polynomial on [-ln2/2, ln2/2] that is 1 at 0 and
/// elsewhere within 9.2e-8 of exp before rounding (least maximum of the relative error, by Lawson's
/// reweighting); ln 2 in two parts, the first with 9 trailing zeros so that n times it is exact.
MEMWALL_INLINE Floats exp_nonpositive(Floats x) {
    x = max(x, splat(-87.0f));
    const Floats shifted = fma(x, splat(0x1.715476p0f), splat(kRounder));  // its lowest bits are n
    const Floats n = sub(shifted, splat(kRounder));
    Floats r = fma(n, splat(-0x1.62e4p-1f), x);
    r = fma(n, splat(-0x1.7f7d1cp-20f), r);
    Floats y = splat(0x1.0fa7fp-7f);
    y = fma(y, r, splat(0x1.573aaep-5f));
    y = fma(y, r, splat(0x1.555a6cp-3f));
    y = fma(y, r, splat(0x1.fffdc4p-2f));
    y = fma(y, r, splat(0x1.fffff6p-1f));
    y = fma(y, r, splat(1.0f));
    return bits_as_floats(add(bits_as_ints(y), shift_left<23>(bits_as_ints(shifted))));
}

/// Everything between the stages of a block. A row is a page's share of one head.
struct AttendScratch {
    alignas(64) float q[kHighestHeads][kHighestHeadDim];  // f16: scaled queries
    alignas(64) int8_t q_codes[2 * kHighestHeads][kHighestHeadDim];
    alignas(64) float scores[kHighestHeads][kBlockPages][kPageTokens];  // then probabilities
    alignas(64) int8_t p_codes[2 * kHighestHeads][kBlockPages][kPageTokens];
    // Of a row: its highest score; exp(that - the maximum so far), its share; what its digits count.
    alignas(64) float most[kBlockPages][kHighestHeads], gain[kBlockPages][kHighestHeads],
        p_scales[kBlockPages][kHighestHeads];
    // By which what was summed before a page shrinks: exp(maximum before the block - maximum now) at its
    // first page, then 1.
    alignas(64) float decay[kBlockPages][kHighestHeads];
    alignas(64) float sums[kBlockPages][kHighestHeads][16];    // of probabilities, lane by lane
    alignas(64) float m[kHighestHeads], l[kHighestHeads][16];  // job.m, lanes of job.l
    int32_t q_offsets[2 * kHighestHeads], p_offsets[kBlockPages][2 * kHighestHeads];
    float q_scales[kHighestHeads];
};

/// The digit in the low bits of `shifted`, to memory and to the sum.
MEMWALL_INLINE void store_digit(Floats shifted, int8_t* to, Ints& sum) {
    const Ints bits = bits_as_ints(shifted);
    store_bytes(to, bits);
    sum = add(sum, bits);
}
/// 16 values a x b within the limits of the digits, high digit first in rows of `row` bytes; `sums` is for
/// store_offsets().
template <int Digits>
MEMWALL_INLINE void store_digits(Floats a, Floats b, int8_t* codes, int row, Ints (&sums)[Digits]) {
    const Floats rounder = splat(kRounder), shifted = fma(a, b, rounder);
    if constexpr (Digits == 2) {
        const Floats v = sub(shifted, rounder), high = fma(v, splat(1.0f / kDigitBase), rounder);
        store_digit(high, codes, sums[0]);
        store_digit(add(fma(sub(high, rounder), splat(-float{kDigitBase}), v), rounder), codes + row,
                    sums[1]);
    } else {
        store_digit(shifted, codes, sums[0]);
    }
}
template <int Digits>
inline constexpr float kDigitLimit = Digits == 2 ? 127.0f * kDigitBase : 127.0f;
/// 254 high + low, or the one digit there is. Sums of at most kHighestHeadDim products of bytes are exact as
/// floats, so this rounds once.
template <int Digits, int M>
MEMWALL_INLINE Floats digits_as_floats(const Ints (&acc)[M], int row) {
    static_assert(kHighestHeadDim * 255 * 127 < 1 << 24);
    if constexpr (Digits == 1)
        return to_floats(acc[row]);
    else
        return fma(to_floats(acc[2 * row]), splat(float{kDigitBase}), to_floats(acc[2 * row + 1]));
}
/// What values up to `magnitude` are multiplied with to become digits.
template <int Digits>
MEMWALL_INLINE float digits_per_unit(float magnitude) {
    return magnitude > 1e-30f ? kDigitLimit<Digits> / magnitude : 0.0f;
}
/// -bias x the sums of the digits of `count` calls of store_digits, exact as floats.
template <int Digits>
MEMWALL_INLINE void store_offsets(const Ints (&sums)[Digits], int count, int bias, int32_t* offsets) {
    const Ints shift = mul(splat(count), bits_as_ints(splat(kRounder)));
    for (int i = 0; i < Digits; ++i)
        offsets[i] = -bias * static_cast<int32_t>(sum(to_floats(sub(sums[i], shift))));
}
MEMWALL_INLINE Floats absolute(Floats v) {
    return max(v, sub(splat(0.0f), v));
}

/// Values of tokens that do not count become `with`.
MEMWALL_INLINE void mask(const PageRef& page, float* values, float with) {
    if (page.begin == 0 && page.end == kPageTokens) return;
    for (int t = 0; t < kPageTokens; ++t)
        if (t < page.begin || t >= page.end) values[t] = with;
}

/// Pages of a block that go through a stage side by side.
template <int Pages>
struct Together {
    const AttendJob& job;
    const PageRef* pages;
    int place;  // of the first one in the block
    HalvesAhead<Pages> ahead;
    RunAhead& run;
    AttendScratch& s;
};

/// int8 and int4 pages.
template <int Bits>
struct IntegerPage {
    static constexpr int kBias = Bits == 8 ? kBias8 : 8;
    static constexpr bool kWholeValues = false;  // what does not count has a probability of 0
    static constexpr int kMost = kAttendVectors, kDotsALine = Bits == 8 ? 1 : 2;
    static constexpr int kTurnsOfFour = Bits == 8 ? 2 : 1;  // nibbles cost too much to unpack twice

    template <int Digits>
    static void prepare(const AttendJob& job, AttendScratch& s) {
        for (int h = 0; h < job.heads; ++h) {
            const float* q = job.q + h * job.q_stride;
            Floats most = splat(0.0f);
            for (int i = 0; i < job.key_dim; i += 16) most = max(most, absolute(load(q + i)));
            const float magnitude = maximum(most);
            const Floats unit = splat(digits_per_unit<Digits>(magnitude));
            Ints sums[Digits];
            for (auto& x : sums) x = splat(0);
            for (int i = 0; i < job.key_dim; i += 16)
                store_digits<Digits>(load(q + i), unit, s.q_codes[h * Digits] + i, kHighestHeadDim, sums);
            store_offsets<Digits>(sums, job.key_dim / 16, kBias, s.q_offsets + h * Digits);
            s.q_scales[h] = job.scale * (magnitude / kDigitLimit<Digits>);
        }
    }

    /// Scores of the tokens of panels [panel, last) for `Heads` heads from `first` on.
    template <int Digits, int Heads, int Pages, bool Run>
    static __attribute__((noinline)) void scores(const Together<Pages>& t, int panel, int last, int first) {
        constexpr int kM = Heads * Digits, kLines = Bits / 2;  // 4 lines of bytes or 2 of nibbles: 16 dims
        AttendScratch& s = t.s;
        RunAhead run = t.run;
        for (; panel < last; ++panel) {
            const int32_t* offsets = s.q_offsets + first * Digits;
            const uint8_t* data[Pages];
            Ints acc[Pages][kM];
            MEMWALL_UNROLL
            for (int g = 0; g < Pages; ++g) {
                data[g] = t.pages[g].data;
                MEMWALL_UNROLL
                for (int v = 0; v < kM; ++v) acc[g][v] = splat(offsets[v]);
            }
            const int8_t* a = s.q_codes[first * Digits];
            ptrdiff_t at = static_cast<ptrdiff_t>(t.job.page_scales) +
                           static_cast<ptrdiff_t>(panel) * (t.job.key_dim / 16) * kLines * kLineBytes;
            ptrdiff_t then = t.ahead.first(at, t.job.key_dim / 16 * kLines);
            for (int d = 0; d < t.job.key_dim;
                 d += 16, at += kLines * kLineBytes, then += kLines * t.ahead.step) {
                const auto targets = t.ahead.at(then);
                if constexpr (Run) run.fetch<kLines * Pages>();
                dot_streams<Bits, kLines, kHighestHeadDim, 0, Pages>(
                    [&](int g) { return data[g] + at; }, a, 4, [&](int g) { return targets[g]; },
                    [&](int g) -> Ints(&)[kM] { return acc[g]; });
            }
            float* const to = s.scores[first][t.place] + panel * 16;
            const float* const scales = s.q_scales + first;
            MEMWALL_UNROLL
            for (int g = 0; g < Pages; ++g) {
                const Floats token_scale = load_halves(data[g] + panel * 32);
                MEMWALL_UNROLL
                for (int h = 0; h < Heads; ++h)
                    store(to + (h * kBlockPages + g) * kPageTokens,
                          mul(digits_as_floats<Digits>(acc[g], h), mul(token_scale, splat(scales[h]))));
            }
        }
        if constexpr (Run) t.run = run;
    }

    /// Probabilities become digits, the value scales of the tokens folded in. A probability is at most 1, so
    /// a page's largest scale bounds the products of every head.
    template <int Digits>
    static MEMWALL_INLINE void weigh(const AttendJob& job, const PageRef* pages, int count,
                                     AttendScratch& s) {
        for (int g = 0; g < count; ++g) {
            alignas(64) float unit[kPageTokens];
            Floats most = splat(0.0f);
            for (int i = 0; i < kPageTokens; i += 16)
                store(unit + i, load_halves(pages[g].data + kPageTokens * 2 + i * 2));
            mask(pages[g], unit, 0);  // scales of tokens that do not count may be anything
            for (int i = 0; i < kPageTokens; i += 16) most = max(most, absolute(load(unit + i)));
            const float magnitude = maximum(most);
            const Floats per_unit = splat(digits_per_unit<Digits>(magnitude));
            for (int i = 0; i < kPageTokens; i += 16) store(unit + i, mul(load(unit + i), per_unit));
            for (int h = 0; h < job.heads; ++h) {
                Ints sums[Digits];
                for (auto& x : sums) x = splat(0);
                MEMWALL_UNROLL
                for (int i = 0; i < kPageTokens; i += 16) {
                    store_digits<Digits>(load(s.scores[h][g] + i), load(unit + i),
                                         s.p_codes[h * Digits][g] + i, kBlockPages * kPageTokens, sums);
                }
                store_offsets<Digits>(sums, kPageTokens / 16, kBias, s.p_offsets[g] + h * Digits);
            }
            store(s.p_scales[g], mul(load(s.gain[g]), splat(magnitude / kDigitLimit<Digits>)));
        }
    }

    /// Sums of the values of panels [panel, last) for `Heads` heads from `first` on.
    template <int Digits, int Heads, int Pages, bool Run>
    static __attribute__((noinline)) void values(const Together<Pages>& t, int panel, int last, int first) {
        constexpr int kM = Heads * Digits, kLines = Bits / 2, kSteps = kPageTokens / 16;
        AttendScratch& s = t.s;
        RunAhead run = t.run;
        for (; panel < last; ++panel) {
            const int32_t* offsets = s.p_offsets[t.place] + first * Digits;
            const uint8_t* data[Pages];
            Ints acc[Pages][kM];
            MEMWALL_UNROLL
            for (int g = 0; g < Pages; ++g) {
                data[g] = t.pages[g].data;
                MEMWALL_UNROLL
                for (int v = 0; v < kM; ++v) acc[g][v] = splat(offsets[g * 2 * kHighestHeads + v]);
            }
            const int8_t* a = s.p_codes[first * Digits][t.place];
            ptrdiff_t at = static_cast<ptrdiff_t>(t.job.page_scales + t.job.page_keys) +
                           panel * (kSteps * kLines * kLineBytes);
            ptrdiff_t then = t.ahead.first(at, kSteps * kLines);
            for (int step = 0; step < kSteps;
                 ++step, at += kLines * kLineBytes, then += kLines * t.ahead.step) {
                const auto targets = t.ahead.at(then);
                if constexpr (Run) run.fetch<kLines * Pages>();
                dot_streams<Bits, kLines, static_cast<int>(sizeof s.p_codes[0]), kPageTokens, Pages>(
                    [&](int g) { return data[g] + at; }, a, 4, [&](int g) { return targets[g]; },
                    [&](int g) -> Ints(&)[kM] { return acc[g]; });
            }
            const float *const shares = s.p_scales[t.place] + first, *const decays = s.decay[t.place] + first;
            float* o = t.job.o + first * t.job.value_dim + panel * 16;
            MEMWALL_UNROLL
            for (int h = 0; h < Heads; ++h, o += t.job.value_dim) {
                Floats sum = mul(load(o), splat(decays[h]));
                MEMWALL_UNROLL
                for (int g = 0; g < Pages; ++g) {
                    const int n = g * kHighestHeads + h;
                    sum = fma(digits_as_floats<Digits>(acc[g], h), splat(shares[n]), sum);
                }
                store(o, sum);
            }
        }
        if constexpr (Run) t.run = run;
    }
};

/// f16 pages: floats throughout, even and odd k in chains of their own.
struct HalfPage {
    static constexpr bool kWholeValues = true;  // stale halves may be infinite
    static constexpr int kMost = kAttendVectors / 2, kDotsALine = 2;
    static constexpr int kTurnsOfFour = 1;  // halves likewise

    template <int Digits>
    static void prepare(const AttendJob& job, AttendScratch& s) {
        for (int h = 0; h < job.heads; ++h)
            for (int d = 0; d < job.key_dim; d += 16)
                store(s.q[h] + d, mul(load(job.q + h * job.q_stride + d), splat(job.scale)));
    }

    template <int Digits, int Heads, int Pages, bool Run>
    static __attribute__((noinline)) void scores(const Together<Pages>& t, int panel, int last, int first) {
        AttendScratch& s = t.s;
        RunAhead run = t.run;
        for (; panel < last; ++panel) {
            const uint8_t* data[Pages];
            Floats even[Pages][Heads], odd[Pages][Heads];
            MEMWALL_UNROLL
            for (int g = 0; g < Pages; ++g) {
                data[g] = t.pages[g].data;
                MEMWALL_UNROLL
                for (int h = 0; h < Heads; ++h) even[g][h] = odd[g][h] = splat(0.0f);
            }
            const float* q = s.q[first];
            ptrdiff_t at = static_cast<ptrdiff_t>(panel) * t.job.key_dim * 32;
            ptrdiff_t then = t.ahead.first(at, t.job.key_dim / 2);
            for (int d = 0; d < t.job.key_dim; d += 4, q += 4, then += 2 * t.ahead.step) {
                const auto targets = t.ahead.at(then);
                if constexpr (Run) run.fetch<2 * Pages>();
                MEMWALL_UNROLL
                for (int l = 0; l < 2; ++l, at += kLineBytes) {
                    MEMWALL_UNROLL
                    for (int g = 0; g < Pages; ++g) {
                        const uint8_t* line = data[g] + at;
                        targets[g].fetch(l);
                        const Floats a = load_halves(line), b = load_halves(line + 32);
                        MEMWALL_UNROLL
                        for (int h = 0; h < Heads; ++h) {
                            even[g][h] = fma(a, splat(q[h * kHighestHeadDim + 2 * l]), even[g][h]);
                            odd[g][h] = fma(b, splat(q[h * kHighestHeadDim + 2 * l + 1]), odd[g][h]);
                        }
                    }
                }
            }
            MEMWALL_UNROLL
            for (int g = 0; g < Pages; ++g) MEMWALL_UNROLL
            for (int h = 0; h < Heads; ++h)
                store(s.scores[first][t.place] + (h * kBlockPages + g) * kPageTokens + panel * 16,
                      add(even[g][h], odd[g][h]));
        }
        if constexpr (Run) t.run = run;
    }

    template <int Digits>
    static MEMWALL_INLINE void weigh(const AttendJob&, const PageRef*, int, AttendScratch&) {}

    /// Several pages are whole; of one, tokens that do not count are not read.
    template <int Digits, int Heads, int Pages, bool Run>
    static __attribute__((noinline)) void values(const Together<Pages>& t, int panel, int last, int first) {
        AttendScratch& s = t.s;
        RunAhead run = t.run;
        for (; panel < last; ++panel) {
            const ptrdiff_t at =
                static_cast<ptrdiff_t>(t.job.page_keys) + static_cast<ptrdiff_t>(panel) * kPageTokens * 32;
            const int begin = Pages == 1 ? t.pages->begin : 0, end = Pages == 1 ? t.pages->end : kPageTokens;
            const uint8_t* data[Pages];
            Floats even[Pages][Heads], odd[Pages][Heads];
            MEMWALL_UNROLL
            for (int g = 0; g < Pages; ++g) {
                data[g] = t.pages[g].data;
                MEMWALL_UNROLL
                for (int h = 0; h < Heads; ++h) even[g][h] = odd[g][h] = splat(0.0f);
            }
            const float* const p = s.scores[first][t.place];
            const auto take = [&](ptrdiff_t k, Floats(&acc)[Pages][Heads]) __attribute__((always_inline)) {
                MEMWALL_UNROLL
                for (int g = 0; g < Pages; ++g) {
                    const Floats v = load_halves(data[g] + at + k * 32);
                    MEMWALL_UNROLL
                    for (int h = 0; h < Heads; ++h)
                        acc[g][h] = fma(v, splat(p[(h * kBlockPages + g) * kPageTokens + k]), acc[g][h]);
                }
            };
            ptrdiff_t k = begin;
            if (k % 2 == 1) take(k++, odd);
            ptrdiff_t then = t.ahead.first(at, kPageTokens / 2) + k / 2 * t.ahead.step;
            for (; k + 1 < end; k += 2, then += t.ahead.step) {
                const auto targets = t.ahead.at(then);
                if constexpr (Run) run.fetch<Pages>();
                MEMWALL_UNROLL
                for (int g = 0; g < Pages; ++g) targets[g].fetch(0);
                take(k, even);
                take(k + 1, odd);
            }
            if (k < end) take(k, even);
            const float *const shares = s.gain[t.place] + first, *const decays = s.decay[t.place] + first;
            float* o = t.job.o + first * t.job.value_dim + panel * 16;
            MEMWALL_UNROLL
            for (int h = 0; h < Heads; ++h, o += t.job.value_dim) {
                Floats sum = mul(load(o), splat(decays[h]));
                MEMWALL_UNROLL
                for (int g = 0; g < Pages; ++g) {
                    const int n = g * kHighestHeads + h;
                    sum = fma(add(even[g][h], odd[g][h]), splat(shares[n]), sum);
                }
                store(o, sum);
            }
        }
        if constexpr (Run) t.run = run;
    }
};

}  // namespace
}  // namespace memwall::kernels
