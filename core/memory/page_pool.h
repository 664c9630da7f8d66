// Bookkeeping of paged caches: which page holds which block of tokens, who refers to it, and which one is
// given up next. Pure: it hands out numbers, the bytes are elsewhere. The KV caches of kernels/ and the
// simulator use the same pool, so that blocks agree at every step.
//
// A page is in one of three states:
//   free        nobody refers to it and its content is forgotten
//   cached      nobody refers to it, but its content has a name (a prefix hash) and may be adopted again
//   referenced  `references` tables hold it; it may have a name too
//
// free + cached + referenced = pages at all times. Pages are taken from the free ones first (the one freed
// last), then from the cached ones, least recently released first. Everything is deterministic.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace memwall::memory {

using PageId = std::int32_t;
inline constexpr PageId kNoPage = -1;

/// Name of a block of tokens together with everything before it: equal names mean equal prefixes, up to
/// collisions of 64 bits. `parent` is the name of the block before, 0 for the first. Never 0.
std::uint64_t chain_hash(std::uint64_t parent, std::span<const std::int32_t> tokens);

class PagePool {
  public:
    /// Throws Error unless 0 <= pages < 2^31 and block_tokens >= 1.
    PagePool(std::int64_t pages, std::int64_t block_tokens);

    std::int64_t block_tokens() const { return block_tokens_; }
    std::int64_t pages() const { return static_cast<std::int64_t>(pages_.size()); }
    std::int64_t free() const { return static_cast<std::int64_t>(free_.size()); }
    std::int64_t cached() const { return cached_; }
    std::int64_t referenced() const { return pages() - free() - cached(); }
    /// Pages that take() can still give.
    std::int64_t available() const { return free() + cached(); }
    std::int64_t evictions() const { return evictions_; }  ///< cached pages given up so far
    std::int32_t references(PageId page) const { return pages_[index(page)].references; }
    bool named(PageId page) const { return pages_[index(page)].name != 0; }

    /// A page with one reference and no name; kNoPage when none is available.
    PageId take();
    /// One reference more; a cached page is referenced again.
    void share(PageId page);
    /// One reference less. The last one makes the page cached when it has a name, else free.
    void release(PageId page);
    /// Names a referenced page. Nothing happens when it has a name, or another page has this one: the first
    /// keeps it.
    void publish(PageId page, std::uint64_t name);
    /// Takes the name away, because the content is about to change.
    void retract(PageId page);
    /// The page of that name, referenced or cached; kNoPage when there is none.
    PageId find(std::uint64_t name) const;
    /// Forgets all cached pages.
    void drop_cached();

    /// Walks everything; throws std::logic_error naming the first invariant that does not hold.
    void check() const;

  private:
    struct Page {
        std::int32_t references = 0;
        PageId older = kNoPage, newer = kNoPage;  ///< in the eviction order, while cached
        std::uint64_t name = 0;
        bool free = true;
    };
    static std::size_t index(PageId page) { return static_cast<std::size_t>(page); }
    void link(PageId page);    // newest of the cached ones
    void unlink(PageId page);  // out of the eviction order
    void set_free(PageId page);

    std::int64_t block_tokens_;
    std::vector<Page> pages_;
    std::vector<PageId> free_;  // a stack
    std::unordered_map<std::uint64_t, PageId> names_;
    PageId oldest_ = kNoPage, newest_ = kNoPage;
    std::int64_t cached_ = 0, evictions_ = 0;
};

/// Pages of one sequence, in token order. A dropped page (outside a sliding window) is kNoPage.
struct PageTable {
    std::vector<PageId> pages;
    std::int64_t tokens = 0;
};

/// A page whose content must be copied before the sequence writes into it: `tokens` tokens of `from` to `to`.
struct PageCopy {
    PageId from = kNoPage, to = kNoPage;
    std::int64_t tokens = 0;
};

/// Pages that grow() would take for `tokens` more.
std::int64_t pages_to_grow(const PagePool& pool, const PageTable& table, std::int64_t tokens);

/// Makes room for `tokens` more at the end. All or nothing: false and nothing changed when pages are missing.
/// When the last page is partly filled and others refer to it, it is replaced by a new one and `copy` says
/// what to copy (copy on write); `copy.to` is kNoPage otherwise. When it is ours alone but named, it loses
/// its name.
bool grow(PagePool& pool, PageTable& table, std::int64_t tokens, PageCopy& copy);

/// Names the full blocks of a table: names[i] belongs to block i. Dropped pages are left out.
void publish_blocks(PagePool& pool, const PageTable& table, std::span<const std::uint64_t> names);

/// Fills an empty table with the longest run of named pages and returns how many tokens that saves.
std::int64_t adopt_prefix(PagePool& pool, PageTable& table, std::span<const std::uint64_t> names);

/// A second sequence over the same pages.
PageTable fork(PagePool& pool, const PageTable& table);

/// Keeps the first `tokens` tokens.
void truncate(PagePool& pool, PageTable& table, std::int64_t tokens);

/// Lets go of pages [first, last), which fell out of the window.
void drop_pages(PagePool& pool, PageTable& table, std::int64_t first, std::int64_t last);

/// The end of a sequence. Its last page goes first, so that of cached pages the longest prefixes are given up
/// first.
void release(PagePool& pool, PageTable& table);

}  // namespace memwall::memory
