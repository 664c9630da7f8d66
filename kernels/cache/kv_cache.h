// KV caches of a group of layers that are alike. Whatever the kind, a sequence is a table of pages of 64
// tokens (kv_page.h), and attention gets a list of them:
//
//   contiguous   every sequence has its room from the start; a fork copies
//   paged        pages come from a pool as sequences grow, are shared by forks and by equal prefixes and are
//                copied when one of those who share writes; windowed layers give back what fell out of the
//                window, but not the sinks
//
// Both keep f16, int8 or int4 pages (a scale a token and head), with keys scaled by channel if asked, in
// memory or in a file.
//
//   cache.extend(sequence, n);                                   // room for n tokens, all layers
//   cache.store(sequence, layer, head, first, n, keys, values);  // for each layer and head
//   cache.pages(sequence, layer, head, position, pages);         // what the query at `position` attends to
//
// Calls for different (layer, head) may run at the same time; everything else may not.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/units.h"
#include "core/memory/page_pool.h"
#include "kernels/cache/page_arena.h"
#include "kernels/panels/kv_page.h"
#include "kernels/simd/jobs.h"

namespace memwall::kernels {

/// A row of the table of cache types the engine knows; names as in core/quant/kv_type.h.
struct KvKind {
    std::string_view name;
    KvFormat format;
    bool channel_keys;  ///< keys are divided by a scale a channel before they get that of their token
};
inline constexpr KvKind kKvKinds[] = {
    {"f16", KvFormat::f16, false},          {"int8", KvFormat::int8, false},
    {"int4", KvFormat::int4, false},        {"int8-channel", KvFormat::int8, true},
    {"int4-channel", KvFormat::int4, true},
};
/// Throws Error (place "--kv") naming the known ones.
const KvKind& find_kv_kind(std::string_view name);

struct KvShape {
    std::int64_t layers = 0, kv_heads = 0;
    int key_dim = 0, value_dim = 0;
    std::int64_t window = 0;  ///< tokens a query sees, itself included; 0 = all before it
    std::int64_t sinks = 0;   ///< with a window: first tokens that are always seen
    KvKind kind = kKvKinds[0];

    std::int64_t streams() const { return layers * kv_heads; }
    KvPageLayout page() const { return kv_page_layout(kind.format, key_dim, value_dim); }
};

struct KvSettings {
    enum class Layout : std::uint8_t { contiguous, paged } layout = Layout::paged;
    std::int64_t tokens = 0;     ///< contiguous: of one sequence; paged: of all together, in whole pages each
    std::int64_t sequences = 1;  ///< at the same time
    std::string folder;          ///< of the file that holds the pages; empty = memory
};

using SequenceId = std::int32_t;

/// Pages a sequence of a windowed layer holds at most when it is extended by up to `chunk` tokens at once.
std::int64_t window_pages(const KvShape& shape, std::int64_t chunk);

class KvCache {
  public:
    virtual ~KvCache() = default;
    KvCache(const KvCache&) = delete;
    KvCache& operator=(const KvCache&) = delete;

    const KvShape& shape() const { return shape_; }
    /// Of the pages and channel scales: what was asked of the system, used or not.
    Bytes allocated() const;
    /// Pages that sequences refer to; a shared one counts once.
    virtual std::int64_t pages_in_use() const = 0;
    const PageArena& arena() const { return arena_; }

    /// An empty sequence. Throws Error when there are as many as the settings allow.
    SequenceId add();
    /// Ends a sequence; its number may come again.
    void remove(SequenceId sequence);
    /// A second sequence with the same tokens. Throws Error without room for it.
    virtual SequenceId fork(SequenceId sequence) = 0;
    std::int64_t tokens(SequenceId sequence) const { return table(sequence).tokens; }

    /// Room for n tokens at the end. False, and nothing changes, when there is none.
    virtual bool extend(SequenceId sequence, std::int64_t n) = 0;
    /// Keeps the first n tokens. Throws Error when the window of the last of them was given back already.
    virtual void truncate(SequenceId sequence, std::int64_t n) = 0;

    /// Tokens first ... first + n - 1 of one layer and head. Row i of `keys` starts at keys[i x stride].
    void store(SequenceId sequence, std::int64_t layer, std::int64_t head, std::int64_t first, std::int64_t n,
               const float* keys, std::int64_t key_stride, const float* values, std::int64_t value_stride);
    /// Pages, and which tokens of them, that the query at `position` (already extended to) attends to.
    void pages(SequenceId sequence, std::int64_t layer, std::int64_t head, std::int64_t position,
               std::vector<PageRef>& into) const;
    /// Queries of the head, multiplied in place by the channel scales of its keys. Nothing without them.
    void fold_channel_scales(std::int64_t layer, std::int64_t head, std::span<float> query) const;

    /// Paged: an empty sequence takes the longest prefix whose blocks are named so; tokens saved.
    virtual std::int64_t adopt_prefix(SequenceId, std::span<const std::uint64_t>) { return 0; }
    /// Paged: names the full blocks of a sequence for others to adopt.
    virtual void publish(SequenceId, std::span<const std::uint64_t>) {}

  protected:
    KvCache(const KvShape& shape, std::int64_t blocks, std::int64_t sequences, const std::string& folder);
    memory::PageTable& table(SequenceId sequence);
    const memory::PageTable& table(SequenceId sequence) const;
    virtual void end(SequenceId sequence) = 0;

    KvShape shape_;
    KvPageLayout layout_;
    PageArena arena_;

  private:
    struct Slot {
        bool used = false;
        memory::PageTable table;
    };
    void learn_channels(std::int64_t stream, std::int64_t n, const float* keys, std::int64_t stride);
    std::int64_t stream_of(std::int64_t layer, std::int64_t head) const;

    std::vector<Slot> slots_;
    std::vector<std::uint16_t> channel_scales_;  // fp16 [stream][key_dim]; 0 = not learned yet
};

/// Throws Error for shapes and sizes that cannot be.
std::unique_ptr<KvCache> make_kv_cache(const KvShape& shape, const KvSettings& settings);
/// Bytes that make_kv_cache() would allocate.
Bytes kv_cache_allocation(const KvShape& shape, const KvSettings& settings);

}  // namespace memwall::kernels
