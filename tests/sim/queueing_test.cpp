// The simulator's event core against queueing theory. The 99 % intervals follow from the known standard error
// of the mean wait in M/M/1 (SPEED_AND_SIM A.5 row 2), sqrt(rho (2 + 5 rho - 4 rho^2 + rho^3) / N) / (rho (1
// - rho)), or from independent batches where no formula is known.
#include <cmath>
#include <vector>

#include "sim/event/random.h"
#include "sim/event/station.h"
#include "tests/catch.h"

using namespace memwall::sim;

namespace {

constexpr double kZ99 = 2.576;

double relative_error(double rho, double n) {
    return std::sqrt(rho * (2 + 5 * rho - 4 * rho * rho + rho * rho * rho) / n) / (rho * (1 - rho));
}

struct Law {
    int servers = 1;
    std::int64_t room = 0;
    double rate = 1;  // of arrivals; the mean service is 1
    std::function<double(Random&)> service;
};

StationCounts run(const Law& law, std::int64_t jobs, std::uint64_t seed) {
    Random arrivals(seed, "arrivals"), services(seed, "services");
    return run_station(
        {law.servers, law.room}, jobs, [&] { return arrivals.exponential() / law.rate; },
        [&] { return law.service(services); });
}

double mean_wait(const StationCounts& c) {
    return static_cast<double>(c.waited) / 1e9 / static_cast<double>(c.arrived - c.turned_away);
}

const auto exponential = [](Random& r) { return r.exponential(); };

/// Little's law on the sample path, to the nanosecond: every job-second of waiting is somebody's.
void check_identities(const StationCounts& c) {
    CHECK(c.waiting_integral == c.waited);
    CHECK(c.busy_integral == c.in_service);
    CHECK(c.arrived == c.served + c.turned_away);
}

/// Mean of independent runs with its 99 % half width.
template <class Value>
std::pair<double, double> replicate(int runs, Value value) {
    double sum = 0, square = 0;
    for (int i = 0; i < runs; ++i) {
        const double x = value(static_cast<std::uint64_t>(100 + i));
        sum += x;
        square += x * x;
    }
    const double n = runs, mean = sum / n, deviation = std::sqrt((square / n - mean * mean) * n / (n - 1));
    return {mean, 2.861 * deviation / std::sqrt(n)};  // t of 19 degrees of freedom
}

}  // namespace

TEST_CASE("M/M/1 waits rho / (mu - lambda)", "[sim][queueing]") {
    for (const double rho : {0.3, 0.5, 0.7, 0.9}) {
        const std::int64_t n = 1'000'000;
        const StationCounts c = run({1, 0, rho, exponential}, n, 11);
        const double expected = rho / (1 - rho);
        INFO("rho " << rho);
        CHECK(std::abs(mean_wait(c) / expected - 1) < kZ99 * relative_error(rho, static_cast<double>(n)));
        if (rho <= 0.7) CHECK(std::abs(mean_wait(c) / expected - 1) < kZ99 * 0.008);
        check_identities(c);
    }
}

TEST_CASE("M/M/1 at rho 0.9 is within 1 % with ten million jobs", "[sim][queueing]") {
    const StationCounts c = run({1, 0, 0.9, exponential}, 10'000'000, 5);
    CHECK(std::abs(mean_wait(c) / 9 - 1) < 0.01);
}

TEST_CASE("M/D/1 waits half as long", "[sim][queueing]") {
    for (const double rho : {0.5, 0.8}) {
        const auto [mean, half] = replicate(20, [&](std::uint64_t seed) {
            return mean_wait(run({1, 0, rho, [](Random&) { return 1.0; }}, 100'000, seed));
        });
        CHECK(std::abs(mean - rho / (1 - rho) / 2) < half);
    }
}

TEST_CASE("M/G/1 follows Pollaczek and Khinchine: a mix of prompts and single tokens", "[sim][queueing]") {
    // A tenth of the jobs is a prompt of 5.5, the others tokens of 0.5: mean 1, second moment 3.25.
    const auto mix = [](Random& r) { return r.uniform() < 0.1 ? 5.5 : 0.5; };
    const double rho = 0.6, expected = rho * 3.25 / (2 * (1 - rho));
    const auto [mean, half] = replicate(20, [&](std::uint64_t seed) {
        return mean_wait(run({1, 0, rho, mix}, 100'000, seed));
    });
    CHECK(std::abs(mean - expected) < half);
    CHECK(half < 0.05 * expected);
}

TEST_CASE("M/M/k waits by Erlang's C", "[sim][queueing]") {
    for (const int k : {2, 4}) {
        const double a = 0.8 * k;  // offered load
        double sum = 0, term = 1;
        for (int i = 0; i < k; ++i) {
            sum += term;
            term *= a / (i + 1);
        }
        const double c = term / (1 - 0.8) / (sum + term / (1 - 0.8));
        const double expected = c / (k - a);
        const auto [mean, half] = replicate(20, [&](std::uint64_t seed) {
            return mean_wait(run({k, 0, a, exponential}, 100'000, seed));
        });
        CHECK(std::abs(mean - expected) < half);
        CHECK(half < 0.05 * expected);
    }
}

TEST_CASE("M/M/1/K turns away (1 - rho) rho^K / (1 - rho^(K+1))", "[sim][queueing]") {
    const double rho = 0.9;
    const int room = 5;
    const double expected = (1 - rho) * std::pow(rho, room) / (1 - std::pow(rho, room + 1));
    const auto [mean, half] = replicate(20, [&](std::uint64_t seed) {
        const StationCounts c = run({1, room, rho, exponential}, 50'000, seed);
        check_identities(c);
        return static_cast<double>(c.turned_away) / static_cast<double>(c.arrived);
    });
    CHECK(std::abs(mean - expected) < half);
    CHECK(half < 0.03 * expected);
}

TEST_CASE("the same seed gives the same run", "[sim][queueing]") {
    const StationCounts a = run({1, 0, 0.8, exponential}, 10'000, 9),
                        b = run({1, 0, 0.8, exponential}, 10'000, 9);
    CHECK(a.waited == b.waited);
    CHECK(a.end == b.end);
    CHECK(run({1, 0, 0.8, exponential}, 10'000, 10).waited != a.waited);
}
