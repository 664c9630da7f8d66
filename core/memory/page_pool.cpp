#include "core/memory/page_pool.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

#include "core/base/error.h"

namespace memwall::memory {

std::uint64_t chain_hash(std::uint64_t parent, std::span<const std::int32_t> tokens) {
    // The finalizer of splitmix64 after every token: each is a bijection, so only the end can collide.
    std::uint64_t h = parent + 0x9e3779b97f4a7c15u * (tokens.size() + 1);
    for (const std::int32_t token : tokens) {
        h ^= static_cast<std::uint32_t>(token);
        h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9u;
        h = (h ^ h >> 27) * 0x94d049bb133111ebu;
        h = (h ^ h >> 31) + 0x9e3779b97f4a7c15u;
    }
    return h == 0 ? 1 : h;
}

PagePool::PagePool(std::int64_t pages, std::int64_t block_tokens) : block_tokens_(block_tokens) {
    if (pages < 0 || pages > std::numeric_limits<PageId>::max())
        throw Error("page pool", std::to_string(pages) + " pages", "0 to 2^31 - 1");
    if (block_tokens < 1)
        throw Error("page pool", "blocks of " + std::to_string(block_tokens) + " tokens", "at least 1");
    pages_.resize(static_cast<std::size_t>(pages));
    free_.resize(static_cast<std::size_t>(pages));
    // The lowest page is on top: a fresh pool hands out neighbours in order.
    for (std::int64_t i = 0; i < pages; ++i)
        free_[static_cast<std::size_t>(i)] = static_cast<PageId>(pages - 1 - i);
}

void PagePool::link(PageId page) {
    Page& p = pages_[index(page)];
    p.older = newest_;
    p.newer = kNoPage;
    (newest_ == kNoPage ? oldest_ : pages_[index(newest_)].newer) = page;
    newest_ = page;
    ++cached_;
}

void PagePool::unlink(PageId page) {
    Page& p = pages_[index(page)];
    (p.older == kNoPage ? oldest_ : pages_[index(p.older)].newer) = p.newer;
    (p.newer == kNoPage ? newest_ : pages_[index(p.newer)].older) = p.older;
    p.older = p.newer = kNoPage;
    --cached_;
}

void PagePool::set_free(PageId page) {
    pages_[index(page)].free = true;
    free_.push_back(page);
}

PageId PagePool::take() {
    PageId page = kNoPage;
    if (!free_.empty()) {
        page = free_.back();
        free_.pop_back();
    } else if (oldest_ != kNoPage) {
        page = oldest_;
        unlink(page);
        retract(page);
        ++evictions_;
    } else {
        return kNoPage;
    }
    Page& p = pages_[index(page)];
    p.free = false;
    p.references = 1;
    return page;
}

void PagePool::share(PageId page) {
    Page& p = pages_[index(page)];
    if (p.free) throw std::logic_error("page pool: a free page cannot be shared");
    if (p.references == 0) unlink(page);
    ++p.references;
}

void PagePool::release(PageId page) {
    Page& p = pages_[index(page)];
    if (p.references <= 0) throw std::logic_error("page pool: released more often than referenced");
    if (--p.references > 0) return;
    if (p.name != 0)
        link(page);
    else
        set_free(page);
}

void PagePool::publish(PageId page, std::uint64_t name) {
    Page& p = pages_[index(page)];
    if (p.references == 0) throw std::logic_error("page pool: only referenced pages get names");
    if (name == 0 || p.name != 0) return;
    if (names_.try_emplace(name, page).second) p.name = name;
}

void PagePool::retract(PageId page) {
    Page& p = pages_[index(page)];
    if (p.name == 0) return;
    names_.erase(p.name);
    p.name = 0;
}

PageId PagePool::find(std::uint64_t name) const {
    const auto it = names_.find(name);
    return it == names_.end() ? kNoPage : it->second;
}

void PagePool::drop_cached() {
    while (newest_ != kNoPage) {
        const PageId page = newest_;
        unlink(page);
        retract(page);
        set_free(page);
    }
}

void PagePool::check() const {
    const auto expect = [](bool holds, const char* invariant) {
        if (!holds) throw std::logic_error(std::string("page pool: ") + invariant);
    };
    std::int64_t free = 0, cached = 0, referenced = 0, named = 0;
    for (std::size_t i = 0; i < pages_.size(); ++i) {
        const Page& p = pages_[i];
        expect(p.references >= 0, "references are not negative");
        free += p.free;
        cached += !p.free && p.references == 0;
        referenced += p.references > 0;
        named += p.name != 0;
        expect(!p.free || (p.references == 0 && p.name == 0), "a free page has no reference and no name");
        expect(p.free || p.references > 0 || p.name != 0, "a cached page has a name");
        expect(p.name == 0 || find(p.name) == static_cast<PageId>(i), "a name finds its page");
    }
    expect(free == this->free() && cached == this->cached() && referenced == this->referenced(),
           "free + cached + referenced = pages");
    expect(named == static_cast<std::int64_t>(names_.size()), "every name belongs to a page");
    std::vector<bool> seen(pages_.size());
    for (const PageId page : free_) {
        expect(pages_[index(page)].free && !seen[index(page)], "the free list holds each free page once");
        seen[index(page)] = true;
    }
    std::int64_t linked = 0;
    PageId before = kNoPage;
    for (PageId page = oldest_; page != kNoPage; before = page, page = pages_[index(page)].newer, ++linked) {
        const Page& p = pages_[index(page)];
        expect(linked < this->cached() && !p.free && p.references == 0 && p.older == before,
               "the eviction order holds each cached page once");
    }
    expect(linked == this->cached() && before == newest_, "the eviction order holds every cached page");
}

namespace {

std::int64_t blocks_of(const PagePool& pool, std::int64_t tokens) {
    return tokens / pool.block_tokens() + (tokens % pool.block_tokens() != 0);
}
bool copies_last(const PagePool& pool, const PageTable& table) {
    return table.tokens % pool.block_tokens() != 0 && pool.references(table.pages.back()) > 1;
}

}  // namespace

std::int64_t pages_to_grow(const PagePool& pool, const PageTable& table, std::int64_t tokens) {
    if (tokens == 0) return 0;
    return blocks_of(pool, table.tokens + tokens) - static_cast<std::int64_t>(table.pages.size()) +
           copies_last(pool, table);
}

bool grow(PagePool& pool, PageTable& table, std::int64_t tokens, PageCopy& copy) {
    copy = {};
    if (tokens < 0 || tokens > std::numeric_limits<std::int64_t>::max() / 2 - table.tokens)
        throw Error("page pool", std::to_string(tokens) + " tokens more", "a count that fits");
    if (tokens == 0) return true;
    if (pages_to_grow(pool, table, tokens) > pool.available()) return false;
    if (table.tokens % pool.block_tokens() != 0) {
        PageId& last = table.pages.back();
        if (copies_last(pool, table)) {
            copy = {last, pool.take(), table.tokens % pool.block_tokens()};
            pool.release(last);
            last = copy.to;
        } else {
            pool.retract(last);
        }
    }
    table.tokens += tokens;
    while (static_cast<std::int64_t>(table.pages.size()) < blocks_of(pool, table.tokens))
        table.pages.push_back(pool.take());
    return true;
}

void publish_blocks(PagePool& pool, const PageTable& table, std::span<const std::uint64_t> names) {
    const auto full = static_cast<std::size_t>(table.tokens / pool.block_tokens());
    for (std::size_t i = 0; i < std::min(full, names.size()); ++i)
        if (table.pages[i] != kNoPage) pool.publish(table.pages[i], names[i]);
}

std::int64_t adopt_prefix(PagePool& pool, PageTable& table, std::span<const std::uint64_t> names) {
    if (!table.pages.empty()) throw std::logic_error("page pool: only an empty sequence adopts a prefix");
    for (const std::uint64_t name : names) {
        const PageId page = name == 0 ? kNoPage : pool.find(name);
        if (page == kNoPage) break;
        pool.share(page);
        table.pages.push_back(page);
    }
    table.tokens = static_cast<std::int64_t>(table.pages.size()) * pool.block_tokens();
    return table.tokens;
}

PageTable fork(PagePool& pool, const PageTable& table) {
    for (const PageId page : table.pages)
        if (page != kNoPage) pool.share(page);
    return table;
}

void truncate(PagePool& pool, PageTable& table, std::int64_t tokens) {
    if (tokens < 0 || tokens > table.tokens)
        throw Error("page pool", "a sequence cut to " + std::to_string(tokens) + " tokens",
                    "0 to " + std::to_string(table.tokens));
    const auto keep = static_cast<std::size_t>(blocks_of(pool, tokens));
    if (tokens % pool.block_tokens() != 0 && table.pages[keep - 1] == kNoPage)
        throw Error("page pool", "a cut at token " + std::to_string(tokens), "a token inside the window");
    for (; table.pages.size() > keep; table.pages.pop_back())
        if (table.pages.back() != kNoPage) pool.release(table.pages.back());
    table.tokens = tokens;
}

void drop_pages(PagePool& pool, PageTable& table, std::int64_t first, std::int64_t last) {
    const auto full = table.tokens / pool.block_tokens();
    if (first < 0 || last > full)
        throw Error("page pool", "pages up to " + std::to_string(last) + " dropped",
                    "full pages, of which there are " + std::to_string(full));
    for (std::int64_t i = last - 1; i >= first; --i) {
        PageId& page = table.pages[static_cast<std::size_t>(i)];
        if (page != kNoPage) pool.release(page);
        page = kNoPage;
    }
}

void release(PagePool& pool, PageTable& table) {
    truncate(pool, table, 0);
}

}  // namespace memwall::memory
