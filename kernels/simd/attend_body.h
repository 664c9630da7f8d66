// Decode attention of the heads that share a KV head, page by page with a running maximum. Every stage of a
// page is done for all heads before the next one: a page is read from memory once and its second use finds it
// in the cache.
#pragma once

#include "kernels/simd/body.h"

namespace memwall::kernels {
namespace {

constexpr int kPagePanels = kPageTokens / kPanelRows;  // of keys
constexpr float kRounder = 0x1.8p23f;                  // x + this - this rounds to an integer, ties to even

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

/// Everything between the stages of a page; about 60 KiB on the stack.
struct AttendScratch {
    alignas(64) float q[kHighestHeads][kHighestHeadDim];  // f16: scaled queries
    alignas(64) int8_t q_codes[2 * kHighestHeads][kHighestHeadDim];
    alignas(64) float scores[kHighestHeads][kPageTokens];  // then probabilities
    alignas(64) int8_t p_codes[2 * kHighestHeads][kPageTokens];
    alignas(
        64) float decay[kHighestHeads];  // exp(old maximum - new one): what was summed so far shrinks by it
    alignas(64) float gain[kHighestHeads];  // exp(the page's maximum - new one): the page's share
    int32_t q_offsets[2 * kHighestHeads], p_offsets[2 * kHighestHeads];
    float q_scales[kHighestHeads], p_scales[kHighestHeads];
};

/// `count` values (whole vectors) as digits, high digit first, in rows of `row` bytes; -bias x their sums go
/// to `offsets`. Returns the scale of one unit.
template <int Digits>
MEMWALL_INLINE float make_digits(const float* x, int count, int bias, int8_t* codes, int row,
                                 int32_t* offsets) {
    constexpr float kLimit = Digits == 2 ? 127.0f * kDigitBase : 127.0f;
    Floats most = splat(0.0f);
    for (int i = 0; i < count; i += 16) {
        const Floats v = load(x + i);
        most = max(most, max(v, sub(splat(0.0f), v)));
    }
    const float magnitude = maximum(most);
    const float inverse = magnitude > 1e-30f ? kLimit / magnitude : 0.0f;
    Ints high_sum = splat(0), low_sum = splat(0);
    for (int i = 0; i < count; i += 16) {
        Floats v = mul(load(x + i), splat(inverse));
        if constexpr (Digits == 2) {
            v = round_even(v);
            const Floats h = round_even(mul(v, splat(1.0f / kDigitBase)));
            const Ints high = to_nearest_ints(h), low = to_nearest_ints(fma(h, splat(-float{kDigitBase}), v));
            store_bytes(codes + i, high);
            store_bytes(codes + row + i, low);
            high_sum = add(high_sum, high);
            low_sum = add(low_sum, low);
        } else {
            const Ints low = to_nearest_ints(v);
            store_bytes(codes + i, low);
            low_sum = add(low_sum, low);
        }
    }
    // Sums of at most 256 bytes: exact as floats.
    offsets[Digits - 1] = -bias * static_cast<int32_t>(sum(to_floats(low_sum)));
    if constexpr (Digits == 2) offsets[0] = -bias * static_cast<int32_t>(sum(to_floats(high_sum)));
    return magnitude / kLimit;
}

/// int8 and int4 pages.
template <int Bits>
struct IntegerPage {
    static constexpr int kBias = Bits == 8 ? kBias8 : 8;
    static constexpr int kMost = kAttendVectors;

    template <int Digits>
    static void prepare(const AttendJob& job, AttendScratch& s) {
        for (int h = 0; h < job.heads; ++h)
            s.q_scales[h] = job.scale * make_digits<Digits>(job.q + h * job.q_stride, job.key_dim, kBias,
                                                            s.q_codes[h * Digits], kHighestHeadDim,
                                                            s.q_offsets + h * Digits);
    }

