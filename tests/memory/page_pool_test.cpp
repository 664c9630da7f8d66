#include "core/memory/page_pool.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <string>

#include "core/base/error.h"
#include "tests/catch.h"

using namespace memwall;
using namespace memwall::memory;

namespace {

constexpr std::int64_t kBlock = 4;
using Tokens = std::vector<std::int32_t>;

std::vector<std::uint64_t> names_of(const Tokens& tokens) {
    std::vector<std::uint64_t> names;
    for (std::size_t i = 0; i + kBlock <= tokens.size(); i += kBlock)
        names.push_back(chain_hash(names.empty() ? 0 : names.back(), {tokens.data() + i, kBlock}));
    return names;
}

/// The slow reference: what every page holds, in the plainest containers. It knows nothing of hashes; a page
/// is found by the tokens that lead to its end.
struct Slow {
    struct Page {
        int references = 0;
        Tokens named;          // the whole prefix that ends with this page, once it is published
        Tokens content;        // what was written into it
        long released_at = 0;  // when it became cached
    };
    std::map<PageId, Page> live;  // referenced and cached
    std::map<Tokens, PageId> published;
    long clock = 0;

    void release(PageId id) {
        Page& p = live.at(id);
        if (--p.references > 0) return;
        if (p.named.empty())
            live.erase(id);
        else
            p.released_at = ++clock;
    }
    /// The page that take() must give up when nothing is free.
    PageId oldest_cached() const {
        PageId found = kNoPage;
        for (const auto& [id, p] : live)
            if (p.references == 0 && (found == kNoPage || p.released_at < live.at(found).released_at))
                found = id;
        return found;
    }
    void take(PageId id) {
        if (const auto it = live.find(id); it != live.end()) published.erase(it->second.named);
        live[id] = {1, {}, {}, 0};
    }
    std::int64_t cached() const {
        return std::count_if(live.begin(), live.end(),
                             [](const auto& p) { return p.second.references == 0; });
    }
};

/// A sequence in the pool and what it should read back.
struct Sequence {
    PageTable table;
    Tokens tokens;
};

class World {
  public:
    World(std::int64_t pages, std::uint32_t seed) : pool_(pages, kBlock), rng_(seed) {}

    void step() {
        const int what = pick(12);
        if (sequences_.empty() || (what == 0 && sequences_.size() < 9)) return start();
        Sequence& s = sequences_[static_cast<std::size_t>(pick(static_cast<int>(sequences_.size())))];
        if (what <= 5) {
            append(s, pick(7));
        } else if (what == 6 && sequences_.size() < 9) {
            for (const PageId p : s.table.pages) ++slow_.live.at(p).references;
            Sequence copy{fork(pool_, s.table), s.tokens};
            sequences_.push_back(std::move(copy));
        } else if (what == 7) {
            cut(s, pick(static_cast<int>(s.tokens.size()) + 1));
        } else if (what == 8) {
            cut(s, 0);
            std::swap(s, sequences_.back());
            sequences_.pop_back();
        } else {
            publish(s);
        }
    }

    void compare() {
        pool_.check();
        REQUIRE(pool_.cached() == slow_.cached());
        REQUIRE(pool_.referenced() == static_cast<std::int64_t>(slow_.live.size()) - slow_.cached());
        for (const auto& [id, p] : slow_.live) {
            REQUIRE(pool_.references(id) == p.references);
            REQUIRE(pool_.named(id) == !p.named.empty());
        }
        for (const Sequence& s : sequences_) REQUIRE(read(s) == s.tokens);
    }
    long evictions() const { return pool_.evictions(); }
    long adopted = 0, copies = 0, refused = 0;

  private:
    int pick(int n) { return n <= 1 ? 0 : static_cast<int>(rng_() % static_cast<unsigned>(n)); }

