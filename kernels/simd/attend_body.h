// Decode attention of the heads that share a KV head, page by page with a running maximum. Every stage of a
// page is done for all heads before the next one: a page is read from memory once and its second use finds it
// in the cache. With few heads several whole pages go through each stage side by side, as streams of their
// own: what a page gives does not depend on its neighbours, so the bits are the same as one by one.
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

/// Everything between the stages of pages; about 50 KiB on the stack. Of several pages, [page] comes first.
struct AttendScratch {
    alignas(64) float q[kHighestHeads][kHighestHeadDim];  // f16: scaled queries
    alignas(64) int8_t q_codes[2 * kHighestHeads][kHighestHeadDim];
    alignas(64) float scores[kStreams][kHighestHeads][kPageTokens];  // then probabilities
    alignas(64) int8_t p_codes[kStreams][2 * kHighestHeads][kPageTokens];
    // Of page and head, at [page x heads + head]:
    // exp(old maximum - new one), by which what was summed so far shrinks, and exp(page's maximum - new one),
    // the page's share.
    alignas(64) float decay[kStreams * kHighestHeads], gain[kStreams * kHighestHeads];
    float p_scales[kStreams * kHighestHeads];
    alignas(64) float sums[kStreams * kHighestHeads][16];  // of probabilities, lane by lane
    alignas(64) float l[kHighestHeads][16];                // lanes of job.l
    int32_t q_offsets[2 * kHighestHeads], p_offsets[kStreams][2 * kHighestHeads];
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
    static constexpr int kMost = kAttendVectors;

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

