#include <algorithm>
#include <cmath>
#include <vector>

#include "sim/event/random.h"
#include "sim/kv/store.h"
#include "tests/catch.h"

using namespace memwall::sim;

namespace {

/// The slowest thinkable allocator: one flag a cell.
struct SlowCells {
    std::vector<bool> taken;
    std::int64_t first_fit(std::int64_t n) const {
        std::int64_t run = 0;
        for (std::size_t i = 0; i < taken.size(); ++i) {
            run = taken[i] ? 0 : run + 1;
            if (run == n) return static_cast<std::int64_t>(i) + 1 - n;
        }
        return -1;
    }
    std::int64_t largest() const {
        std::int64_t run = 0, most = 0;
        for (const bool t : taken) most = std::max(most, run = t ? 0 : run + 1);
        return most;
    }
    void set(std::int64_t start, std::int64_t n, bool to) {
        for (std::int64_t i = start; i < start + n; ++i) {
            REQUIRE(taken[static_cast<std::size_t>(i)] != to);
            taken[static_cast<std::size_t>(i)] = to;
        }
    }
};

}  // namespace

TEST_CASE("runs of cells never overlap and first fit finds the first hole", "[sim][kv]") {
    for (const Fit fit : {Fit::first, Fit::best, Fit::buddy}) {
        Random random(5, "extents", static_cast<std::uint64_t>(fit));
        Extents extents(500, fit);
        SlowCells slow{std::vector<bool>(500)};
        std::vector<std::pair<std::int64_t, std::int64_t>> held;
        for (int i = 0; i < 20'000; ++i) {
            if (held.empty() || random.uniform() < 0.55) {
                const auto n = static_cast<std::int64_t>(1 + random.bits() % 60);
                const std::int64_t start = extents.take(n);
                if (fit == Fit::first) REQUIRE(start == slow.first_fit(n));
                if (fit != Fit::buddy) REQUIRE((start >= 0) == (slow.largest() >= n));
                if (start < 0) continue;
                slow.set(start, extents.occupied_by(n), true);
                held.emplace_back(start, n);
            } else {
                const std::size_t which = random.bits() % held.size();
                const auto [start, n] = held[which];
                extents.give(start, n);
                slow.set(start, extents.occupied_by(n), false);
                held.erase(held.begin() + static_cast<std::ptrdiff_t>(which));
            }
            if (fit != Fit::buddy) REQUIRE(extents.largest_hole() == slow.largest());
            REQUIRE(extents.free() == std::count(slow.taken.begin(), slow.taken.end(), false));
        }
        for (const auto& [start, n] : held) extents.give(start, n);
        CHECK(extents.largest_hole() == (fit == Fit::buddy ? 256 : 500));  // everything has joined again
    }
}

TEST_CASE("first fit in equilibrium has half as many holes as runs", "[sim][kv]") {
    // Knuth's fifty-percent rule, TAOCP 1, 2.5: N = M/2 where exact fits are rare.
    Random random(6, "fifty");
    Extents extents(4'000'000, Fit::first);
    std::vector<std::pair<std::int64_t, std::int64_t>> held;
    double holes = 0, runs = 0;
    for (int i = 0; i < 60'000; ++i) {
        if (held.size() < 500) {
            const auto n = static_cast<std::int64_t>(100 + random.bits() % 3900);
            held.emplace_back(extents.take(n), n);
        } else {
            const std::size_t which = random.bits() % held.size();
            extents.give(held[which].first, held[which].second);
            held[which] = held.back();
            held.pop_back();
        }
        if (i > 20'000) {
            holes += static_cast<double>(extents.holes());
            runs += static_cast<double>(held.size());
        }
    }
    CHECK(holes / runs == Approx(0.5).margin(0.06));
}

TEST_CASE("a paged store wastes less than a block a sequence and keeps its promises", "[sim][kv]") {
    Random random(7, "store");
    const auto store = make_store({.layout = KvLayout::paged, .cells = 1600, .block_tokens = 16});
    std::vector<std::pair<Holding, std::int64_t>> held;  // with what was promised
    for (int i = 0; i < 100'000; ++i) {
        const double dice = random.uniform();
        if (held.size() < 20 && dice < 0.1) {
            Holding h;
            const auto most = static_cast<std::int64_t>(20 + random.bits() % 300);
            if (dice < 0.05) {
                if (!store->promise(h, most)) continue;
                held.emplace_back(std::move(h), most);
            } else if (store->grow(h, 1)) {
                held.emplace_back(std::move(h), 0);
            }
        } else if (!held.empty()) {
            auto& [h, most] = held[random.bits() % held.size()];
            if (dice < 0.9 && (most == 0 || h.tokens < most)) {
                const bool grew = store->grow(h, 1);
                if (most > 0) REQUIRE(grew);  // it was promised
            } else if (dice < 0.92 && h.tokens > 3) {
                store->cut(h, h.tokens - 3);
            } else if (dice > 0.96) {
                store->release(h);
                held.erase(std::find_if(held.begin(), held.end(),
                                        [](const auto& x) { return !x.first.holds_anything(); }));
            }
        }
        store->check();
        std::int64_t tokens = 0;
        for (const auto& [h, most] : held) tokens += h.tokens;
        REQUIRE(store->tokens() == tokens);
        REQUIRE(store->wasted() >= 0);
        REQUIRE(store->wasted() < 16 * static_cast<std::int64_t>(held.size()) + 1);
    }
}

