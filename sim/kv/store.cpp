#include "sim/kv/store.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "core/base/error.h"

namespace memwall::sim {
namespace {

class Pages : public KvStore {
  public:
    explicit Pages(const StoreSettings& s)
        : settings_(s), pool_(s.cells / s.block_tokens, s.block_tokens), block_(s.block_tokens) {}

    bool could_hold(std::int64_t tokens) const override { return blocks(kept(tokens)) <= pool_.pages(); }

    std::int64_t adopt(Holding& h, std::span<const std::uint64_t> names) override {
        if (!settings_.prefix_cache || settings_.window > 0) return 0;
        h.tokens = memory::adopt_prefix(pool_, h.table, names);
        count(h, 0, 0);
        return h.tokens;
    }

    bool promise(Holding& h, std::int64_t tokens) override {
        const std::int64_t more = blocks(kept(tokens)) - pages_of(h) - outstanding(h);
        if (more > pool_.available() - promised_) return false;
        promised_ += more;
        h.promised = std::max(h.promised, blocks(kept(tokens)));
        return true;
    }

    bool grow(Holding& h, std::int64_t tokens) override {
        const std::int64_t before = pages_of(h), open = outstanding(h), stored = this->stored(h);
        // Pages promised to others stay where they are.
        if (memory::pages_to_grow(pool_, h.table, tokens) - open > pool_.available() - promised_)
            return false;
        memory::PageCopy copy;
        const std::int64_t evictions = pool_.evictions();
        if (!memory::grow(pool_, h.table, tokens, copy)) return false;
        if (copy.to != memory::kNoPage) copied_ += copy.tokens;
        evicted_ += (pool_.evictions() - evictions) * block_;
        h.tokens = h.table.tokens;
        drop_old(h);
        promised_ -= open - outstanding(h);
        count(h, before, stored);
        return true;
    }

    void cut(Holding& h, std::int64_t tokens) override {
        const std::int64_t before = pages_of(h), open = outstanding(h), stored = this->stored(h);
        memory::truncate(pool_, h.table, tokens);
        h.tokens = tokens;
        promised_ += outstanding(h) - open;
        count(h, before, stored);
    }

    void publish(Holding& h, std::span<const std::uint64_t> names) override {
        if (settings_.prefix_cache && settings_.window == 0) memory::publish_blocks(pool_, h.table, names);
    }

    void release(Holding& h) override {
        const std::int64_t before = pages_of(h), stored = this->stored(h);
        promised_ -= outstanding(h);
        memory::release(pool_, h.table);
        h = {};
        count(h, before, stored);
    }

    void forget() override { pool_.drop_cached(); }

    KvLayout layout() const override { return KvLayout::paged; }
    std::int64_t block_tokens() const override { return block_; }
    std::int64_t cells() const override { return pool_.pages() * block_; }
    std::int64_t occupied() const override { return (pool_.referenced() + promised_) * block_; }
    std::int64_t cached() const override { return pool_.cached() * block_; }
    std::int64_t largest_hole() const override { return (pool_.available() - promised_) * block_; }
    void check() const override {
        pool_.check();
        if (promised_ < 0 || promised_ > pool_.available())
            throw std::logic_error("kv store: more pages promised than there are");
    }

  private:
    std::int64_t blocks(std::int64_t tokens) const { return (tokens + block_ - 1) / block_; }
    /// Tokens that stay when `tokens` have passed; a page at either end may hold others.
    std::int64_t kept(std::int64_t tokens) const {
        if (settings_.window == 0) return tokens;
        return std::min(tokens,
                        blocks(settings_.sinks) * block_ + settings_.window + settings_.chunk + 2 * block_);
    }
    std::int64_t pages_of(const Holding& h) const {
        return static_cast<std::int64_t>(h.table.pages.size()) - h.dropped;
    }
    std::int64_t outstanding(const Holding& h) const {
        return std::max<std::int64_t>(0, h.promised - pages_of(h));
    }
    void drop_old(Holding& h) {
        if (settings_.window == 0) return;
        const std::int64_t first = blocks(settings_.sinks), last = (h.tokens - settings_.window) / block_;
        if (h.tokens <= settings_.window || last <= first + h.dropped) return;
        memory::drop_pages(pool_, h.table, first + h.dropped, last);
        h.dropped = last - first;
    }
    void count(const Holding& h, std::int64_t pages_before, std::int64_t tokens_before) {
        held_ += (pages_of(h) - pages_before) * block_;
        tokens_ += this->stored(h) - tokens_before;
    }

