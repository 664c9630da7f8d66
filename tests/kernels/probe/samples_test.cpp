#include "kernels/probe/samples.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "core/base/error.h"
#include "tests/catch.h"

namespace memwall::kernels {
namespace {

TEST_CASE("Ranks of the interval of the median are those of the tables", "[kernels]") {
    // Published tables of the sign test at 95 %: n = 6 -> 1, 9 -> 2, 11 -> 2, 12 -> 3, 20 -> 6, 25 -> 8, 100
    // -> 40.
    const std::pair<std::size_t, std::size_t> table[] = {{6, 1},  {8, 1},  {9, 2},  {11, 2},
                                                         {12, 3}, {20, 6}, {25, 8}, {100, 40}};
    for (const auto& [n, low] : table) {
        const RankInterval r = median_ranks(n);
        CHECK(r.low == low);
        CHECK(r.high == n + 1 - low);
        CHECK(r.level >= 0.95);
    }
    CHECK(median_ranks(11).level == Approx(1 - 2 * (1 + 11) / 2048.0));
    // Too few for 95 %: the whole range, and the truth about it.
    CHECK(median_ranks(5).low == 1);
    CHECK(median_ranks(5).high == 5);
    CHECK(median_ranks(5).level == Approx(1 - 2 / 32.0));
    CHECK(median_ranks(1).level == Approx(0).margin(1e-12));
    CHECK(median_ranks(100000).low > 49000);
}

TEST_CASE("The interval holds the median as often as it promises", "[kernels]") {
    const unsigned seed = 4;
    INFO("seed " << seed);
    std::mt19937 random(seed);
    std::exponential_distribution<double> skewed(1);  // median ln 2
    int held = 0;
    constexpr int kTrials = 4000;
    for (int trial = 0; trial < kTrials; ++trial) {
        SampleSet set{"read", "B/s", "", 1, 0, {}};
        for (int i = 0; i < 17; ++i) set.samples.push_back({skewed(random), true});
        const device::ProbeResult r = summarise(set);
        if (r.low <= std::log(2.0) && std::log(2.0) <= r.high) ++held;
    }
    // n = 17: ranks 5 and 13, 0.951; four deviations of the count around it.
    CHECK(std::abs(held - 0.951 * kTrials) < 4 * std::sqrt(0.951 * 0.049 * kTrials));
}

TEST_CASE("Means go by clean samples, in groups in their order", "[kernels]") {
    SampleSet set{"gemv", "s", "", 2, 0, {}};
    CHECK_THROWS_AS(mean(set), Error);
    set.samples = {{6, false}, {2, false}};
    CHECK(mean(set) == 4);
    set.samples = {{1, true}, {3, true}, {100, false}, {5, true}, {7, true}};
    CHECK(mean(set) == 4);
    const SampleSet pairs = means(set, 2);
    REQUIRE(pairs.samples.size() == 2);  // the fifth is left over
    CHECK(pairs.samples[0].value == 2);
    CHECK(pairs.samples[0].clean);
    CHECK(pairs.samples[1].value == 52.5);
    CHECK_FALSE(pairs.samples[1].clean);
    CHECK(means(set, 1).samples.size() == 5);
    CHECK(means(set, 6).samples.empty());
}

TEST_CASE("Disturbed samples are set aside while enough clean ones remain", "[kernels]") {
    SampleSet set{"read", "B/s", "plain", 2, 0.01, {}};
    CHECK_THROWS_AS(summarise(set), Error);
    for (const double v : {10.0, 12.0, 11.0, 13.0, 14.0}) set.samples.push_back({v, true});
    set.samples.push_back({1.0, false});
    device::ProbeResult r = summarise(set);
    CHECK(r.median == 12);
    CHECK(r.min == 10);
    CHECK(r.max == 14);
    CHECK(r.samples == 5);
    CHECK(r.unclean == 0);
    CHECK(r.steal == 0.01);
    set.samples[0].clean = false;
    r = summarise(set);
    CHECK(r.median == 11.5);
    CHECK(r.samples == 6);
    CHECK(r.unclean == 2);
    CHECK(r.min == 1);
}

TEST_CASE("Six digits stay, in order", "[kernels]") {
    SampleSet set{"barrier", "s", "", 2, 0, {}};
    for (int i = 0; i < 9; ++i) set.samples.push_back({3.0694199995e-07 + i * 1e-18, true});
    const device::ProbeResult r = summarise(set);
    CHECK(r.median == Approx(3.06942e-07).epsilon(1e-9));
    CHECK(r.min <= r.low);
    CHECK(r.low <= r.median);
    CHECK(r.median <= r.high);
    CHECK(r.high <= r.max);
}

TEST_CASE("The best way wins, whatever its name", "[kernels]") {
    const auto set = [](const char* how, double value) {
        return SampleSet{"read", "B/s", how, 1, 0, {{value, true}}};
    };
    const std::vector<SampleSet> sets = {set("plain", 10), set("prefetch", 12), SampleSet{},
                                         set("streams", 11)};
    CHECK(best_of(sets).how == "prefetch");
    CHECK(best_of(sets, true).how == "plain");
    CHECK_THROWS_AS(best_of({}), Error);
}

}  // namespace
}  // namespace memwall::kernels
