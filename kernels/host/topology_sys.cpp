// The topology as /sys describes it: the build without hwloc (one static program for any board).
#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <string>

#include "core/base/error.h"
#include "devices/host_limits.h"
#include "kernels/host/topology.h"

namespace memwall::kernels {
namespace {

/// A whole number in a file of /sys, `otherwise` when there is none.
int number_in(const std::string& path, int otherwise) {
    const std::string text = devices::read_host_file("", path);
    int value = otherwise;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

int node_of(int cpu) {
    constexpr int kMostNodes = 64;
    for (int node = 0; node < kMostNodes; ++node)
        if (!devices::read_host_file(
                 "", fmt::format("/sys/devices/system/node/node{}/cpu{}/topology/core_id", node, cpu))
                 .empty())
            return node;
    return 0;
}

}  // namespace

Topology read_topology() {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) == 0)
        throw Error("topology", "no CPU this process may run on", "at least one");
    Topology t;
    std::map<std::pair<int, int>, std::pair<int, int>>
        cores;  // package, core -> ours, logical CPUs found on it
    std::set<int> packages, nodes;
    for (int i = 0; i < CPU_SETSIZE; ++i) {
        if (!CPU_ISSET(static_cast<std::size_t>(i), &allowed)) continue;
        const std::string at = fmt::format("/sys/devices/system/cpu/cpu{}/", i);
        const int package = number_in(at + "topology/physical_package_id", 0);
        const std::pair<int, int> key(package, number_in(at + "topology/core_id", i));
        auto& [number, found] =
            cores.try_emplace(key, std::pair(static_cast<int>(cores.size()), 0)).first->second;
        Cpu cpu;
        cpu.os_index = i;
        cpu.core = number;
        cpu.sibling = found++;
        cpu.numa_node = node_of(i);
        cpu.rank = number_in(at + "cpu_capacity", 0);  // of big.LITTLE kernels: 1024 for the fastest
        packages.insert(package);
        nodes.insert(cpu.numa_node);
        t.cpus.push_back(cpu);
    }
    t.cores = static_cast<int>(cores.size());
    t.packages = static_cast<int>(packages.size());
    t.numa_nodes = static_cast<int>(nodes.size());
    t.caches = devices::read_host_caches("");
    place_order(t.cpus);
    return t;
}

}  // namespace memwall::kernels
