#include "kernels/host/thread_team.h"

#include <sched.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "core/base/error.h"
#include "tests/catch.h"

namespace memwall::kernels {
namespace {

TEST_CASE("Every thread of the team runs once, on its own CPU", "[kernels]") {
    const Topology topology = read_topology();
    ThreadTeam team(static_cast<int>(topology.cpus.size()), topology);
    CHECK(team.pinned());
    std::vector<std::atomic<int>> calls(topology.cpus.size());
    std::vector<int> cpu(topology.cpus.size(), -1);
    for (int round = 0; round < 50; ++round) {
        const RunTime time = team.run([&](int thread) {
            calls[static_cast<std::size_t>(thread)]++;
            cpu[static_cast<std::size_t>(thread)] = sched_getcpu();
        });
        REQUIRE(time.cpu.size() == topology.cpus.size());
        CHECK(time.wall >= 0);
    }
    for (std::size_t i = 0; i < calls.size(); ++i) {
        CHECK(calls[i] == 50);
        CHECK(cpu[i] == topology.cpus[i].os_index);
    }
}

TEST_CASE("A barrier separates steps, also with more threads than CPUs", "[kernels]") {
    for (const int threads : {1, 2, 5}) {
        ThreadTeam team(threads);
        // Each step reads what all threads wrote in the step before it.
        std::vector<long> values(static_cast<std::size_t>(threads), 1), next(values);
        constexpr int kSteps = 200;
        std::atomic<int> wrong{0};
        team.run([&](int thread) {
            long expected = 1;
            for (int step = 0; step < kSteps; ++step) {
                long sum = 0;
                for (const long v : values) sum += v;
                if (sum != expected * threads) wrong++;
                next[static_cast<std::size_t>(thread)] = sum % 1000003;
                expected = expected * threads % 1000003;
                team.barrier();
                values[static_cast<std::size_t>(thread)] = next[static_cast<std::size_t>(thread)];
                team.barrier();
            }
        });
        CHECK(wrong == 0);
    }
}

TEST_CASE("An exception ends the run for all, and the team goes on", "[kernels]") {
    ThreadTeam team(3);
    CHECK_THROWS_AS(team.run([&](int thread) {
        if (thread == 1) throw std::runtime_error("one of three");
        team.barrier();  // would wait for ever
    }),
                    std::runtime_error);
    std::atomic<int> ran{0};
    team.run([&](int) {
        team.barrier();
        ran++;
    });
    CHECK(ran == 3);
}

TEST_CASE("Some of a team work while the others wait", "[kernels]") {
    ThreadTeam team(3);
    std::vector<std::atomic<int>> calls(3);
    const RunTime time =
        run_together(team, 2, [&](int thread) { calls[static_cast<std::size_t>(thread)]++; });
    CHECK(time.cpu.size() == 2);
    CHECK(time.wall >= 0);
    CHECK(calls[0] == 1);
    CHECK(calls[1] == 1);
    CHECK(calls[2] == 0);
}

TEST_CASE("A run is taken at once, while threads look for it and when they sleep", "[kernels]") {
    ThreadTeam team(3);
    std::atomic<int> calls = 0;
    int runs = 0;
    for (const int microseconds : {0, 0, 50, 150, 200, 250, 20'000, 0})
        for (int i = 0; i < 20; ++i, ++runs) {
            if (microseconds > 0) std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
            team.run([&](int) { ++calls; });
            REQUIRE(calls == 3 * (runs + 1));
        }
}

TEST_CASE("Threads that cannot be are refused", "[kernels]") {
    CHECK_THROWS_AS(ThreadTeam(-1), Error);
    CHECK_THROWS_AS(ThreadTeam(1 << 20), Error);
}

TEST_CASE("A sleeping thread is not clean, a missing sample is", "[kernels]") {
    RunTime time;
    CHECK(time.share() == 1);
    time.cpu = {1.0, 0.5};
    time.own = {1.0, 1.0};
    CHECK(time.share() == 0.5);
    CHECK_FALSE(time.clean());
    time.cpu = {0.98, 1.0};
    CHECK(time.clean());
}

TEST_CASE("Shares cover everything once", "[kernels]") {
    for (const std::size_t count : {0u, 1u, 7u, 16u, 1000u})
        for (const int threads : {1, 2, 3, 16}) {
            std::size_t next = 0;
            for (int i = 0; i < threads; ++i) {
                const Range r = share_of(count, i, threads);
                CHECK(r.first == next);
                CHECK(r.size() <= count / static_cast<std::size_t>(threads) + 1);
                next = r.last;
            }
            CHECK(next == count);
        }
}

}  // namespace
}  // namespace memwall::kernels
