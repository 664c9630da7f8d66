// CPU time that the hypervisor gave to others, from /proc/stat.
#pragma once

#include <cstdint>
#include <string>

namespace memwall::kernels {

struct CpuTicks {
    std::uint64_t all = 0, stolen = 0;
};

/// The first line of /proc/stat below `root`; zeros where there is none.
CpuTicks read_cpu_ticks(const std::string& root = "");

/// Share of the time between two readings that was stolen, 0..1.
double steal_between(const CpuTicks& before, const CpuTicks& after);

}  // namespace memwall::kernels
