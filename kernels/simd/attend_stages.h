// What attention does with the pages of a block: scores of keys, probabilities as digits, sums of values; for
// pages of bytes and nibbles, and for pages of halves.
#pragma once

#include "kernels/simd/page_ahead.h"

namespace memwall::kernels {
namespace {

constexpr int kPagePanels = kPageTokens / kPanelRows;  // of keys
constexpr int kBlockPages = kStreams;
constexpr int kMostRows = kBlockPages * kHighestHeads;  // pages x heads of a block
constexpr float kRounder = 0x1.8p23f;                   // x + this - this rounds to an integer, ties to even

MEMWALL_INLINE Floats round_even(Floats x) {
    return sub(add(x, splat(kRounder)), splat(kRounder));
}
/// |x| < 2^22.
MEMWALL_INLINE Ints to_nearest_ints(Floats x) {
    return sub(bits_as_ints(add(x, splat(kRounder))), bits_as_ints(splat(kRounder)));
}

/// exp for x <= 0, smaller ones as -87: 2^n times a polynomial on [-ln2/2, ln2/2], its Taylor series to
/// degree 7 (remainder 6e-9); ln 2 in two parts, the first with 9 trailing zeros so that n times it is exact.
MEMWALL_INLINE Floats exp_nonpositive(Floats x) {
    x = max(x, splat(-87.0f));
    const Floats n_as_float = mul(x, splat(0x1.715476p0f));
    const Ints n = to_nearest_ints(n_as_float);
    const Floats whole = round_even(n_as_float);
    Floats r = fma(whole, splat(-0x1.62e4p-1f), x);
    r = fma(whole, splat(-0x1.7f7d1cp-20f), r);
    Floats y = splat(1.0f / 5040);
    y = fma(y, r, splat(1.0f / 720));
    y = fma(y, r, splat(1.0f / 120));
    y = fma(y, r, splat(1.0f / 24));
    y = fma(y, r, splat(1.0f / 6));
    y = fma(y, r, splat(0.5f));
    y = fma(y, r, splat(1.0f));
    y = fma(y, r, splat(1.0f));
    return bits_as_floats(add(bits_as_ints(y), shift_left<23>(n)));
}

/// Everything between the stages of a block. A row is a page's share of one head, row n = page x heads +
/// head.
struct AttendScratch {
    alignas(64) float q[kHighestHeads][kHighestHeadDim];  // f16: scaled queries
    alignas(64) int8_t q_codes[2 * kHighestHeads][kHighestHeadDim];
    alignas(64) float scores[kHighestHeads][kBlockPages][kPageTokens];  // then probabilities
    alignas(64) int8_t p_codes[2 * kHighestHeads][kBlockPages][kPageTokens];
    // Of a row: exp(old maximum - new one), by which what was summed so far shrinks, and exp(page's maximum -
    // new one), the page's share.
    alignas(64) float decay[kMostRows], gain[kMostRows];
    float p_scales[kMostRows];
    alignas(64) float sums[kMostRows][16];   // of probabilities, lane by lane
    alignas(64) float l[kHighestHeads][16];  // lanes of job.l
    int32_t q_offsets[2 * kHighestHeads], p_offsets[kBlockPages][2 * kHighestHeads];
    float q_scales[kHighestHeads];
};

/// 16 values within +-kLimit of the digits, high digit first in rows of `row` bytes; their sums add up.
template <int Digits>
MEMWALL_INLINE void store_digits(Floats v, int8_t* codes, int row, Ints (&sums)[Digits]) {
    if constexpr (Digits == 2) {
        v = round_even(v);
        const Floats h = round_even(mul(v, splat(1.0f / kDigitBase)));
        const Ints high = to_nearest_ints(h), low = to_nearest_ints(fma(h, splat(-float{kDigitBase}), v));
        store_bytes(codes, high);
        store_bytes(codes + row, low);
        sums[0] = add(sums[0], high);
        sums[1] = add(sums[1], low);
    } else {
        const Ints low = to_nearest_ints(v);
        store_bytes(codes, low);
        sums[0] = add(sums[0], low);
    }
}
template <int Digits>
inline constexpr float kDigitLimit = Digits == 2 ? 127.0f * kDigitBase : 127.0f;
/// What values up to `magnitude` are multiplied with to become digits.
template <int Digits>
MEMWALL_INLINE float digits_per_unit(float magnitude) {
    return magnitude > 1e-30f ? kDigitLimit<Digits> / magnitude : 0.0f;
}
/// -bias x the sums of at most 256 bytes, exact as floats.
template <int Digits>
MEMWALL_INLINE void store_offsets(const Ints (&sums)[Digits], int bias, int32_t* offsets) {
    for (int i = 0; i < Digits; ++i) offsets[i] = -bias * static_cast<int32_t>(sum(to_floats(sums[i])));
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

/// int8 and int4 pages.
template <int Bits>
struct IntegerPage {
    static constexpr int kBias = Bits == 8 ? kBias8 : 8;
    static constexpr bool kWholeValues = false;  // what does not count has a probability of 0
    static constexpr int kMost = kAttendVectors, kDotsALine = Bits == 8 ? 1 : 2;

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
                store_digits<Digits>(mul(load(q + i), unit), s.q_codes[h * Digits] + i, kHighestHeadDim,
                                     sums);
            store_offsets<Digits>(sums, kBias, s.q_offsets + h * Digits);
            s.q_scales[h] = job.scale * (magnitude / kDigitLimit<Digits>);
        }
    }

