// Attention over a KV cache, shared among threads: by pages when one token asks, by tokens and heads when
// many do.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/cache/kv_cache.h"
#include "kernels/simd/kernels.h"

namespace memwall::kernels {

struct AttentionStep {
    const Kernels* kernels = nullptr;
    const KvCache* cache = nullptr;
    SequenceId sequence = 0;
    std::int64_t layer = 0;         ///< of the cache
    std::int64_t first = 0, m = 0;  ///< positions first ... first + m - 1 ask
    std::int64_t group_heads = 0;   ///< query heads of a KV head
    int digits = 2;
    const float* q = nullptr;  ///< [m][KV heads x group_heads][key_dim], rotated
    float* out = nullptr;      ///< [m][KV heads x group_heads][value_dim]
};

/// Room that one thread needs; allocated once.
class AttentionScratch {
  public:
    /// For at most `pages` pages a query and `group_heads` heads of these widths.
    AttentionScratch(std::int64_t pages, std::int64_t group_heads, int key_dim, int value_dim);
    static std::size_t bytes(std::int64_t pages, std::int64_t group_heads, int key_dim, int value_dim);
    std::size_t allocated() const;

    std::vector<PageRef> first, last, common, own;
    std::vector<float> q;
    AttentionPart common_part, own_part;
};

/// What threads leave of one token's heads: parts[KV head][slot], `slots` in use.
struct SharedParts {
    SharedParts(std::int64_t kv_heads, int threads, std::int64_t group_heads, int value_dim);
    static std::size_t bytes(std::int64_t kv_heads, int threads, std::int64_t group_heads, int value_dim);
    std::size_t allocated() const;

    std::vector<AttentionPart> parts;
    int threads;
};

/// m = 1: the thread's share of all (KV head, page) pairs. Afterwards, behind a barrier, merge_one().
void attend_one(const AttentionStep& step, int thread, AttentionScratch& scratch, SharedParts& shared);
void merge_one(const AttentionStep& step, const SharedParts& shared);

/// m > 1: every threads-th pair of a run of tokens and a KV head. Pages that all tokens of the run see in the
/// same way are read once for all their heads.
void attend_many(const AttentionStep& step, int thread, int threads, AttentionScratch& scratch);

}  // namespace memwall::kernels