    StoreSettings settings_;
    memory::PagePool pool_;
    std::int64_t block_, promised_ = 0;
};

class Runs : public KvStore {
  public:
    explicit Runs(const StoreSettings& s) : extents_(s.cells, s.fit), block_(s.block_tokens) {}

    bool could_hold(std::int64_t tokens) const override {
        return extents_.occupied_by(tokens) <= extents_.cells();
    }
    std::int64_t adopt(Holding&, std::span<const std::uint64_t>) override { return 0; }

    bool promise(Holding& h, std::int64_t tokens) override {
        if (tokens <= h.room) return true;
        return move(h, tokens);
    }

    bool grow(Holding& h, std::int64_t tokens) override {
        if (h.tokens + tokens > h.room) {
            // By half again, so that the copies of a long answer add up to a few times its length.
            const std::int64_t wanted = rounded(h.tokens + tokens + h.tokens / 2), least = h.tokens + tokens;
            if (!move(h, wanted) && !move(h, least)) return false;
        }
        h.tokens += tokens;
        tokens_ += tokens;
        return true;
    }

    void cut(Holding& h, std::int64_t tokens) override {
        tokens_ -= h.tokens - tokens;
        h.tokens = tokens;
    }
    void publish(Holding&, std::span<const std::uint64_t>) override {}

    void release(Holding& h) override {
        if (h.room > 0) extents_.give(h.start, h.room);
        held_ -= h.room > 0 ? extents_.occupied_by(h.room) : 0;
        tokens_ -= h.tokens;
        h = {};
    }
    void forget() override {}

    KvLayout layout() const override { return KvLayout::contiguous; }
    std::int64_t block_tokens() const override { return block_; }
    std::int64_t cells() const override { return extents_.cells(); }
    std::int64_t occupied() const override { return extents_.cells() - extents_.free(); }
    std::int64_t cached() const override { return 0; }
    std::int64_t largest_hole() const override { return extents_.largest_hole(); }
    void check() const override {
        if (occupied() != held_) throw std::logic_error("kv store: taken cells and holes do not add up");
    }

  private:
    std::int64_t rounded(std::int64_t tokens) const { return (tokens + block_ - 1) / block_ * block_; }
    bool move(Holding& h, std::int64_t room) {
        const std::int64_t start = extents_.take(room);
        if (start < 0) return false;
        if (h.room > 0) {
            copied_ += h.tokens;
            extents_.give(h.start, h.room);
            held_ -= extents_.occupied_by(h.room);
        }
        h.start = start;
        h.room = room;
        held_ += extents_.occupied_by(room);
        return true;
    }

    Extents extents_;
    std::int64_t block_;
};

}  // namespace

std::string_view layout_name(KvLayout layout) {
    constexpr std::array<std::string_view, 2> kNames{"paged", "contiguous"};
    return kNames[static_cast<std::size_t>(layout)];
}

std::unique_ptr<KvStore> make_store(const StoreSettings& s) {
    if (s.block_tokens < 1 || s.cells < s.block_tokens)
        throw Error("kv pool", fmt::format("{} tokens in blocks of {}", s.cells, s.block_tokens),
                    "room for one block at least");
    if (s.cells > std::int64_t{1} << 40)
        throw Error("kv pool", fmt::format("{} tokens", s.cells), "at most 2^40");
    if (s.layout == KvLayout::paged) return std::make_unique<Pages>(s);
    return std::make_unique<Runs>(s);
}

}  // namespace memwall::sim