    /// Scores of `Heads` heads from `first` on.
    template <int Digits, int Heads>
    static __attribute__((noinline)) void scores(const AttendJob& job, const PageRef& page,
                                                 const Ahead& ahead, int first, AttendScratch& s) {
        constexpr int kM = Heads * Digits;
        const uint8_t* line = page.data + job.page_scales;
        for (int p = 0; p < kPagePanels; ++p) {
            Ints acc[kM];
            MEMWALL_UNROLL
            for (int v = 0; v < kM; ++v) acc[v] = splat(s.q_offsets[first * Digits + v]);
            const int8_t* a = s.q_codes[first * Digits];
            for (int d = 0; d < job.key_dim; d += 16) {  // 4 lines of bytes or 2 of nibbles
                dot_lines<Bits, Bits / 2, kHighestHeadDim>(line, a, 4, ahead, acc);
                line += Bits / 2 * kLineBytes;
            }
            const Floats token_scale = load_halves(page.data + p * 32);
            MEMWALL_UNROLL
            for (int h = 0; h < Heads; ++h)
                store(s.scores[first + h] + p * 16, mul(to_floats(combine<Digits>(acc, h)),
                                                        mul(token_scale, splat(s.q_scales[first + h]))));
        }
    }

    /// Probabilities of a head become digits, the value scales of the tokens folded in.
    template <int Digits>
    static MEMWALL_INLINE void weigh(const PageRef& page, int head, AttendScratch& s) {
        float* p = s.scores[head];
        const bool whole = page.begin == 0 && page.end == kPageTokens;
        for (int i = 0; i < kPageTokens; i += 16)
            store(p + i, mul(load(p + i), load_halves(page.data + kPageTokens * 2 + i * 2)));
        if (!whole)  // scales of tokens that do not count may be anything
            for (int t = 0; t < kPageTokens; ++t)
                if (t < page.begin || t >= page.end) p[t] = 0;
        s.p_scales[head] = s.gain[head] * make_digits<Digits>(p, kPageTokens, kBias, s.p_codes[head * Digits],
                                                              kPageTokens, s.p_offsets + head * Digits);
    }

    template <int Digits, int Heads>
    static __attribute__((noinline)) void values(const AttendJob& job, const PageRef& page,
                                                 const Ahead& ahead, int first, AttendScratch& s) {
        constexpr int kM = Heads * Digits;
        const uint8_t* line = page.data + job.page_scales + job.page_keys;
        for (int d = 0; d < job.value_dim; d += 16) {
            Ints acc[kM];
            MEMWALL_UNROLL
            for (int v = 0; v < kM; ++v) acc[v] = splat(s.p_offsets[first * Digits + v]);
            const int8_t* a = s.p_codes[first * Digits];
            dot_lines<Bits, kPageTokens / (32 / Bits), kPageTokens>(line, a, 4, ahead, acc);
            line += kPageTokens / (32 / Bits) * kLineBytes;
            MEMWALL_UNROLL
            for (int h = 0; h < Heads; ++h) {
                float* o = job.o + (first + h) * job.value_dim + d;
                store(o, fma(to_floats(combine<Digits>(acc, h)), splat(s.p_scales[first + h]),
                             mul(load(o), splat(s.decay[first + h]))));
            }
        }
    }
};

/// f16 pages: floats throughout, even and odd k in chains of their own.
struct HalfPage {
    static constexpr int kMost = kAttendVectors / 2;

    template <int Digits>
    static void prepare(const AttendJob& job, AttendScratch& s) {
        for (int h = 0; h < job.heads; ++h)
            for (int d = 0; d < job.key_dim; d += 16)
                store(s.q[h] + d, mul(load(job.q + h * job.q_stride + d), splat(job.scale)));
    }

