// What /proc and /sys say about memory and processors: what describe_host() and the probes of kernels/ rest
// on.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/device/device.h"

namespace memwall::devices {

/// The text of ROOT/path, empty when it cannot be read. For the small files of /proc and /sys.
std::string read_host_file(const std::string& root, const std::string& path);

struct HostMemory {
    Bytes total;                       ///< MemTotal
    Bytes available;                   ///< MemAvailable; 0 = not said
    std::optional<Bytes> group_limit;  ///< the tightest memory limit of this process's cgroup and its parents
    std::string group_file;            ///< the file that says so
};

/// Throws Error when /proc/meminfo has no MemTotal.
HostMemory read_host_memory(const std::string& root);

/// Physical cores that this process may run on: its allowed CPUs, with hyperthreads of one core counted once,
/// at most the CPU quota of its cgroups (rounded up). At least 1.
int read_host_cores(const std::string& root);

/// Caches of the allowed CPUs, smallest level first.
std::vector<device::Cache> read_host_caches(const std::string& root);

}  // namespace memwall::devices