    /// Scores of `Heads` heads from `first` on, of `Pages` pages, the block's from `page` on.
    template <int Digits, int Heads, int Pages>
    static __attribute__((noinline)) void scores(const AttendJob& job, const PageRef* pages, int page,
                                                 const HalvesAhead<Pages>& ahead, RunAhead& runs, int first,
                                                 AttendScratch& s) {
        RunAhead run = runs;
        constexpr int kM = Heads * Digits, kLines = Bits / 2;  // 4 lines of bytes or 2 of nibbles: 16 dims
        ptrdiff_t at = static_cast<ptrdiff_t>(job.page_scales);
        for (int p = 0; p < kPagePanels; ++p) {
            Ints acc[Pages][kM];
            MEMWALL_UNROLL
            for (auto& one : acc) MEMWALL_UNROLL
            for (int v = 0; v < kM; ++v) one[v] = splat(s.q_offsets[first * Digits + v]);
            const int8_t* a = s.q_codes[first * Digits];
            for (int d = 0; d < job.key_dim; d += 16, at += kLines * kLineBytes) {
                const auto targets = ahead.at(at);
                run.fetch<kLines * Pages>();
                dot_streams<Bits, kLines, kHighestHeadDim, 0, Pages>(
                    [&](int g) { return pages[g].data + at; }, a, 4, [&](int g) { return targets[g]; },
                    [&](int g) -> Ints(&)[kM] { return acc[g]; });
            }
            MEMWALL_UNROLL
            for (int g = 0; g < Pages; ++g) {
                const Floats token_scale = load_halves(pages[g].data + p * 32);
                MEMWALL_UNROLL
                for (int h = 0; h < Heads; ++h)
                    store(s.scores[first + h][page + g] + p * 16,
                          mul(to_floats(combine<Digits>(acc[g], h)),
                              mul(token_scale, splat(s.q_scales[first + h]))));
            }
        }
        runs = run;
    }

    /// Probabilities become digits, the value scales of the tokens folded in. A probability is at most 1, so
    /// a page's largest scale bounds the products of every head.
    template <int Digits>
    static MEMWALL_INLINE void weigh(const AttendJob& job, const PageRef* pages, int count,
                                     AttendScratch& s) {
        int n = 0;
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
            for (int h = 0; h < job.heads; ++h, ++n) {
                Ints sums[Digits];
                for (auto& x : sums) x = splat(0);
                MEMWALL_UNROLL
                for (int i = 0; i < kPageTokens; i += 16) {
                    store_digits<Digits>(mul(load(s.scores[h][g] + i), load(unit + i)),
                                         s.p_codes[h * Digits][g] + i, kBlockPages * kPageTokens, sums);
                }
                store_offsets<Digits>(sums, kBias, s.p_offsets[g] + h * Digits);
                s.p_scales[n] = s.gain[n] * (magnitude / kDigitLimit<Digits>);
            }
        }
    }

    template <int Digits, int Heads, int Pages>
    static __attribute__((noinline)) void values(const AttendJob& job, const PageRef* pages, int page,
                                                 const HalvesAhead<Pages>& ahead, RunAhead& runs, int first,
                                                 AttendScratch& s) {
        RunAhead run = runs;
        constexpr int kM = Heads * Digits, kLines = Bits / 2;
        ptrdiff_t at = static_cast<ptrdiff_t>(job.page_scales + job.page_keys);
        for (int d = 0; d < job.value_dim; d += 16) {
            Ints acc[Pages][kM];
            MEMWALL_UNROLL
            for (int g = 0; g < Pages; ++g) MEMWALL_UNROLL
            for (int v = 0; v < kM; ++v) acc[g][v] = splat(s.p_offsets[page + g][first * Digits + v]);
            const int8_t* a = s.p_codes[first * Digits][page];
            for (int t = 0; t < kPageTokens; t += 16, at += kLines * kLineBytes) {
                const auto targets = ahead.at(at);
                run.fetch<kLines * Pages>();
                dot_streams<Bits, kLines, static_cast<int>(sizeof s.p_codes[0]), kPageTokens, Pages>(
                    [&](int g) { return pages[g].data + at; }, a, 4, [&](int g) { return targets[g]; },
                    [&](int g) -> Ints(&)[kM] { return acc[g]; });
            }
            MEMWALL_UNROLL
            for (int h = 0; h < Heads; ++h) {
                float* o = job.o + (first + h) * job.value_dim + d;
                Floats sum = load(o);
                MEMWALL_UNROLL
                for (int g = 0; g < Pages; ++g) {
                    const int n = (page + g) * job.heads + first + h;
                    sum = fma(to_floats(combine<Digits>(acc[g], h)), splat(s.p_scales[n]),
                              mul(sum, splat(s.decay[n])));
                }
                store(o, sum);
            }
        }
        runs = run;
    }
};