    Tokens read(const Sequence& s) const {
        Tokens all;
        for (const PageId p : s.table.pages) {
            const Tokens& content = slow_.live.at(p).content;
            const auto n = std::min<std::size_t>(kBlock, s.tokens.size() - all.size());
            REQUIRE(content.size() >= n);
            all.insert(all.end(), content.begin(), content.begin() + static_cast<std::ptrdiff_t>(n));
        }
        return all;
    }

    void start() {
        Tokens prompt;
        for (int i = pick(20); i > 0; --i) prompt.push_back(pick(2));
        Sequence s;
        const std::int64_t hit = adopt_prefix(pool_, s.table, names_of(prompt));
        // Brute force: the longest whole-block prefix that somebody published and nobody gave up.
        std::size_t expected = 0;
        while (expected + kBlock <= prompt.size() &&
               slow_.published.count({prompt.begin(), prompt.begin() + static_cast<long>(expected) + kBlock}))
            expected += kBlock;
        REQUIRE(hit == static_cast<std::int64_t>(expected));
        adopted += hit;
        for (const PageId p : s.table.pages) ++slow_.live.at(p).references;
        s.tokens.assign(prompt.begin(), prompt.begin() + hit);
        const Tokens rest(prompt.begin() + hit, prompt.end());
        sequences_.push_back(std::move(s));
        write(sequences_.back(), rest);
    }

    void append(Sequence& s, int n) {
        Tokens more;
        for (int i = 0; i < n; ++i) more.push_back(pick(2));
        write(s, more);
    }

    void write(Sequence& s, const Tokens& more) {
        const auto n = static_cast<std::int64_t>(more.size());
        const std::int64_t wanted = pages_to_grow(pool_, s.table, n), there = pool_.available();
        const PageTable before = s.table;
        // What the pool will do, told before it does: cached pages go in order of their release.
        std::vector<PageId> victims;
        Slow dry = slow_;
        for (std::int64_t i = pool_.free(); i < std::min(wanted, there); ++i) {
            victims.push_back(dry.oldest_cached());
            dry.live.erase(victims.back());
        }
        PageCopy copy;
        if (!grow(pool_, s.table, n, copy)) {
            REQUIRE(wanted > there);
            REQUIRE(s.table.pages == before.pages);
            REQUIRE(s.table.tokens == before.tokens);
            ++refused;
            return;
        }
        REQUIRE(wanted <= there);
        std::set<PageId> fresh(s.table.pages.begin() + static_cast<long>(before.pages.size()),
                               s.table.pages.end());
        if (copy.to != kNoPage) fresh.insert(copy.to);
        REQUIRE(static_cast<std::int64_t>(fresh.size()) == wanted);
        for (const PageId victim : victims) REQUIRE(fresh.count(victim) == 1);
        if (copy.to != kNoPage) {
            ++copies;
            REQUIRE(slow_.live.at(copy.from).references > 1);
            const Tokens content = slow_.live.at(copy.from).content;
            slow_.take(copy.to);
            slow_.live[copy.to].content.assign(content.begin(), content.begin() + copy.tokens);
            slow_.release(copy.from);
        }
        for (const PageId id : fresh)
            if (id != copy.to) slow_.take(id);
        for (const std::int32_t token : more) {
            const auto at = s.tokens.size();
            Slow::Page& page = slow_.live.at(s.table.pages[at / kBlock]);
            REQUIRE(page.references == 1);  // nobody else may see it change
            if (!page.named.empty()) slow_.published.erase(page.named);
            page.named.clear();
            page.content.resize(at % kBlock);
            page.content.push_back(token);
            s.tokens.push_back(token);
        }
    }

    void cut(Sequence& s, int n) {
        for (auto i = s.table.pages.size(); i-- > static_cast<std::size_t>((n + kBlock - 1) / kBlock);)
            slow_.release(s.table.pages[i]);
        truncate(pool_, s.table, n);
        s.tokens.resize(static_cast<std::size_t>(n));
    }

