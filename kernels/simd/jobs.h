// What a kernel is asked to do, as plain data: pointers into Panels, Activations and cache pages. The checked
// way to make these is kernels.h.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/panels/formats.h"

namespace memwall::kernels {

inline constexpr int kStreams = 4;

/// How a long read is spread: prefetch bytes ahead of the line in work, near into L1, far into L2 (a distance
/// of 0 fetches the line itself, which costs a load slot and no traffic), and over how many streams, 1 or
/// kStreams, one activation vector walks through a matrix. Attention shares near x streams among the pages it
/// reads side by side; where it computes more than `run_ahead_from` vector operations a line it also runs a
/// block of pages ahead into L2 (0: never). Chosen in one place, prefetch() of kernels.h.
struct Prefetch {
    ptrdiff_t near = 1536, far = 32768;
    int streams = kStreams;
    int run_ahead_from = 0;
};

/// y[v][16 p ... 16 p + 15] = panel p times activation vector v, for every vector and the panels of a range.
struct MatmulJob {
    PanelFormat format;
    int digits;      ///< 1 or 2; 0 for f16
    int64_t m;       ///< activation vectors
    int64_t rows;    ///< of the matrix: y beyond is not written
    int64_t blocks;  ///< a panel, of the format
    size_t panel_bytes;
    const uint8_t* panels;    ///< the first panel of the matrix
    const float* row_scales;  ///< w8, padded to whole panels
    // Activations, by their members' names.
    int64_t padded_k;
    const int8_t* codes;
    const float* scales;
    const int32_t* offsets;
    const float* sums;
    const float* values;
    int64_t first_panel, last_panel;  ///< half-open
    float* y;
    int64_t y_stride;  ///< floats from one vector's results to the next one's
    Prefetch prefetch;
    const uint8_t* next;  ///< what this thread reads afterwards, for the prefetch; nullptr: the same again
};

/// A page of a cache and the tokens of it that count: [begin, end) of 0..64. Windows and partly filled pages
/// are ranges here. The bytes of tokens outside may be anything.
struct PageRef {
    const uint8_t* data;
    int begin, end;
};

inline constexpr int kHighestHeads = 16;  ///< query heads of one job; more heads are more jobs

/// Query heads that share one KV head against a list of pages. Leaves partial results, so that page ranges
/// can go to different threads: m = highest score, l = sum of exp(score - m), o = sum of exp(score - m)
/// value.
struct AttendJob {
    KvFormat format;
    int digits;  ///< int8 and int4: digits of the query and of the probabilities, 1 or 2
    int heads;   ///< 1..kHighestHeads
    int key_dim, value_dim;
    size_t page_scales, page_keys, page_bytes;  ///< of KvPageLayout
    const float* q;                             ///< [heads][q_stride]
    int64_t q_stride;
    float scale;  ///< of the scores, 1 / sqrt(key_dim) as a rule
    const PageRef* pages;
    int64_t page_count;
    Prefetch prefetch;
    const PageRef* next;  ///< what this thread attends to afterwards, for the prefetch
    int64_t next_count;
    float* o;  ///< [heads][value_dim]
    float* m;  ///< [heads]; -infinity when no token counts
    float* l;  ///< [heads]
};

/// How a bandwidth loop touches memory; the best of them is the bandwidth (KERNELS section 5).
enum class Access : uint8_t {
    plain,         ///< one stream, ascending
    near,          ///< with prefetch 4 KiB ahead into L1
    two_level,     ///< and 32 KiB ahead into L2
    streams,       ///< four streams
    streams_near,  ///< with prefetch into L1
    nontemporal,   ///< copy and triad: stores that pass by the caches
};
inline constexpr int kAccessCount = 6;

}  // namespace memwall::kernels
