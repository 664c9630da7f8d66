// Reading ahead along the pages of a cache.
#pragma once

#include "kernels/simd/body.h"

namespace memwall::kernels {
namespace {

/// Half pages side by side: what lies `near` bytes ahead of an offset in each, beyond their end in what is
/// read after them. Work that passes over a panel in several turns shares the lines ahead evenly among them:
/// a turn takes a part of a panel, by shorter steps.
template <int Pages>
struct HalvesAhead {
    const uint8_t* now[Pages];
    const uint8_t* then[Pages];  // less `end`
    ptrdiff_t end, near;
    ptrdiff_t step = kLineBytes;  // for a line of work
    int turn = 0;

    struct Target {
        static constexpr bool kAlone = false;
        uintptr_t near;
        ptrdiff_t step;
        MEMWALL_INLINE Target to(const uint8_t*) const { return *this; }
        MEMWALL_INLINE void fetch(int line) const {
            __builtin_prefetch(reinterpret_cast<const uint8_t*>(near) + line * step, 0, 3);
        }
    };
    struct Targets {
        const uint8_t* const* base;
        uintptr_t offset;
        ptrdiff_t step;
        MEMWALL_INLINE Target operator[](int g) const {
            return {reinterpret_cast<uintptr_t>(base[g]) + offset, step};
        }
    };
    /// The offset from which this turn over `lines` from `begin` on fetches.
    MEMWALL_INLINE ptrdiff_t first(ptrdiff_t begin, ptrdiff_t lines) const {
        return begin + near + turn * lines * step;
    }
    MEMWALL_INLINE Targets at(ptrdiff_t offset) const {
        return {offset < end ? now : then, static_cast<uintptr_t>(offset), step};
    }
};

/// A run through the pages of a job and those after it as they lie in memory, into L2, up to a block ahead of
/// the work: one line of it for each line of work, whether that reads keys or values. Heavy work keeps too
/// few reads under way by itself.
///
/// On a Zen 5 EPYC (KVM, 2026-11) a core drops prefetches beyond about 64 lines under way, so light work,
/// which would ask for lines faster than they come, is better off with HalvesAhead alone.
struct RunAhead {
    const AttendJob* job;
    int64_t page;                 // that is fetched, counting on from the job's own to those after it
    int64_t limit = 0;            // the first one that is not yet to be
    uintptr_t at = 0, end = 0;    // the next line, and the end of its page
    ptrdiff_t step = kLineBytes;  // as of HalvesAhead
    bool on = false;

    MEMWALL_INLINE RunAhead(const AttendJob& j, int64_t first) : job(&j), page(first) {}

    MEMWALL_INLINE void open() {
        on = page < limit;
        if (!on) return;
        const PageRef& p = page < job->page_count ? job->pages[page] : job->next[page - job->page_count];
        const auto begin = reinterpret_cast<uintptr_t>(p.data);
        at = begin == end ? at : begin;
        end = begin + job->page_bytes;
    }
    /// Fetches pages of [first, last) only, from now on.
    MEMWALL_INLINE void set_range(int64_t first, int64_t last) {
        const int64_t all = job->page_count + job->next_count;
        limit = last < all ? last : all;
        if (page < first) {
            page = first;
            on = false;
        }
        if (!on) open();
    }
    template <int Lines>
    MEMWALL_INLINE void fetch() {
        if (!on) return;
        MEMWALL_UNROLL
        for (int l = 0; l < Lines; ++l)
            __builtin_prefetch(reinterpret_cast<const uint8_t*>(at) + l * step, 0, 2);
        at += static_cast<uintptr_t>(Lines * step);
        if (at >= end) {
            ++page;
            open();
        }
    }
};

}  // namespace
}  // namespace memwall::kernels
