// The two kinds of caches.
#include <algorithm>
#include <string>

#include "core/base/error.h"
#include "kernels/cache/kv_cache.h"

namespace memwall::kernels {
namespace {

std::int64_t blocks_of(std::int64_t tokens) {
    return tokens / kPageTokens + (tokens % kPageTokens != 0);
}

[[noreturn]] void no_such_cut(std::int64_t n, std::int64_t tokens) {
    throw Error("kv cache", "a sequence cut to " + std::to_string(n) + " tokens",
                "0 to " + std::to_string(tokens));
}

/// Sequence i owns blocks [i x blocks a sequence, ...).
class ContiguousCache final : public KvCache {
  public:
    ContiguousCache(const KvShape& shape, const KvSettings& s)
        : KvCache(shape, blocks_of(s.tokens) * s.sequences, s.sequences, s.folder), room_(s.tokens) {}

    std::int64_t pages_in_use() const override { return in_use_; }

    SequenceId fork(SequenceId sequence) override {
        const SequenceId copy = add();
        extend(copy, tokens(sequence));
        for (std::size_t i = 0; i < table(copy).pages.size(); ++i)
            arena_.copy_block(table(sequence).pages[i], table(copy).pages[i]);
        return copy;
    }

    bool extend(SequenceId sequence, std::int64_t n) override {
        memory::PageTable& t = table(sequence);
        if (n < 0 || n > room_ - t.tokens) return false;
        resize(sequence, t.tokens + n);
        return true;
    }

    void truncate(SequenceId sequence, std::int64_t n) override {
        if (n < 0 || n > tokens(sequence)) no_such_cut(n, tokens(sequence));
        resize(sequence, n);
    }

  private:
    void resize(SequenceId sequence, std::int64_t tokens) {
        memory::PageTable& t = table(sequence);
        const auto blocks = static_cast<std::size_t>(blocks_of(tokens));
        in_use_ += static_cast<std::int64_t>(blocks) - static_cast<std::int64_t>(t.pages.size());
        const auto first = static_cast<std::int64_t>(sequence) * blocks_of(room_);
        t.tokens = tokens;
        while (t.pages.size() > blocks) t.pages.pop_back();
        while (t.pages.size() < blocks)
            t.pages.push_back(static_cast<memory::PageId>(first + static_cast<std::int64_t>(t.pages.size())));
    }
    void end(SequenceId sequence) override { resize(sequence, 0); }

    std::int64_t room_, in_use_ = 0;
};

class PagedCache final : public KvCache {
  public:
    PagedCache(const KvShape& shape, const KvSettings& s)
        : KvCache(shape, blocks_of(s.tokens), s.sequences, s.folder),
          pool_(blocks_of(s.tokens), kPageTokens) {}

    std::int64_t pages_in_use() const override { return pool_.referenced(); }

    SequenceId fork(SequenceId sequence) override {
        table(sequence);  // must exist before a new one takes a slot
        const SequenceId copy = add();
        table(copy) = memory::fork(pool_, table(sequence));
        return copy;
    }

    bool extend(SequenceId sequence, std::int64_t n) override {
        if (n < 0) return false;
        memory::PageTable& t = table(sequence);
        // What falls out of the window: the next query sees the window - 1 tokens before it. Nothing is given
        // back before it is sure that the tokens fit, for the last query still sees one token more.
        const std::int64_t first = (shape_.sinks + kPageTokens - 1) / kPageTokens;
        const std::int64_t last =
            shape_.window > 0 ? std::max(first, (t.tokens - shape_.window + 1) / kPageTokens) : first;
        std::int64_t gained = 0;
        for (std::int64_t b = first; b < last; ++b) {
            const memory::PageId page = t.pages[static_cast<std::size_t>(b)];
            gained += page != memory::kNoPage && pool_.references(page) == 1;
        }
        if (memory::pages_to_grow(pool_, t, n) > pool_.available() + gained) return false;
        if (last > first) memory::drop_pages(pool_, t, first, last);
        memory::PageCopy copy;
        memory::grow(pool_, t, n, copy);
        if (copy.to != memory::kNoPage) arena_.copy_block(copy.from, copy.to);
        return true;
    }

    void truncate(SequenceId sequence, std::int64_t n) override {
        memory::PageTable& t = table(sequence);
        if (n < 0 || n > t.tokens) no_such_cut(n, t.tokens);
        // The last token that stays must see its window, too.
        const std::int64_t seen = shape_.window > 0 ? std::max<std::int64_t>(n - shape_.window, 0) : 0;
        for (std::int64_t b = seen / kPageTokens; b * kPageTokens < n; ++b)
            if (t.pages[static_cast<std::size_t>(b)] == memory::kNoPage)
                throw Error("kv cache", "a sequence cut to " + std::to_string(n) + " tokens",
                            "a cut whose window is still held");
        memory::truncate(pool_, t, n);
    }

    std::int64_t adopt_prefix(SequenceId sequence, std::span<const std::uint64_t> names) override {
        return memory::adopt_prefix(pool_, table(sequence), names);
    }
    void publish(SequenceId sequence, std::span<const std::uint64_t> names) override {
        // With a window, a prefix is not whole once pages were dropped; nobody may adopt parts of it.
        const memory::PageTable& t = table(sequence);
        if (std::find(t.pages.begin(), t.pages.end(), memory::kNoPage) == t.pages.end())
            memory::publish_blocks(pool_, t, names);
    }

  private:
    void end(SequenceId sequence) override { memory::release(pool_, table(sequence)); }
    memory::PagePool pool_;
};

void check(const KvShape& shape, const KvSettings& s) {
    if (s.tokens < 1 || s.tokens > std::int64_t{1} << 40 || s.sequences < 1 || s.sequences > 1 << 20)
        throw Error("kv cache",
                    std::to_string(s.sequences) + " sequences, " + std::to_string(s.tokens) + " tokens",
                    "at least one of each, at most 2^20 and 2^40");
    if (shape.layers < 1 || shape.kv_heads < 1 || shape.window < 0 || shape.sinks < 0 ||
        (shape.sinks > 0 && shape.window == 0))
        throw Error("kv cache", "a layer without heads, or sinks without a window", "a layer with a cache");
}

}  // namespace

std::unique_ptr<KvCache> make_kv_cache(const KvShape& shape, const KvSettings& s) {
    check(shape, s);
    if (s.layout == KvSettings::Layout::contiguous) return std::make_unique<ContiguousCache>(shape, s);
    return std::make_unique<PagedCache>(shape, s);
}

Bytes kv_cache_allocation(const KvShape& shape, const KvSettings& s) {
    check(shape, s);
    const std::int64_t sequences = s.layout == KvSettings::Layout::contiguous ? s.sequences : 1;
    const std::int64_t channels = shape.kind.channel_keys ? 2 * shape.streams() * shape.key_dim : 0;
    return Bytes(blocks_of(s.tokens) * sequences * shape.streams() *
                     static_cast<std::int64_t>(shape.page().bytes()) +
                 channels);
}

}  // namespace memwall::kernels