TEST_CASE("a windowed sequence stops growing at sinks and window", "[sim][kv]") {
    const auto store = make_store(
        {.layout = KvLayout::paged, .cells = 16'000, .block_tokens = 16, .window = 256, .sinks = 4});
    Holding h;
    std::int64_t most = 0;
    for (int i = 0; i < 5000; ++i) {
        REQUIRE(store->grow(h, 1));
        most = std::max(most, store->occupied());
        // At least the sinks' block and the window, at most a block more at either end.
        if (i > 300) REQUIRE((store->occupied() >= 16 + 256 && store->occupied() <= 16 + 256 + 32));
        store->check();
    }
    CHECK(store->could_hold(1'000'000'000));
    store->release(h);
    CHECK(store->occupied() == 0);
}

TEST_CASE("prefix hits are the longest shared run of blocks that is still there", "[sim][kv]") {
    // LRU under independent Zipf prefixes of one block against Che's approximation, within two points.
    constexpr int kPrefixes = 2000, kRoom = 200;
    const auto store = make_store({.layout = KvLayout::paged, .cells = kRoom * 16, .block_tokens = 16});
    std::vector<double> p(kPrefixes), cumulated(kPrefixes);
    double sum = 0;
    for (int i = 0; i < kPrefixes; ++i) sum += p[static_cast<std::size_t>(i)] = std::pow(i + 1, -0.8);
    double c = 0;
    for (std::size_t i = 0; i < p.size(); ++i) cumulated[i] = c += p[i] /= sum;
    Random random(8, "zipf");
    std::int64_t hits = 0, draws = 0;
    for (int i = 0; i < 400'000; ++i) {
        const auto which = static_cast<std::uint64_t>(
            std::lower_bound(cumulated.begin(), cumulated.end(), random.uniform()) - cumulated.begin());
        const std::uint64_t name = mixed(which + 1) | 1;
        Holding h;
        const std::int64_t saved = store->adopt(h, {&name, 1});
        if (saved == 0) {
            REQUIRE(store->grow(h, 16));
            store->publish(h, {&name, 1});
        }
        store->release(h);
        if (i >= 50'000) hits += saved > 0, ++draws;
    }
    double low = 0, high = 1e7;  // Che: sum_i 1 - exp(-p_i t) = room
    for (int i = 0; i < 100; ++i) {
        const double t = (low + high) / 2;
        double filled = 0;
        for (const double x : p) filled += 1 - std::exp(-x * t);
        (filled < kRoom ? low : high) = t;
    }
    double che = 0;
    for (const double x : p) che += x * (1 - std::exp(-x * low));
    CHECK(static_cast<double>(hits) / static_cast<double>(draws) == Approx(che).margin(0.02));
}

TEST_CASE("pages admit at least as many sequences as runs of the same size", "[sim][kv]") {
    Random random(9, "admit");
    for (int round = 0; round < 200; ++round) {
        const auto pages = make_store({.layout = KvLayout::paged, .cells = 4096, .block_tokens = 16});
        const auto runs = make_store({.layout = KvLayout::contiguous, .cells = 4096, .block_tokens = 16});
        int in_pages = 0, in_runs = 0;
        for (int i = 0; i < 64; ++i) {
            const auto used = static_cast<std::int64_t>(1 + random.bits() % 20) * 16;
            const std::int64_t reserved = used + static_cast<std::int64_t>(random.bits() % 20) * 16;
            Holding a, b;
            in_pages += pages->grow(a, used);
            in_runs += runs->promise(b, reserved);
        }
        REQUIRE(in_pages >= in_runs);
    }
}

TEST_CASE("a contiguous sequence that outgrows its run is copied", "[sim][kv]") {
    const auto store = make_store({.layout = KvLayout::contiguous, .cells = 1000, .block_tokens = 16});
    Holding h;
    REQUIRE(store->promise(h, 100));
    REQUIRE(store->grow(h, 100));
    CHECK(store->copied() == 0);
    REQUIRE(store->grow(h, 1));
    CHECK(store->copied() == 100);
    CHECK(h.room == 160);  // half again, in blocks of 16
    store->check();
    store->release(h);
    CHECK(store->largest_hole() == 1000);
}
