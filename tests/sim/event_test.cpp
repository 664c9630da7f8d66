#include <algorithm>
#include <tuple>
#include <vector>

#include "sim/event/event_queue.h"
#include "sim/event/random.h"
#include "sim/event/station.h"
#include "tests/catch.h"

using namespace memwall::sim;

TEST_CASE("a million random events come in the order of time and scheduling", "[sim]") {
    Random random(1, "events");
    EventQueue<int> queue;
    std::vector<std::tuple<Nanoseconds, int>> all, seen;
    for (int i = 0; i < 1'000'000; ++i) {
        const auto t = static_cast<Nanoseconds>(random.bits() % 300'000);  // many ties
        queue.schedule(t, i);
        all.emplace_back(t, i);
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return std::get<0>(a) < std::get<0>(b); });
    while (!queue.empty()) {
        const int i = queue.pop();
        seen.emplace_back(queue.now(), i);
    }
    CHECK(seen == all);
    CHECK_THROWS_AS(queue.schedule(queue.now() - 1, 0), std::logic_error);
}

TEST_CASE("fractions of nanoseconds add up", "[sim]") {
    Carry carry;
    Nanoseconds sum = 0;
    for (int i = 0; i < 1000; ++i) sum += carry.round(1.4e-9);
    CHECK(sum == 1400);
}

TEST_CASE("a stream is a function of seed, purpose and index only", "[sim]") {
    Random a(7, "arrivals", 2), b(7, "arrivals", 2), other(7, "lengths", 2), third(7, "arrivals", 3);
    std::vector<std::uint64_t> x, y;
    for (int i = 0; i < 10; ++i) {
        x.push_back(a.bits());
        other.bits();
        y.push_back(b.bits());
    }
    CHECK(x == y);
    CHECK(Random(7, "arrivals", 2).bits() == x.front());
    CHECK(third.bits() != x.front());
}

TEST_CASE("gamma gaps have mean 1 and the asked variation", "[sim]") {
    for (const double cv : {0.3, 1.0, 3.5}) {
        Random random(3, "gamma");
        double sum = 0, square = 0;
        constexpr int n = 400'000;
        for (int i = 0; i < n; ++i) {
            const double x = random.gamma(cv);
            sum += x;
            square += x * x;
        }
        const double mean = sum / n, variance = square / n - mean * mean;
        CHECK(std::abs(mean - 1) < 4 * cv / std::sqrt(n));
        CHECK(std::abs(std::sqrt(variance) / cv - 1) < 0.03);
    }
}

TEST_CASE("transfers queue on a carrier and never exceed its rate", "[sim]") {
    Carrier link(1e9, 1e-3);
    CHECK(link.send(0, 1e9) == 1'001'000'000);
    CHECK(link.send(500'000'000, 5e8) == 1'501'000'000);    // behind the first
    CHECK(link.send(3'000'000'000, 1e6) == 3'002'000'000);  // idle again
    CHECK(link.busy() == 1'501'000'000);                    // = bytes / rate
}