    template <int Digits, int Heads>
    static __attribute__((noinline)) void scores(const AttendJob& job, const PageRef& page,
                                                 const Ahead& ahead, int first, AttendScratch& s) {
        const uint8_t* line = page.data;
        for (int p = 0; p < kPagePanels; ++p) {
            Floats even[Heads], odd[Heads];
            MEMWALL_UNROLL
            for (int h = 0; h < Heads; ++h) even[h] = odd[h] = splat(0.0f);
            const float* q = s.q[first];
            for (int d = 0; d < job.key_dim; d += 4, q += 4) {
                MEMWALL_UNROLL
                for (int l = 0; l < 2; ++l, line += kLineBytes) {
                    ahead.fetch(line);
                    const Floats a = load_halves(line), b = load_halves(line + 32);
                    MEMWALL_UNROLL
                    for (int h = 0; h < Heads; ++h) {
                        even[h] = fma(a, splat(q[h * kHighestHeadDim + 2 * l]), even[h]);
                        odd[h] = fma(b, splat(q[h * kHighestHeadDim + 2 * l + 1]), odd[h]);
                    }
                }
            }
            MEMWALL_UNROLL
            for (int h = 0; h < Heads; ++h) store(s.scores[first + h] + p * 16, add(even[h], odd[h]));
        }
    }

    template <int Digits>
    static MEMWALL_INLINE void weigh(const PageRef&, int, AttendScratch&) {}

