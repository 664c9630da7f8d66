// The processors this process may run on, in the order in which threads should be placed on them.
#pragma once

#include <vector>

#include "core/base/units.h"
#include "core/device/device.h"

namespace memwall::kernels {

/// One logical CPU.
struct Cpu {
    int os_index = 0;   ///< as the system numbers it
    int core = 0;       ///< physical core, counted from 0 in the system's order
    int sibling = 0;    ///< 0: the first logical CPU of its core, 1: the second ...
    int numa_node = 0;  ///< as the system numbers it
    int rank = 0;       ///< of its kind of core where there are several (big.LITTLE): larger is faster
    bool operator==(const Cpu&) const = default;
};

struct Topology {
    std::vector<Cpu> cpus;  ///< at least one; see place_order()
    int cores = 0, packages = 0, numa_nodes = 0;
    std::vector<device::Cache> caches;  ///< as far as known, of the whole machine

    /// Bytes of one unified or data cache of that level; 0 = unknown.
    Bytes cache(int level) const;
    /// Of the highest level there is, 2 or 3.
    Bytes last_cache() const { return cache(3).value > 0 ? cache(3) : cache(2); }
};

/// This machine, reduced to the CPUs that the cgroup's cpuset and the calling thread's affinity mask leave.
/// From hwloc, or from /sys where the program was built without it.
Topology read_topology();

/// One thread a core first, fast cores before slow ones, then the siblings in the same order: memory-bound
/// loops gain nothing from a second thread on a core.
void place_order(std::vector<Cpu>& cpus);

/// Threads that fill the machine for one process: one a core, fewer when a cgroup quota grants less CPU time.
int default_threads(const Topology& topology);

/// Pins the calling thread. False when the system refuses; the thread then runs anywhere.
bool pin_this_thread(int os_index);

}  // namespace memwall::kernels
