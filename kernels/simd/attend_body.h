// Decode attention of the heads that share a KV head, in blocks of pages with a running maximum from page to
// page. A block goes through three stages, each for all of its pages and heads: scores, probabilities,
// values. With few heads several whole pages go through a stage side by side, as streams of their own. What a
// page gives depends neither on its block nor on its neighbours, so the bits are the same as one by one.
#pragma once

#include "kernels/simd/attend_stages.h"

namespace memwall::kernels {
namespace {

/// Vector operations of the probabilities of a page and head: about 25 for 16 of them (KERNELS section 6).
constexpr int kVectorsARow = kPageTokens / 16 * 25;
/// Vector operations a line beyond which reading is run ahead. On a Zen 5 EPYC (KVM, 2026-11) running ahead
/// brought 0.60 to 0.80 of read at 9 (four heads over f16), 0.50 to 0.61 at 11 (eight over int8), and cost
/// 0.05 at 5.5 (four over int8), 0.1 at 2 (one over f16).
constexpr int kHeavyLine = 6;

/// The stages with their signature in common; turns a head count known at run time into a template argument.
struct Scores {
    static constexpr bool kKeys = true;
    template <class Page, int Digits, int Heads, int Pages, class... Args>
    static MEMWALL_INLINE void run(Args&&... args) {
        Page::template scores<Digits, Heads, Pages>(args...);
    }
};
struct Values {
    static constexpr bool kKeys = false;
    template <class Page, int Digits, int Heads, int Pages, class... Args>
    static MEMWALL_INLINE void run(Args&&... args) {
        Page::template values<Digits, Heads, Pages>(args...);
    }
};
template <class Stage, class Page, int Digits, int Heads, int Pages, class... Args>
MEMWALL_INLINE void with_heads(int heads, Args&&... args) {
    if (heads >= Heads)
        Stage::template run<Page, Digits, Heads, Pages>(args...);
    else if constexpr (Heads > 1)
        with_heads<Stage, Page, Digits, Heads - 1, Pages>(heads, args...);
}

constexpr float kMinusInfinity = -__builtin_inff();

/// Scores of all heads of `count` pages become exp(score - the page's maximum); m, l, decay and gain follow.
/// The page's own maximum, not the running one: what a page gives does then not depend on the pages before
/// it, and neither do the roundings of its digits when pages go to different threads.
MEMWALL_INLINE void soften(const AttendJob& job, const PageRef* pages, int count, AttendScratch& s) {
    // Short loops one after the other: a reduction of one head waits beside those of the next ones.
    float most[kMostRows];
    int n = 0;
    for (int g = 0; g < count; ++g)
        for (int h = 0; h < job.heads; ++h, ++n) {
            float* x = s.scores[h][g];
            mask(pages[g], x, kMinusInfinity);
            most[n] = maximum(max(max(load(x), load(x + 16)), max(load(x + 32), load(x + 48))));
        }
    n = 0;
    for (int g = 0; g < count; ++g)
        for (int h = 0; h < job.heads; ++h, ++n) {
            float* x = s.scores[h][g];
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

/// Pages of a job that go through the stages together, all with tokens that count.
struct Block {
    const AttendJob& job;
    int64_t next;  // the first page after them
    int count = 0;
    PageRef pages[kBlockPages];

    MEMWALL_INLINE Block(const AttendJob& j, int64_t first) : job(j), next(first) {
        for (; next < job.page_count && count < kBlockPages; ++next)
            if (job.pages[next].begin < job.pages[next].end) pages[count++] = job.pages[next];
    }
    MEMWALL_INLINE bool has(int page, int some, bool whole) const {
        if (page + some > count) return false;
        for (int g = page; g < page + some; ++g)
            if (whole && (pages[g].begin != 0 || pages[g].end != kPageTokens)) return false;
        return true;
    }
    /// The page that comes `i` after the block.
    MEMWALL_INLINE const uint8_t* after(int64_t i) const {
        i += next;
        return i < job.page_count                    ? job.pages[i].data
               : i - job.page_count < job.next_count ? job.next[i - job.page_count].data
                                                     : pages[count - 1].data;
    }
};

/// One stage of `Pages` pages from `page` on.
template <class Stage, class Page, int Digits, int Pages>
MEMWALL_INLINE void side_by_side(const Block& b, int page, RunAhead& run, AttendScratch& s) {
    constexpr int kHeads = Page::kMost / Digits / Pages;
    const AttendJob& job = b.job;
    HalvesAhead<Pages> ahead;
    const auto keys = static_cast<ptrdiff_t>(job.page_scales),
               values = static_cast<ptrdiff_t>(job.page_scales + job.page_keys);
    ahead.near = job.prefetch.near * job.prefetch.streams / Pages / kLineBytes * kLineBytes;
    ahead.end = Stage::kKeys ? values : static_cast<ptrdiff_t>(job.page_bytes);
    for (int g = 0; g < Pages; ++g) {
        const int then = page + g + Pages;
        const bool more = then < kBlockPages && then < b.count;
        ahead.now[g] = b.pages[page + g].data;
        // After keys the block's values, after values the keys of the next block.
        const uint8_t* following = more           ? b.pages[then].data + (Stage::kKeys ? keys : values)
                                   : Stage::kKeys ? b.pages[g].data + values
                                                  : b.after(g) + keys;
        ahead.then[g] = following - ahead.end;
        if (Stage::kKeys == more)
            for (ptrdiff_t l = 0; l < keys; l += kLineBytes) __builtin_prefetch(following - keys + l, 0, 3);
    }
    for (int h = 0; h < job.heads; h += kHeads)
        with_heads<Stage, Page, Digits, kHeads, Pages>(job.heads - h, job, b.pages + page, page, ahead, run,
                                                       h, s);
}

/// One stage of all pages of a block: some side by side while their accumulators have registers.
template <class Stage, class Page, int Digits>
MEMWALL_INLINE void all_pages(const Block& b, RunAhead& run, AttendScratch& s) {
    constexpr int kVectors = Page::kMost / Digits;
    constexpr bool kWhole = !Stage::kKeys && Page::kWholeValues;
    for (int page = 0; page < b.count;) {
        if constexpr (kVectors >= 4)
            if (b.job.heads * 4 <= kVectors && b.has(page, 4, kWhole)) {
                side_by_side<Stage, Page, Digits, 4>(b, page, run, s);
                page += 4;
                continue;
            }
        if constexpr (kVectors >= 2)
            if (b.job.heads * 2 <= kVectors && b.has(page, 2, kWhole)) {
                side_by_side<Stage, Page, Digits, 2>(b, page, run, s);
                page += 2;
                continue;
            }
        side_by_side<Stage, Page, Digits, 1>(b, page, run, s);
        ++page;
    }
}

template <class Page, int Digits>
void attend_pages(const AttendJob& job) {
    AttendScratch s;
    Page::template prepare<Digits>(job, s);
    for (int i = 0; i < kMostRows; ++i) s.decay[i] = s.gain[i] = 0;
    for (int h = 0; h < job.heads; ++h) {
        job.m[h] = kMinusInfinity;
        store(s.l[h], splat(0.0f));
        for (int d = 0; d < job.value_dim; d += 16) store(job.o + h * job.value_dim + d, splat(0.0f));
    }
    // What dots and probabilities cost, in vector operations a line; a core with a far level uses it in any
    // case.
    const ptrdiff_t lines = static_cast<ptrdiff_t>(job.page_bytes) / kLineBytes;
    const ptrdiff_t work = job.heads * (lines * Digits * Page::kDotsALine + kVectorsARow);
    const bool heavy = job.prefetch.far > 0 || work > kHeavyLine * lines;
    RunAhead run(job, kBlockPages);
    for (int64_t i = 0; i < job.page_count;) {
        const Block block(job, i);
        i = block.next;
        if (block.count == 0) continue;
        if (heavy) run.set_range(block.next, block.next + kBlockPages);
        all_pages<Scores, Page, Digits>(block, run, s);
        soften(job, block.pages, block.count, s);
        Page::template weigh<Digits>(job, block.pages, block.count, s);
        all_pages<Values, Page, Digits>(block, run, s);
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