    void publish(Sequence& s) {
        publish_blocks(pool_, s.table, names_of(s.tokens));
        for (std::size_t i = 0; (i + 1) * kBlock <= s.tokens.size(); ++i) {
            const Tokens prefix(s.tokens.begin(), s.tokens.begin() + static_cast<long>(i + 1) * kBlock);
            Slow::Page& page = slow_.live.at(s.table.pages[i]);
            if (page.named.empty() && slow_.published.emplace(prefix, s.table.pages[i]).second)
                page.named = prefix;
        }
    }

    PagePool pool_;
    std::mt19937 rng_;
    Slow slow_;
    std::vector<Sequence> sequences_;
};

}  // namespace

TEST_CASE("a page pool does what the slow reference does", "[memory][page_pool]") {
    const char* given = std::getenv("MEMWALL_TEST_SEED");
    const auto seed = given ? static_cast<std::uint32_t>(std::stoul(given)) : std::random_device{}();
    INFO("MEMWALL_TEST_SEED=" << seed);
#ifdef NDEBUG
    constexpr int kSteps = 1'000'000;
#else
    constexpr int kSteps = 60'000;
#endif
    // From a pool that is always short of pages to one that never is.
    long evictions = 0, adopted = 0, copies = 0, refused = 0;
    for (const int pages : {3, 11, 24, 60}) {
        World world(pages, seed + static_cast<std::uint32_t>(pages));
        for (int i = 0; i < kSteps / 4; ++i) {
            world.step();
            if (i % 64 == 0) world.compare();
        }
        world.compare();
        evictions += world.evictions();
        adopted += world.adopted;
        copies += world.copies;
        refused += world.refused;
    }
    CHECK(evictions > kSteps / 1000);  // all four happened often, else this test says little
    CHECK(adopted > kSteps / 1000);
    CHECK(copies > kSteps / 1000);
    CHECK(refused > kSteps / 1000);
}

TEST_CASE("pages are given out in order and the longest prefix is given up first", "[memory][page_pool]") {
    PagePool pool(4, kBlock);
    PageTable a;
    PageCopy copy;
    REQUIRE(grow(pool, a, 12, copy));
    CHECK(a.pages == std::vector<PageId>{0, 1, 2});
    const Tokens tokens = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    publish_blocks(pool, a, names_of(tokens));
    release(pool, a);
    CHECK(pool.cached() == 3);
    PageTable b;
    REQUIRE(grow(pool, b, 2 * kBlock, copy));  // page 3 was free; then the end of the prefix goes
    CHECK(b.pages == std::vector<PageId>{3, 2});
    CHECK(adopt_prefix(pool, a, names_of(tokens)) == 8);
    PageTable c;
    CHECK_FALSE(grow(pool, c, 1, copy));
}

TEST_CASE("a window drops pages but not those others still see", "[memory][page_pool]") {
    PagePool pool(8, kBlock);
    PageTable a;
    PageCopy copy;
    REQUIRE(grow(pool, a, 14, copy));
    PageTable b = fork(pool, a);
    drop_pages(pool, a, 1, 3);
    CHECK(a.pages[1] == kNoPage);
    CHECK(pool.referenced() == 4);
    release(pool, b);
    CHECK(pool.referenced() == 2);
    CHECK_THROWS_AS(truncate(pool, a, 6), Error);  // its page is gone
    CHECK_THROWS_AS(drop_pages(pool, a, 0, 4), Error);
    release(pool, a);
    CHECK(pool.free() == 8);
    pool.check();
}

TEST_CASE("names depend on every token and all that came before", "[memory][page_pool]") {
    std::set<std::uint64_t> names;
    const Tokens one = {1}, two = {2}, both = {1, 2}, swapped = {2, 1};
    for (const Tokens& t : {one, two, both, swapped, Tokens{}})
        for (const std::uint64_t parent : {0, 1, 2}) names.insert(chain_hash(parent, t));
    CHECK(names.size() == 15);
    CHECK(names.count(0) == 0);
    CHECK_THROWS_AS(PagePool(-1, 16), Error);
    CHECK_THROWS_AS(PagePool(1, 0), Error);
}
