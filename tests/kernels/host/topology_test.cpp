#include "kernels/host/topology.h"

#include <sched.h>

#include <set>
#include <thread>

#include "tests/catch.h"

namespace memwall::kernels {
namespace {

TEST_CASE("Threads go one a core first, fast cores before slow ones, then siblings", "[kernels]") {
    // Two slow cores (0, 1) and two fast ones (2, 3) with two logical CPUs each.
    std::vector<Cpu> cpus = {{0, 0, 0, 0, 0}, {1, 1, 0, 0, 0}, {2, 2, 0, 0, 1},
                             {3, 2, 1, 0, 1}, {4, 3, 0, 0, 1}, {5, 3, 1, 0, 1}};
    place_order(cpus);
    std::vector<int> order;
    for (const Cpu& cpu : cpus) order.push_back(cpu.os_index);
    CHECK(order == std::vector<int>{2, 4, 0, 1, 3, 5});
}

TEST_CASE("The topology holds exactly the CPUs this process may use", "[kernels]") {
    cpu_set_t set;
    REQUIRE(sched_getaffinity(0, sizeof set, &set) == 0);
    const Topology t = read_topology();
    std::set<int> known, cores;
    for (const Cpu& cpu : t.cpus) {
        CHECK(CPU_ISSET(static_cast<std::size_t>(cpu.os_index), &set));
        CHECK(known.insert(cpu.os_index).second);
        cores.insert(cpu.core);
    }
    CHECK(static_cast<int>(known.size()) == CPU_COUNT(&set));
    CHECK(static_cast<int>(cores.size()) == t.cores);
    CHECK(t.packages >= 1);
    CHECK(t.numa_nodes >= 1);
    CHECK(default_threads(t) >= 1);
    CHECK(default_threads(t) <= t.cores);
}

TEST_CASE("An affinity mask narrows the topology", "[kernels]") {
    const Topology all = read_topology();
    const int wanted = all.cpus.back().os_index;
    std::thread([&] {  // the mask of this thread only
        REQUIRE(pin_this_thread(wanted));
        const Topology one = read_topology();
        REQUIRE(one.cpus.size() == 1);
        CHECK(one.cpus.front().os_index == wanted);
        CHECK(one.cores == 1);
    })
        .join();
    CHECK_FALSE(pin_this_thread(-1));
    CHECK_FALSE(pin_this_thread(1 << 20));
}

TEST_CASE("A cache level is found by number, the instruction cache is not it", "[kernels]") {
    Topology t;
    t.caches = {
        {1, "instruction", Bytes(1), 1}, {1, "data", Bytes(48 << 10), 2}, {2, "unified", Bytes(2 << 20), 2}};
    CHECK(t.cache(1) == Bytes(48 << 10));
    CHECK(t.cache(2) == Bytes(2 << 20));
    CHECK(t.cache(3) == Bytes(0));
}

}  // namespace
}  // namespace memwall::kernels
