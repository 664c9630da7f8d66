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
    alignas(64) float decay[kStreams *
                            kHighestHeads];  // exp(old maximum - new one): what was summed so far shrinks
    alignas(64) float gain[kStreams * kHighestHeads];  // exp(the page's maximum - new one): the page's share
    float p_scales[kStreams * kHighestHeads];
    int32_t q_offsets[2 * kHighestHeads], p_offsets[kStreams][2 * kHighestHeads];
    float q_scales[kHighestHeads];
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
                const int8_t* next = a;
                MEMWALL_UNROLL
                for (int g = 0; g < Pages; ++g) {
                    next = a;
                    dot_lines<Bits, kLines, kHighestHeadDim>(pages[g].data + at, next, 4, ahead[g], acc[g]);
                }
                a = next;
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

    /// Probabilities of a head become digits, the value scales of the tokens folded in.
    template <int Digits>
    static MEMWALL_INLINE void weigh(const AttendJob& job, const PageRef& page, int g, int head,
                                     AttendScratch& s) {
        float* p = s.scores[g][head];
        const bool whole = page.begin == 0 && page.end == kPageTokens;
        for (int i = 0; i < kPageTokens; i += 16)
            store(p + i, mul(load(p + i), load_halves(page.data + kPageTokens * 2 + i * 2)));
        if (!whole)  // scales of tokens that do not count may be anything
            for (int t = 0; t < kPageTokens; ++t)
                if (t < page.begin || t >= page.end) p[t] = 0;
        const int n = g * job.heads + head;
        s.p_scales[n] = s.gain[n] * make_digits<Digits>(p, kPageTokens, kBias, s.p_codes[g][head * Digits],
                                                        kPageTokens, s.p_offsets[g] + head * Digits);
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
            for (int t = 0; t < kPageTokens; t += 16, at += kLines * kLineBytes) MEMWALL_UNROLL
            for (int g = 0; g < Pages; ++g) {
                const int8_t* a = s.p_codes[g][first * Digits] + t;
                dot_lines<Bits, kLines, kPageTokens>(pages[g].data + at, a, 4, ahead[g], acc[g]);
            }
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
    static MEMWALL_INLINE void weigh(const AttendJob&, const PageRef&, int, int, AttendScratch&) {}

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

/// Scores that do not count leave the maximum alone; their probability is 0.
inline void mask_scores(const PageRef& page, float* scores, float with) {
    for (int t = 0; t < kPageTokens; ++t)
        if (t < page.begin || t >= page.end) scores[t] = with;
}

/// Scores of all heads of `count` pages become exp(score - the page's maximum); m, l, decay and gain follow.
/// The page's own maximum, not the running one: what a page gives does then not depend on the pages before
/// it, and neither do the roundings of its digits when pages go to different threads.
MEMWALL_INLINE void soften(const AttendJob& job, const PageRef* pages, int count, AttendScratch& s) {
    float most[kStreams * kHighestHeads], sums[kStreams * kHighestHeads];
    int n = 0;
    for (int g = 0; g < count; ++g) {
        const bool whole = pages[g].begin == 0 && pages[g].end == kPageTokens;
        for (int h = 0; h < job.heads; ++h, ++n) {
            float* x = s.scores[g][h];
            if (!whole) mask_scores(pages[g], x, kMinusInfinity);
            const Floats a = load(x), b = load(x + 16), c = load(x + 32), d = load(x + 48);
            most[n] = maximum(max(max(a, b), max(c, d)));
            const Floats origin = splat(most[n]);
            const Floats pa = exp_nonpositive(sub(a, origin)), pb = exp_nonpositive(sub(b, origin));
            const Floats pc = exp_nonpositive(sub(c, origin)), pd = exp_nonpositive(sub(d, origin));
            store(x, pa);
            store(x + 16, pb);
            store(x + 32, pc);
            store(x + 48, pd);
            if (!whole) mask_scores(pages[g], x, 0);
            sums[n] = whole ? sum(add(add(pa, pb), add(pc, pd)))
                            : sum(add(add(load(x), load(x + 16)), add(load(x + 32), load(x + 48))));
        }
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
            job.l[h] = __builtin_fmaf(job.l[h], s.decay[n], sums[n] * s.gain[n]);
}

/// All stages of `Pages` pages, `Heads` heads at a time.
template <class Page, int Digits, int Heads, int Pages, class Fetch>
MEMWALL_INLINE void attend_some(const AttendJob& job, const PageRef* pages, const Fetch* ahead,
                                AttendScratch& s) {
    for (int h = 0; h < job.heads; h += Heads)
        scores_of<Page, Digits, Heads, Pages>(job.heads - h, job, pages, ahead, h, s);
    soften(job, pages, Pages, s);
    for (int g = 0; g < Pages; ++g)
        for (int h = 0; h < job.heads; ++h) Page::template weigh<Digits>(job, pages[g], g, h, s);
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
    AlongPages ahead[Pages];
    for (int g = 0; g < Pages; ++g) {
        pages[g] = order[i + g];
        if (pages[g].begin != 0 || pages[g].end != kPageTokens) return false;
        ahead[g].near = job.prefetch.near;
        ahead[g].end = reinterpret_cast<uintptr_t>(pages[g].data) + job.page_bytes;
        ahead[g].jump =
            static_cast<ptrdiff_t>(reinterpret_cast<uintptr_t>(order.after(i + g)) - ahead[g].end);
    }
    attend_some<Page, Digits, Page::kMost / Digits / Pages, Pages>(job, pages, ahead, s);
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
        job.l[h] = 0;
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
