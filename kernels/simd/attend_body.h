// Decode attention of the heads that share a KV head, in blocks of pages with a running maximum from block to
// block. A block goes through three stages, each for all of its pages and heads: scores, probabilities,
// values. Several whole pages go through a stage side by side, as streams of their own; more heads than have
// registers then take turns, panel by panel. Blocks follow from the list of pages alone, and how pages and
// heads of a block go together changes no bit.
#pragma once

#include "kernels/simd/attend_stages.h"

namespace memwall::kernels {
namespace {

/// Vector operations of the probabilities of a page and head: about 25 for 16 of them (KERNELS section 6).
constexpr int kVectorsARow = kPageTokens / 16 * 25;

/// The stages with their signature in common; turns a head count known at run time into a template argument.
struct Scores {
    static constexpr bool kKeys = true;
    template <class Page, int Digits, int Heads, int Pages, bool Run, class... Args>
    static MEMWALL_INLINE void run(Args&&... args) {
        Page::template scores<Digits, Heads, Pages, Run>(args...);
    }
};
struct Values {
    static constexpr bool kKeys = false;
    template <class Page, int Digits, int Heads, int Pages, bool Run, class... Args>
    static MEMWALL_INLINE void run(Args&&... args) {
        Page::template values<Digits, Heads, Pages, Run>(args...);
    }
};
template <class Stage, class Page, int Digits, int Heads, int Pages, bool Run, class... Args>
MEMWALL_INLINE void with_heads(int heads, Args&&... args) {
    if (heads >= Heads)
        Stage::template run<Page, Digits, Heads, Pages, Run>(args...);
    else if constexpr (Heads > 1)
        with_heads<Stage, Page, Digits, Heads - 1, Pages, Run>(heads, args...);
}

constexpr float kMinusInfinity = -__builtin_inff();

/// Scores of all heads of `count` pages become exp(score - the page's maximum); m, l, decay and gain follow.
/// The page's own maximum, not the running one: what a page gives does then not depend on the pages before
/// it, and neither do the roundings of its digits when pages go to different threads.
MEMWALL_INLINE void soften(const AttendJob& job, const PageRef* pages, int count, AttendScratch& s) {
    // Short loops one after the other: a reduction of one head waits beside those of the next ones.
    for (int g = 0; g < count; ++g)
        for (int h = 0; h < job.heads; ++h) {
            float* x = s.scores[h][g];
            mask(pages[g], x, kMinusInfinity);
            s.most[g][h] = maximum(max(max(load(x), load(x + 16)), max(load(x + 32), load(x + 48))));
        }
    for (int g = 0; g < count; ++g)
        for (int h = 0; h < job.heads; ++h) {
            float* x = s.scores[h][g];
            const Floats origin = splat(s.most[g][h]);
            MEMWALL_UNROLL
            for (int i = 0; i < kPageTokens; i += 16) {
                store(x + i, exp_nonpositive(sub(load(x + i), origin)));
            }
            mask(pages[g], x, 0);
            store(s.sums[g][h], add(add(load(x), load(x + 16)), add(load(x + 32), load(x + 48))));
        }
    const Floats before = load(s.m);
    Floats m = before;
    for (int g = 0; g < count; ++g) m = max(m, load(s.most[g]));
    store(s.m, m);
    store(s.decay[0], exp_nonpositive(sub(before, m)));
    for (int g = 0; g < count; ++g) store(s.gain[g], exp_nonpositive(sub(load(s.most[g]), m)));
    for (int h = 0; h < job.heads; ++h) {
        Floats l = mul(load(s.l[h]), splat(s.decay[0][h]));
        for (int g = 0; g < count; ++g) l = fma(load(s.sums[g][h]), splat(s.gain[g][h]), l);
        store(s.l[h], l);
    }
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
template <class Stage, class Page, int Digits, int Pages, bool Run>
MEMWALL_INLINE void side_by_side(const Block& b, int page, RunAhead& run, AttendScratch& s) {
    constexpr int kHeads = Page::kMost / Digits / Pages;
    const AttendJob& job = b.job;
    Together<Pages> t{job, b.pages + page, page, {}, run, s};
    HalvesAhead<Pages>& ahead = t.ahead;
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
    const int panels = Stage::kKeys ? kPagePanels : job.value_dim / kPanelRows;
    const int turns = (job.heads + kHeads - 1) / kHeads;
    ahead.step = run.step = (kLineBytes + turns - 1) / turns;
    const int at_once = turns == 1 ? panels : 1;
    for (int panel = 0; panel < panels; panel += at_once) {
        ahead.turn = 0;
        for (int h = 0; h < job.heads; h += kHeads, ++ahead.turn)
            with_heads<Stage, Page, Digits, kHeads, Pages, Run>(job.heads - h, t, panel, panel + at_once, h);
    }
}

/// One stage of all pages of a block: some side by side, while their accumulators have registers or, if those
/// are many, in turns of some of the heads.
template <class Stage, class Page, int Digits, bool Run>
MEMWALL_INLINE void all_pages(const Block& b, RunAhead& run, AttendScratch& s) {
    constexpr int kVectors = Page::kMost / Digits;
    // Few accumulators are not worth reading a line twice for.
    constexpr int kTurnsOfTwo = kVectors >= 8 ? 2 : 1, kTurnsOfFour = kVectors >= 8 ? Page::kTurnsOfFour : 1;
    constexpr bool kWhole = !Stage::kKeys && Page::kWholeValues;
    for (int page = 0; page < b.count;) {
        if constexpr (kVectors >= 4)
            if (b.job.heads * 4 <= kVectors * kTurnsOfFour && b.has(page, 4, kWhole)) {
                side_by_side<Stage, Page, Digits, 4, Run>(b, page, run, s);
                page += 4;
                continue;
            }
        if constexpr (kVectors >= 2)
            if (b.job.heads * 2 <= kVectors * kTurnsOfTwo && b.has(page, 2, kWhole)) {
                side_by_side<Stage, Page, Digits, 2, Run>(b, page, run, s);
                page += 2;
                continue;
            }
        side_by_side<Stage, Page, Digits, 1, Run>(b, page, run, s);
        ++page;
    }
}
template <class Stage, class Page, int Digits>
MEMWALL_INLINE void all_pages(const Block& b, bool run_ahead, RunAhead& run, AttendScratch& s) {
    if (run_ahead)
        all_pages<Stage, Page, Digits, true>(b, run, s);
    else
        all_pages<Stage, Page, Digits, false>(b, run, s);
}

template <class Page, int Digits>
void attend_pages(const AttendJob& job) {
    AttendScratch s;
    Page::template prepare<Digits>(job, s);
    for (auto& page : s.most)
        for (float& x : page) x = 0;  // of heads that there are not
    for (float& m : s.m) m = kMinusInfinity;
    for (auto& page : s.decay)
        for (float& x : page) x = 1;
    for (int h = 0; h < job.heads; ++h) {
        store(s.l[h], splat(0.0f));
        for (int d = 0; d < job.value_dim; d += 16) store(job.o + h * job.value_dim + d, splat(0.0f));
    }
    // What dots and probabilities cost, in vector operations.
    const ptrdiff_t lines = static_cast<ptrdiff_t>(job.page_bytes) / kLineBytes;
    const ptrdiff_t work = job.heads * (lines * Digits * Page::kDotsALine + kVectorsARow);
    const bool heavy = job.prefetch.run_ahead_from > 0 && work > job.prefetch.run_ahead_from * lines;
    RunAhead run(job, kBlockPages);
    for (int64_t i = 0; i < job.page_count;) {
        const Block block(job, i);
        i = block.next;
        if (block.count == 0) continue;
        if (heavy) run.set_range(block.next, block.next + kBlockPages);
        all_pages<Scores, Page, Digits>(block, heavy, run, s);
        soften(job, block.pages, block.count, s);
        Page::template weigh<Digits>(job, block.pages, block.count, s);
        all_pages<Values, Page, Digits>(block, heavy, run, s);
    }
    for (int h = 0; h < job.heads; ++h) {
        job.m[h] = s.m[h];
        job.l[h] = sum(load(s.l[h]));
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
