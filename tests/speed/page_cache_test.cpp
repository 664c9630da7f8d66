#include "core/speed/page_cache.h"

#include <cmath>
#include <list>
#include <random>
#include <unordered_map>
#include <vector>

#include "tests/catch.h"

using namespace memwall;
using namespace memwall::speed;

namespace {

/// Misses of `passes` cyclic scans over n pages with c frames and random replacement, after warm-up.
double simulated_random(int n, int c, int passes, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<int> frames;
    std::vector<int> where(static_cast<std::size_t>(n), -1);
    long misses = 0, reads = 0;
    for (int pass = 0; pass < passes; ++pass)
        for (int page = 0; page < n; ++page) {
            if (pass >= passes / 2) ++reads;
            if (where[static_cast<std::size_t>(page)] >= 0) continue;
            if (pass >= passes / 2) ++misses;
            if (static_cast<int>(frames.size()) < c) {
                where[static_cast<std::size_t>(page)] = static_cast<int>(frames.size());
                frames.push_back(page);
            } else {
                const int victim = static_cast<int>(random() % static_cast<unsigned>(c));
                where[static_cast<std::size_t>(frames[static_cast<std::size_t>(victim)])] = -1;
                frames[static_cast<std::size_t>(victim)] = page;
                where[static_cast<std::size_t>(page)] = victim;
            }
        }
    return static_cast<double>(misses) / static_cast<double>(reads);
}

}  // namespace

TEST_CASE("20 GB of weights over 16 GB of memory and 1 GB/s cost 20 s a token when scanned in a cycle",
          "[speed]") {
    const auto t = paging_time(Bytes(20'000'000'000), Bytes(16'000'000'000), BytesPerSecond(1e9));
    CHECK(t.high.value == Approx(20));
    CHECK(t.low.value == Approx(4));  // pinned: 4 of 20 GB miss
    CHECK((t.central.value > t.low.value && t.central.value < t.high.value));
}

TEST_CASE("random replacement follows its fixpoint", "[speed]") {
    // SPEED_AND_SIM A.5 row 12: N/C = 2, 1.25, 1.11 give 0.80, 0.37, 0.19.
    CHECK(random_miss(Bytes(200), Bytes(100)) == Approx(0.80).margin(0.005));
    CHECK(random_miss(Bytes(125), Bytes(100)) == Approx(0.37).margin(0.005));
    CHECK(random_miss(Bytes(111), Bytes(100)) == Approx(0.19).margin(0.01));
    for (const double bytes : {1.000000001e9, 1.0001e9, 1.3e9, 9e9}) {
        const Bytes size(static_cast<std::int64_t>(bytes));
        const double ratio = bytes / 1e9, m = random_miss(size, Bytes(1'000'000'000));
        CHECK(m == Approx(1 - std::exp(-m * ratio)).margin(1e-9));
        CHECK(m > 0);
    }
    const unsigned seed = 3;
    INFO("seed " << seed);
    CHECK(simulated_random(2000, 1000, 40, seed) ==
          Approx(random_miss(Bytes(2000), Bytes(1000))).margin(0.01));
    CHECK(simulated_random(2000, 1600, 40, seed) ==
          Approx(random_miss(Bytes(2000), Bytes(1600))).margin(0.01));
}

TEST_CASE("what fits never misses, and nothing cached misses everything", "[speed]") {
    for (const auto miss : {lru_miss, random_miss, pinned_miss}) {
        CHECK(miss(Bytes(100), Bytes(100)) == 0);
        CHECK(miss(Bytes(100), Bytes(0)) == 1);
    }
}