    /// Scores of `Heads` heads from `first` on, of `Pages` pages.
    template <int Digits, int Heads, int Pages, class Fetch>
    static __attribute__((noinline)) void scores(const AttendJob& job, const PageRef* pages,
                                                 const Fetch* ahead, int first, AttendScratch& s) {
        constexpr int kM = Heads * Digits, kLines = Bits / 2;  // 4 lines of bytes or 2 of nibbles: 16 dims
        ptrdiff_t at = static_cast<ptrdiff_t>(job.page_scales);
        for (int p = 0; p < kPagePanels; ++p) {
            Ints acc[Pages][kM];
            MEMWALL_UNROLL
            for (auto& one : acc) MEMWALL_UNROLL
            for (int v = 0; v < kM; ++v) one[v] = splat(s.q_offsets[first * Digits + v]);
            const int8_t* a = s.q_codes[first * Digits];
            for (int d = 0; d < job.key_dim; d += 16, at += kLines * kLineBytes) {
                dot_streams<Bits, kLines, kHighestHeadDim, 0, Pages>(
                    [&](int g) { return pages[g].data + at; }, a, 4,
                    [&](int g) -> const Fetch& { return ahead[g]; },
                    [&](int g) -> Ints(&)[kM] { return acc[g]; });
            }
            MEMWALL_UNROLL
            for (int g = 0; g < Pages; ++g) {
                const Floats token_scale = load_halves(pages[g].data + p * 32);
                MEMWALL_UNROLL
                for (int h = 0; h < Heads; ++h)
                    store(s.scores[g][first + h] + p * 16,
                          mul(to_floats(combine<Digits>(acc[g], h)),
                              mul(token_scale, splat(s.q_scales[first + h]))));
            }
        }
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
                    store_digits<Digits>(mul(load(s.scores[g][h] + i), load(unit + i)),
                                         s.p_codes[g][h * Digits] + i, kPageTokens, sums);
                }
                store_offsets<Digits>(sums, kBias, s.p_offsets[g] + h * Digits);
                s.p_scales[n] = s.gain[n] * (magnitude / kDigitLimit<Digits>);
            }
        }
    }

    template <int Digits, int Heads, int Pages, class Fetch>
    static __attribute__((noinline)) void values(const AttendJob& job, const PageRef* pages,
                                                 const Fetch* ahead, int first, AttendScratch& s) {
        constexpr int kM = Heads * Digits, kLines = Bits / 2;
        ptrdiff_t at = static_cast<ptrdiff_t>(job.page_scales + job.page_keys);
        for (int d = 0; d < job.value_dim; d += 16) {
            Ints acc[Pages][kM];
            MEMWALL_UNROLL
            for (int g = 0; g < Pages; ++g) MEMWALL_UNROLL
            for (int v = 0; v < kM; ++v) acc[g][v] = splat(s.p_offsets[g][first * Digits + v]);
            const int8_t* a = s.p_codes[0][first * Digits];
            for (int t = 0; t < kPageTokens; t += 16, at += kLines * kLineBytes)
                dot_streams<Bits, kLines, kPageTokens, static_cast<int>(sizeof s.p_codes[0]), Pages>(
                    [&](int g) { return pages[g].data + at; }, a, 4,
                    [&](int g) -> const Fetch& { return ahead[g]; },
                    [&](int g) -> Ints(&)[kM] { return acc[g]; });
            MEMWALL_UNROLL
            for (int h = 0; h < Heads; ++h) {
                float* o = job.o + (first + h) * job.value_dim + d;
                Floats sum = load(o);
                MEMWALL_UNROLL
                for (int g = 0; g < Pages; ++g) {
                    const int n = g * job.heads + first + h;
                    sum = fma(to_floats(combine<Digits>(acc[g], h)), splat(s.p_scales[n]),
                              mul(sum, splat(s.decay[n])));
                }
                store(o, sum);
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

    template <int Digits, int Heads, int Pages, class Fetch>
    static __attribute__((noinline)) void scores(const AttendJob& job, const PageRef* pages,
                                                 const Fetch* ahead, int first, AttendScratch& s) {
        ptrdiff_t at = 0;
        for (int p = 0; p < kPagePanels; ++p) {
            Floats even[Pages][Heads], odd[Pages][Heads];
            MEMWALL_UNROLL
            for (int g = 0; g < Pages; ++g) MEMWALL_UNROLL
            for (int h = 0; h < Heads; ++h) even[g][h] = odd[g][h] = splat(0.0f);
            const float* q = s.q[first];
            for (int d = 0; d < job.key_dim; d += 4, q += 4) {
                MEMWALL_UNROLL
                for (int l = 0; l < 2; ++l, at += kLineBytes) {
                    MEMWALL_UNROLL
                    for (int g = 0; g < Pages; ++g) {
                        const uint8_t* line = pages[g].data + at;
                        ahead[g].to(line).fetch(0);
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
                store(s.scores[g][first + h] + p * 16, add(even[g][h], odd[g][h]));
        }
    }

    template <int Digits>
    static MEMWALL_INLINE void weigh(const AttendJob&, const PageRef*, int, AttendScratch&) {}

    /// Several pages are whole; of one, tokens that do not count are not read: stale halves may be infinite.
    template <int Digits, int Heads, int Pages, class Fetch>
    static __attribute__((noinline)) void values(const AttendJob& job, const PageRef* pages,
                                                 const Fetch* ahead, int first, AttendScratch& s) {
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
                        acc[g][h] = fma(v, splat(s.scores[g][first + h][t]), acc[g][h]);
                }
            };
            int t = begin;
            if (t % 2 == 1) take(t++, odd);
            for (; t + 1 < end; t += 2) {
                MEMWALL_UNROLL
                for (int g = 0; g < Pages; ++g) ahead[g].to(pages[g].data + at + t * 32).fetch(0);
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
                    const int n = g * job.heads + first + h;
                    sum = fma(add(even[g][h], odd[g][h]), splat(s.gain[n]), mul(sum, splat(s.decay[n])));
                }
                store(o, sum);
            }
        }
    }
};

/// Turns a head count known at run time into a template argument, for both stages.
template <class Page, int Digits, int Heads, int Pages, class Fetch>
MEMWALL_INLINE void scores_of(int heads, const AttendJob& job, const PageRef* pages, const Fetch* ahead,
                              int first, AttendScratch& s) {
    if (heads >= Heads)
        Page::template scores<Digits, Heads, Pages>(job, pages, ahead, first, s);
    else if constexpr (Heads > 1)
        scores_of<Page, Digits, Heads - 1, Pages>(heads, job, pages, ahead, first, s);
}
template <class Page, int Digits, int Heads, int Pages, class Fetch>
MEMWALL_INLINE void values_of(int heads, const AttendJob& job, const PageRef* pages, const Fetch* ahead,
                              int first, AttendScratch& s) {
    if (heads >= Heads)
        Page::template values<Digits, Heads, Pages>(job, pages, ahead, first, s);
    else if constexpr (Heads > 1)
        values_of<Page, Digits, Heads - 1, Pages>(heads, job, pages, ahead, first, s);
}

constexpr float kMinusInfinity = -__builtin_inff();

/// Scores of all heads of `count` pages become exp(score - the page's maximum); m, l, decay and gain follow.
/// The page's own maximum, not the running one: what a page gives does then not depend on the pages before
/// it, and neither do the roundings of its digits when pages go to different threads.
MEMWALL_INLINE void soften(const AttendJob& job, const PageRef* pages, int count, AttendScratch& s) {
    // Short loops one after the other: a reduction of one head waits beside those of the next ones.
    float most[kStreams * kHighestHeads];
    int n = 0;
    for (int g = 0; g < count; ++g)
        for (int h = 0; h < job.heads; ++h, ++n) {
            float* x = s.scores[g][h];
            mask(pages[g], x, kMinusInfinity);
            most[n] = maximum(max(max(load(x), load(x + 16)), max(load(x + 32), load(x + 48))));
        }
    n = 0;
    for (int g = 0; g < count; ++g)
        for (int h = 0; h < job.heads; ++h, ++n) {
            float* x = s.scores[g][h];
            const Floats origin = splat(most[n]);
            MEMWALL_UNROLL
            for (int i = 0; i < kPageTokens; i += 16) {
                store(x + i, exp_nonpositive(sub(load(x + i), origin)));
            }
            mask(pages[g], x, 0);
            store(s.sums[n], add(add(load(x), load(x + 16)), add(load(x + 32), load(x + 48))));
        }
    n = 0;
    for (int g = 0; g < count; ++g)
        for (int h = 0; h < job.heads; ++h, ++n) {
            const float m = most[n] > job.m[h] ? most[n] : job.m[h];
            s.decay[n] = job.m[h] - m;
            s.gain[n] = most[n] - m;
            job.m[h] = m;
        }
    for (int i = 0; i < n; i += 16) {
        store(s.decay + i, exp_nonpositive(load(s.decay + i)));
        store(s.gain + i, exp_nonpositive(load(s.gain + i)));
    }
    n = 0;
    for (int g = 0; g < count; ++g)
        for (int h = 0; h < job.heads; ++h, ++n)
            store(s.l[h], fma(load(s.l[h]), splat(s.decay[n]), mul(load(s.sums[n]), splat(s.gain[n]))));
}

/// All stages of `Pages` pages, `Heads` heads at a time.
template <class Page, int Digits, int Heads, int Pages, class Fetch>
MEMWALL_INLINE void attend_some(const AttendJob& job, const PageRef* pages, const Fetch* ahead,
                                AttendScratch& s) {
    for (int h = 0; h < job.heads; h += Heads)
        scores_of<Page, Digits, Heads, Pages>(job.heads - h, job, pages, ahead, h, s);
    soften(job, pages, Pages, s);
    Page::template weigh<Digits>(job, pages, Pages, s);
    for (int h = 0; h < job.heads; h += Heads)
        values_of<Page, Digits, Heads, Pages>(job.heads - h, job, pages, ahead, h, s);
}

/// The order in which a job's pages are worked through: with streams, one page of each quarter in turn, so
/// that pages that follow each other in memory stay a stream. Heads and pages side by side have no say in it.
struct PageOrder {
    const AttendJob& job;
    int64_t quarter;

    explicit PageOrder(const AttendJob& j)
        : job(j), quarter(j.prefetch.streams == kStreams ? j.page_count / kStreams : 0) {}
    MEMWALL_INLINE const PageRef& operator[](int64_t i) const {
        return job.pages[i < kStreams * quarter ? i % kStreams * quarter + i / kStreams : i];
    }
    /// What follows page `i` where it is read; the last one follows itself.
    MEMWALL_INLINE const uint8_t* after(int64_t i, int64_t pages = 1) const {
        const int64_t next = i + pages * (quarter > 0 ? kStreams : 1), last = job.page_count - 1;
        return (*this)[next < last ? next : last].data;
    }
};

/// `Pages` pages from `i` on side by side, if all are whole.
template <class Page, int Digits, int Pages>
MEMWALL_INLINE bool attend_side_by_side(const PageOrder& order, int64_t i, AttendScratch& s) {
    const AttendJob& job = order.job;
    PageRef pages[Pages];
    AlongPages keys[Pages];
    for (int g = 0; g < Pages; ++g) {
        pages[g] = order[i + g];
        if (pages[g].begin != 0 || pages[g].end != kPageTokens) return false;
        keys[g].near = job.prefetch.near;
        keys[g].end = reinterpret_cast<uintptr_t>(pages[g].data) + job.page_bytes;
        keys[g].jump = static_cast<ptrdiff_t>(reinterpret_cast<uintptr_t>(order.after(i + g)) - keys[g].end);
    }
    attend_some<Page, Digits, Page::kMost / Digits / Pages, Pages>(job, pages, keys, s);
    return true;
}

template <class Page, int Digits>
void attend_pages(const AttendJob& job) {
    constexpr int kVectors = Page::kMost / Digits;
    AttendScratch s;
    Page::template prepare<Digits>(job, s);
    for (int i = 0; i < kStreams * kHighestHeads; ++i) s.decay[i] = s.gain[i] = 0;
    for (int h = 0; h < job.heads; ++h) {
        job.m[h] = kMinusInfinity;
        store(s.l[h], splat(0.0f));
        for (int d = 0; d < job.value_dim; d += 16) store(job.o + h * job.value_dim + d, splat(0.0f));
    }
    const PageOrder order(job);
    // As many pages side by side as their accumulators leave registers for.
    const int together = job.heads * 4 <= kVectors ? 4 : job.heads * 2 <= kVectors ? 2 : 1;
    // Pages may lie anywhere: the far target is the same place so many pages on that prefetch.far fits
    // between.
    const auto bytes = static_cast<ptrdiff_t>(job.page_bytes);
    const int64_t pages_ahead = (job.prefetch.far + bytes - 1) / bytes;
    for (int64_t i = 0; i < job.page_count;) {
        if (i + together <= kStreams * order.quarter) {
            if constexpr (kVectors >= 4)
                if (together == 4 && attend_side_by_side<Page, Digits, 4>(order, i, s)) {
                    i += 4;
                    continue;
                }
            if constexpr (kVectors >= 2)
                if (together == 2 && attend_side_by_side<Page, Digits, 2>(order, i, s)) {
                    i += 2;
                    continue;
                }
        }
        const PageRef& page = order[i];
        const auto base = reinterpret_cast<uintptr_t>(page.data);
        Ahead ahead;
        ahead.near = job.prefetch.near;
        ahead.end = base + job.page_bytes;
        ahead.jump = static_cast<ptrdiff_t>(reinterpret_cast<uintptr_t>(order.after(i)) - ahead.end);
        ahead.far = static_cast<ptrdiff_t>(reinterpret_cast<uintptr_t>(order.after(i, pages_ahead)) - base);
        ahead.far_end = UINTPTR_MAX;
        if (page.begin < page.end) attend_some<Page, Digits, kVectors, 1>(job, &page, &ahead, s);
        ++i;
    }
    for (int h = 0; h < job.heads; ++h) job.l[h] = sum(load(s.l[h]));
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