/// f16 pages: floats throughout, even and odd k in chains of their own.
struct HalfPage {
    static constexpr bool kWholeValues = true;  // stale halves may be infinite
    static constexpr int kMost = kAttendVectors / 2, kDotsALine = 2;

    template <int Digits>
    static void prepare(const AttendJob& job, AttendScratch& s) {
        for (int h = 0; h < job.heads; ++h)
            for (int d = 0; d < job.key_dim; d += 16)
                store(s.q[h] + d, mul(load(job.q + h * job.q_stride + d), splat(job.scale)));
    }

    template <int Digits, int Heads, int Pages>
    static __attribute__((noinline)) void scores(const AttendJob& job, const PageRef* pages, int page,
                                                 const HalvesAhead<Pages>& ahead, RunAhead& runs, int first,
                                                 AttendScratch& s) {
        RunAhead run = runs;
        ptrdiff_t at = 0;
        for (int p = 0; p < kPagePanels; ++p) {
            Floats even[Pages][Heads], odd[Pages][Heads];
            MEMWALL_UNROLL
            for (int g = 0; g < Pages; ++g) MEMWALL_UNROLL
            for (int h = 0; h < Heads; ++h) even[g][h] = odd[g][h] = splat(0.0f);
            const float* q = s.q[first];
            for (int d = 0; d < job.key_dim; d += 4, q += 4) {
                const auto targets = ahead.at(at);
                run.fetch<2 * Pages>();
                MEMWALL_UNROLL
                for (int l = 0; l < 2; ++l, at += kLineBytes) {
                    MEMWALL_UNROLL
                    for (int g = 0; g < Pages; ++g) {
                        const uint8_t* line = pages[g].data + at;
                        targets[g].to(line).fetch(l);
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
                store(s.scores[first + h][page + g] + p * 16, add(even[g][h], odd[g][h]));
        }
        runs = run;
    }

    template <int Digits>
    static MEMWALL_INLINE void weigh(const AttendJob&, const PageRef*, int, AttendScratch&) {}

    /// Several pages are whole; of one, tokens that do not count are not read.
    template <int Digits, int Heads, int Pages>
    static __attribute__((noinline)) void values(const AttendJob& job, const PageRef* pages, int page,
                                                 const HalvesAhead<Pages>& ahead, RunAhead& runs, int first,
                                                 AttendScratch& s) {
        RunAhead run = runs;
        ptrdiff_t at = static_cast<ptrdiff_t>(job.page_keys);
        const int begin = Pages == 1 ? pages->begin : 0, end = Pages == 1 ? pages->end : kPageTokens;
        for (int d = 0; d < job.value_dim; d += 16, at += kPageTokens * 32) {
            Floats even[Pages][Heads], odd[Pages][Heads];
            MEMWALL_UNROLL
            for (int g = 0; g < Pages; ++g) MEMWALL_UNROLL
            for (int h = 0; h < Heads; ++h) even[g][h] = odd[g][h] = splat(0.0f);
            const auto take = [&](int t, Floats(&acc)[Pages][Heads]) __attribute__((always_inline)) {
                MEMWALL_UNROLL
                for (int g = 0; g < Pages; ++g) {
                    const Floats v = load_halves(pages[g].data + at + t * 32);
                    MEMWALL_UNROLL
                    for (int h = 0; h < Heads; ++h)
                        acc[g][h] = fma(v, splat(s.scores[first + h][page + g][t]), acc[g][h]);
                }
            };
            int t = begin;
            if (t % 2 == 1) take(t++, odd);
            for (; t + 1 < end; t += 2) {
                const auto targets = ahead.at(at + t * 32);
                run.fetch<Pages>();
                MEMWALL_UNROLL
                for (int g = 0; g < Pages; ++g) targets[g].to(nullptr).fetch(0);
                take(t, even);
                take(t + 1, odd);
            }
            if (t < end) take(t, even);
            MEMWALL_UNROLL
            for (int h = 0; h < Heads; ++h) {
                float* o = job.o + (first + h) * job.value_dim + d;
                Floats sum = load(o);
                MEMWALL_UNROLL
                for (int g = 0; g < Pages; ++g) {
                    const int n = (page + g) * job.heads + first + h;
                    sum = fma(add(even[g][h], odd[g][h]), splat(s.gain[n]), mul(sum, splat(s.decay[n])));
                }
                store(o, sum);
            }
        }
        runs = run;
    }
};

}  // namespace
}  // namespace memwall::kernels
