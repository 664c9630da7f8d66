#include "kernels/host/topology.h"

#include <sched.h>

#include <algorithm>
#include <tuple>

#include "devices/host_limits.h"

namespace memwall::kernels {

Bytes Topology::cache(int level) const {
    for (const device::Cache& c : caches)
        if (c.level == level && c.type != "instruction") return c.size;
    return Bytes(0);
}

void place_order(std::vector<Cpu>& cpus) {
    std::stable_sort(cpus.begin(), cpus.end(), [](const Cpu& a, const Cpu& b) {
        return std::tuple(a.sibling, -a.rank, a.core, a.os_index) <
               std::tuple(b.sibling, -b.rank, b.core, b.os_index);
    });
}

int default_threads(const Topology& topology) {
    return std::max(1, std::min(topology.cores, devices::read_host_cores("")));
}

bool pin_this_thread(int os_index) {
    cpu_set_t set;
    if (os_index < 0 || os_index >= CPU_SETSIZE) return false;
    CPU_ZERO(&set);
    CPU_SET(os_index, &set);
    return sched_setaffinity(0, sizeof set, &set) == 0;
}

}  // namespace memwall::kernels
