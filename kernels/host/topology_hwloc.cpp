// The topology as hwloc sees it; topology_sys.cpp is the build without hwloc.
#include <hwloc.h>

#include <algorithm>
#include <map>
#include <memory>

#include "core/base/error.h"
#include "kernels/host/topology.h"

namespace memwall::kernels {
namespace {

struct Destroy {
    void operator()(hwloc_topology* t) const { hwloc_topology_destroy(t); }
};

struct FreeBitmap {
    void operator()(hwloc_bitmap_t b) const { hwloc_bitmap_free(b); }
};

std::unique_ptr<hwloc_topology, Destroy> load() {
    hwloc_topology_t raw = nullptr;
    if (hwloc_topology_init(&raw) != 0) throw Error("hwloc", "no memory", "a topology of this machine");
    std::unique_ptr<hwloc_topology, Destroy> topology(raw);
    hwloc_topology_set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_NONE);
    if (hwloc_topology_load(raw) != 0)
        throw Error("hwloc", "cannot read the topology of this machine", "a readable /sys");
    return topology;
}

/// hwloc itself leaves out what the cgroup forbids; the affinity mask is asked of the calling thread.
std::vector<Cpu> cpus_of(hwloc_topology_t topology) {
    std::unique_ptr<hwloc_bitmap_s, FreeBitmap> allowed(hwloc_bitmap_alloc_full());
    if (hwloc_get_cpubind(topology, allowed.get(), HWLOC_CPUBIND_THREAD) != 0)
        hwloc_bitmap_fill(allowed.get());
    std::vector<Cpu> cpus;
    std::map<unsigned, std::pair<int, int>> cores;  // hwloc's number -> ours, logical CPUs found on it
    const int count = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
    for (int i = 0; i < count; ++i) {
        const hwloc_obj_t pu = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PU, static_cast<unsigned>(i));
        const hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, pu);
        if (!hwloc_bitmap_isset(allowed.get(), pu->os_index)) continue;
        Cpu cpu;
        cpu.os_index = static_cast<int>(pu->os_index);
        auto& [number, found] = cores
                                    .try_emplace(core ? core->logical_index : pu->logical_index,
                                                 std::pair(static_cast<int>(cores.size()), 0))
                                    .first->second;
        cpu.core = number;
        cpu.sibling = found++;
        if (const int node = hwloc_bitmap_first(pu->nodeset); node >= 0) cpu.numa_node = node;
        const int kind = hwloc_cpukinds_get_by_cpuset(topology, pu->cpuset, 0);
        int efficiency = 0;
        if (kind >= 0 && hwloc_cpukinds_get_info(topology, static_cast<unsigned>(kind), nullptr, &efficiency,
                                                 nullptr, nullptr, 0) == 0)
            cpu.rank = std::max(0, efficiency);
        cpus.push_back(cpu);
    }
    return cpus;
}

std::vector<device::Cache> caches_of(hwloc_topology_t topology) {
    constexpr hwloc_obj_type_t kTypes[] = {HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE};
    std::vector<device::Cache> caches;
    int level = 0;
    for (const hwloc_obj_type_t type : kTypes) {
        ++level;
        const int count = hwloc_get_nbobjs_by_type(topology, type);
        if (count <= 0) continue;
        const auto& attributes = hwloc_get_obj_by_type(topology, type, 0)->attr->cache;
        caches.push_back({level, attributes.type == HWLOC_OBJ_CACHE_UNIFIED ? "unified" : "data",
                          Bytes(static_cast<std::int64_t>(attributes.size)), count});
    }
    return caches;
}

}  // namespace

Topology read_topology() {
    const auto topology = load();
    Topology t;
    t.cpus = cpus_of(topology.get());
    if (t.cpus.empty()) throw Error("hwloc", "no CPU this process may run on", "at least one");
    for (const Cpu& cpu : t.cpus) t.cores = std::max(t.cores, cpu.core + 1);
    t.packages = std::max(1, hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_PACKAGE));
    t.numa_nodes = std::max(1, hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_NUMANODE));
    t.caches = caches_of(topology.get());
    place_order(t.cpus);
    return t;
}

}  // namespace memwall::kernels
