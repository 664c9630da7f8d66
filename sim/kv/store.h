// Where sequences keep their keys and values: pages or contiguous runs of cells. A store counts tokens; what
// a token weighs is known outside. Pages are core's page pool, the one that the real caches use.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "core/memory/page_pool.h"
#include "sim/kv/extents.h"

namespace memwall::sim {

enum class KvLayout : std::uint8_t { paged, contiguous };
std::string_view layout_name(KvLayout layout);

/// What one sequence holds.
struct Holding {
    memory::PageTable table;    ///< paged
    std::int64_t start = -1;    ///< contiguous: first cell, -1 = none
    std::int64_t room = 0;      ///< contiguous: cells taken
    std::int64_t tokens = 0;    ///< stored
    std::int64_t dropped = 0;   ///< pages that fell out of the window
    std::int64_t promised = 0;  ///< paged: pages set aside for it in all
    bool holds_anything() const { return tokens > 0 || room > 0 || promised > 0; }
};

struct StoreSettings {
    KvLayout layout = KvLayout::paged;
    std::int64_t cells = 0;  ///< tokens that fit in all
    std::int64_t block_tokens = 16;
    bool prefix_cache = true;  ///< paged: full blocks are found again by name
    Fit fit = Fit::first;
    std::int64_t window = 0, sinks = 0;  ///< paged, all layers windowed: tokens kept; 0 = all
    std::int64_t chunk = 1;  ///< tokens added at once at most: they need room before old ones may go
};

class KvStore {
  public:
    virtual ~KvStore() = default;
    /// Whether a sequence of so many tokens would fit into an empty store.
    virtual bool could_hold(std::int64_t tokens) const = 0;
    /// Fills an empty holding with what is cached under these names; returns the tokens it saves.
    virtual std::int64_t adopt(Holding& h, std::span<const std::uint64_t> names) = 0;
    /// Sets room for `tokens` in all aside. False and nothing changed when there is none.
    virtual bool promise(Holding& h, std::int64_t tokens) = 0;
    /// Room for `tokens` more. False and nothing changed when there is none.
    virtual bool grow(Holding& h, std::int64_t tokens) = 0;
    /// Keeps the first `tokens` tokens: rejected drafts go.
    virtual void cut(Holding& h, std::int64_t tokens) = 0;
    virtual void publish(Holding& h, std::span<const std::uint64_t> names) = 0;
    virtual void release(Holding& h) = 0;
    /// Everything that nobody holds is forgotten.
    virtual void forget() = 0;

    virtual KvLayout layout() const = 0;
    virtual std::int64_t block_tokens() const = 0;
    virtual std::int64_t cells() const = 0;
    virtual std::int64_t occupied() const = 0;  ///< cells held by sequences or set aside
    virtual std::int64_t cached() const = 0;    ///< cells that only the prefix cache keeps
    virtual std::int64_t largest_hole() const = 0;
    /// Cells that are taken; what is set aside may still be lent to the prefix cache.
    std::int64_t in_use() const { return std::min(cells(), occupied() + cached()); }
    virtual void check() const = 0;  ///< throws std::logic_error when an invariant does not hold
    std::int64_t wasted() const { return held_ - tokens_; }  ///< cells held beyond the tokens stored
    std::int64_t tokens() const { return tokens_; }
    /// Tokens of a sequence that are there: those that fell out of the window are not.
    std::int64_t stored(const Holding& h) const { return h.tokens - h.dropped * block_tokens(); }
    std::int64_t copied() const {
        return copied_;
    }  ///< tokens moved to another place because they had to grow
    std::int64_t evicted() const { return evicted_; }  ///< cells taken from the prefix cache

  protected:
    std::int64_t tokens_ = 0, held_ = 0, copied_ = 0, evicted_ = 0;
};

/// Throws Error for sizes that make no store.
std::unique_ptr<KvStore> make_store(const StoreSettings& settings);

}  // namespace memwall::sim