    /// Tokens that do not count are not read: stale halves may be infinite.
    template <int Digits, int Heads>
    static __attribute__((noinline)) void values(const AttendJob& job, const PageRef& page,
                                                 const Ahead& ahead, int first, AttendScratch& s) {
        const uint8_t* panel = page.data + job.page_keys;
        for (int d = 0; d < job.value_dim; d += 16, panel += kPageTokens * 32) {
            Floats even[Heads], odd[Heads];
            MEMWALL_UNROLL
            for (int h = 0; h < Heads; ++h) even[h] = odd[h] = splat(0.0f);
            const auto take = [&](int t, Floats(&acc)[Heads]) __attribute__((always_inline)) {
                const Floats v = load_halves(panel + t * 32);
                MEMWALL_UNROLL
                for (int h = 0; h < Heads; ++h) acc[h] = fma(v, splat(s.scores[first + h][t]), acc[h]);
            };
            int t = page.begin;
            if (t % 2 == 1) take(t++, odd);
            for (; t + 1 < page.end; t += 2) {
                ahead.fetch(panel + t * 32);
                take(t, even);
                take(t + 1, odd);
            }
            if (t < page.end) take(t, even);
            MEMWALL_UNROLL
            for (int h = 0; h < Heads; ++h) {
                float* o = job.o + (first + h) * job.value_dim + d;
                store(o, fma(add(even[h], odd[h]), splat(s.gain[first + h]),
                             mul(load(o), splat(s.decay[first + h]))));
            }
        }
    }
};

/// Turns a head count known at run time into a template argument, for both stages.
template <class Page, int Digits, int Heads>
MEMWALL_INLINE void scores_of(int heads, const AttendJob& job, const PageRef& page, const Ahead& ahead,
                              int first, AttendScratch& s) {
    if (heads >= Heads)
        Page::template scores<Digits, Heads>(job, page, ahead, first, s);
    else if constexpr (Heads > 1)
        scores_of<Page, Digits, Heads - 1>(heads, job, page, ahead, first, s);
}
template <class Page, int Digits, int Heads>
MEMWALL_INLINE void values_of(int heads, const AttendJob& job, const PageRef& page, const Ahead& ahead,
                              int first, AttendScratch& s) {
    if (heads >= Heads)
        Page::template values<Digits, Heads>(job, page, ahead, first, s);
    else if constexpr (Heads > 1)
        values_of<Page, Digits, Heads - 1>(heads, job, page, ahead, first, s);
}

constexpr float kMinusInfinity = -__builtin_inff();

/// Scores that do not count leave the maximum alone; their probability is 0.
inline void mask_scores(const PageRef& page, float* scores, float with) {
    for (int t = 0; t < kPageTokens; ++t)
        if (t < page.begin || t >= page.end) scores[t] = with;
}

/// Scores of all heads become exp(score - the page's maximum); m, l, decay and gain follow. The page's own
/// maximum, not the running one: what a page gives does then not depend on the pages before it, and neither
/// do the roundings of its digits when pages go to different threads.
MEMWALL_INLINE void soften(const AttendJob& job, const PageRef& page, AttendScratch& s) {
    const bool whole = page.begin == 0 && page.end == kPageTokens;
    float sums[kHighestHeads];
    for (int h = 0; h < job.heads; ++h) {
        float* x = s.scores[h];
        if (!whole) mask_scores(page, x, kMinusInfinity);
        const Floats a = load(x), b = load(x + 16), c = load(x + 32), d = load(x + 48);
        const float most = maximum(max(max(a, b), max(c, d)));
        const float m = most > job.m[h] ? most : job.m[h];
        s.decay[h] = job.m[h] - m;
        s.gain[h] = most - m;
        job.m[h] = m;
        const Floats origin = splat(most);
        const Floats pa = exp_nonpositive(sub(a, origin)), pb = exp_nonpositive(sub(b, origin));
        const Floats pc = exp_nonpositive(sub(c, origin)), pd = exp_nonpositive(sub(d, origin));
        store(x, pa);
        store(x + 16, pb);
        store(x + 32, pc);
        store(x + 48, pd);
        if (!whole) mask_scores(page, x, 0);
        sums[h] = whole ? sum(add(add(pa, pb), add(pc, pd)))
                        : sum(add(add(load(x), load(x + 16)), add(load(x + 32), load(x + 48))));
    }
    store(s.decay, exp_nonpositive(load(s.decay)));
    store(s.gain, exp_nonpositive(load(s.gain)));
    for (int h = 0; h < job.heads; ++h) job.l[h] = __builtin_fmaf(job.l[h], s.decay[h], sums[h] * s.gain[h]);
}

template <class Page, int Digits>
void attend_pages(const AttendJob& job) {
    constexpr int kHeads = Page::kMost / Digits;
    AttendScratch s;
    Page::template prepare<Digits>(job, s);
    for (int h = 0; h < kHighestHeads; ++h) s.decay[h] = s.gain[h] = 0;
    for (int h = 0; h < job.heads; ++h) {
        job.m[h] = kMinusInfinity;
        job.l[h] = 0;
        for (int d = 0; d < job.value_dim; d += 16) store(job.o + h * job.value_dim + d, splat(0.0f));
    }
    // Pages may lie anywhere: the far target is the same place so many pages on that prefetch.far fits
    // between.
    const auto bytes = static_cast<ptrdiff_t>(job.page_bytes);
    const int64_t pages_ahead = (job.prefetch.far + bytes - 1) / bytes;
    for (int64_t i = 0; i < job.page_count; ++i) {
        const PageRef& page = job.pages[i];
        if (page.begin >= page.end) continue;
        const int64_t last = job.page_count - 1;
        const uint8_t* next = job.pages[i < last ? i + 1 : last].data;
        const uint8_t* far = job.pages[i + pages_ahead < last ? i + pages_ahead : last].data;
        const auto base = reinterpret_cast<uintptr_t>(page.data);
        Ahead ahead;
        ahead.near = job.prefetch.near;
        ahead.end = base + job.page_bytes;
        ahead.jump = static_cast<ptrdiff_t>(reinterpret_cast<uintptr_t>(next) - ahead.end);
        ahead.far = static_cast<ptrdiff_t>(reinterpret_cast<uintptr_t>(far) - base);
        ahead.far_end = UINTPTR_MAX;
        for (int h = 0; h < job.heads; h += kHeads)
            scores_of<Page, Digits, kHeads>(job.heads - h, job, page, ahead, h, s);
        soften(job, page, s);
        for (int h = 0; h < job.heads; ++h) Page::template weigh<Digits>(page, h, s);
        for (int h = 0; h < job.heads; h += kHeads)
            values_of<Page, Digits, kHeads>(job.heads - h, job, page, ahead, h, s);
    }
}

void attend(const AttendJob& job) {
    switch (job.format) {
        case KvFormat::f16:
            return attend_pages<HalfPage, 1>(job);
        case KvFormat::int8:
            return job.digits == 2 ? attend_pages<IntegerPage<8>, 2>(job)
                                   : attend_pages<IntegerPage<8>, 1>(job);
        case KvFormat::int4:
            return job.digits == 2 ? attend_pages<IntegerPage<4>, 2>(job)
                                   : attend_pages<IntegerPage<4>, 1>(job);
    }
}

}  // namespace
}  // namespace memwall::kernels
