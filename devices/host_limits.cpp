#include "devices/host_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <fstream>
#include <set>
#include <sstream>
#include <tuple>

#include "core/base/error.h"

namespace memwall::devices {
namespace {

/// The leading number of `text`, nothing when it has none ("max").
std::optional<std::int64_t> leading_number(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    std::int64_t value = 0;
    const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (ec != std::errc() || end == text.data() || value < 0) return std::nullopt;
    return value;
}

/// "MemTotal:  8123456 kB".
std::optional<Bytes> meminfo_field(const std::string& meminfo, const std::string& name) {
    std::istringstream lines(meminfo);
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with(name + ":"))
            if (const auto kib = leading_number(std::string_view(line).substr(name.size() + 1)))
                if (*kib < std::int64_t{1} << 40) return Bytes(*kib * kKiB);
    return std::nullopt;
}

/// Where a controller's files of this process's group lie: the mount, and the group's path below it.
struct Group {
    std::string mount, path;
};

/// From /proc/self/cgroup: lines "ID:CONTROLLERS:PATH", where version 2 has the one line "0::PATH".
std::vector<Group> groups_of(const std::string& root, const std::string& controller) {
    std::vector<Group> groups;
    std::istringstream lines(read_host_file(root, "/proc/self/cgroup"));
    for (std::string line; std::getline(lines, line);) {
        const auto first = line.find(':');
        const auto second = line.find(':', first == std::string::npos ? first : first + 1);
        if (second == std::string::npos) continue;
        const std::string names = "," + line.substr(first + 1, second - first - 1) + ",";
        const std::string path = line.substr(second + 1);
        if (names == ",,") {  // a hybrid system mounts version 2 below unified/
            groups.push_back({"/sys/fs/cgroup", path});
            groups.push_back({"/sys/fs/cgroup/unified", path});
        } else if (names.find("," + controller + ",") != std::string::npos) {
            groups.push_back({"/sys/fs/cgroup/" + controller, path});
        }
    }
    return groups;
}

/// Calls `visit(directory)` for a group and each of its parents up to the mount. Inside a container the path
/// may be the host's and not exist here; the mount itself is then the container's own group.
template <class Visit>
void for_each_parent(const Group& group, Visit visit) {
    std::string path = group.path;
    while (path.size() > 1) {
        visit(group.mount + path);
        path.resize(path.find_last_of('/') == std::string::npos ? 0 : path.find_last_of('/'));
    }
    visit(group.mount);
}

/// Version 1 says "no limit" with a huge number, version 2 with "max". Nothing real is above 1 PiB.
constexpr std::int64_t kNoLimit = std::int64_t{1} << 50;

/// CPUs' worth of time that quotas grant; nothing without a quota.
std::optional<int> cpu_quota(const std::string& root) {
    std::optional<int> cpus;
    for (const Group& group : groups_of(root, "cpu"))
        for_each_parent(group, [&](const std::string& directory) {
            // Version 2: "QUOTA PERIOD" in one file. Version 1: a file each, no quota is -1.
            const std::string both = read_host_file(root, directory + "/cpu.max");
            const auto quota =
                leading_number(both.empty() ? read_host_file(root, directory + "/cpu.cfs_quota_us") : both);
            const auto period =
                leading_number(both.empty() ? read_host_file(root, directory + "/cpu.cfs_period_us")
                                            : both.substr(std::min(both.find(' '), both.size())));
            if (!quota || !period || *quota == 0 || *period == 0 || *quota / *period > 1 << 16) return;
            const int granted = static_cast<int>((*quota + *period - 1) / *period);
            cpus = std::min(cpus.value_or(granted), granted);
        });
    return cpus;
}

/// "0-3,8" as numbers.
std::vector<int> cpu_list(std::string_view text) {
    constexpr std::int64_t kMost = 4096;
    std::vector<int> cpus;
    while (!text.empty()) {
        const auto comma = text.find(',');
        const std::string_view part = text.substr(0, comma);
        const auto low = leading_number(part);
        const auto dash = part.find('-');
        const auto high = dash == std::string_view::npos ? low : leading_number(part.substr(dash + 1));
        if (low && high)
            for (std::int64_t i = *low; i <= std::min(*high, kMost); ++i) cpus.push_back(static_cast<int>(i));
        if (comma == std::string_view::npos) break;
        text.remove_prefix(comma + 1);
    }
    return cpus;
}

std::vector<int> allowed_cpus(const std::string& root) {
    const std::string status = read_host_file(root, "/proc/self/status");
    const std::string key = "Cpus_allowed_list:";
    const auto at = status.find(key);
    std::vector<int> cpus;
    if (at != std::string::npos) {
        const auto end = status.find('\n', at);
        cpus = cpu_list(std::string_view(status).substr(at + key.size(), end - at - key.size()));
    }
    // Allowed may name CPUs that this machine does not have.
    const std::vector<int> online = cpu_list(read_host_file(root, "/sys/devices/system/cpu/online"));
    if (cpus.empty()) return online;
    if (!online.empty())
        std::erase_if(cpus,
                      [&](int c) { return std::find(online.begin(), online.end(), c) == online.end(); });
    return cpus;
}

std::string cpu_path(int cpu, const std::string& rest) {
    return fmt::format("/sys/devices/system/cpu/cpu{}/{}", cpu, rest);
}

/// "32K", "1024K", "32M".
Bytes cache_size(const std::string& text) {
    const auto number = leading_number(text);
    if (!number || *number >= 1 << 24) return Bytes(0);
    const auto unit = text.find_first_not_of("0123456789");
    const char letter = unit == std::string::npos ? ' ' : text[unit];
    return Bytes(*number * (letter == 'K' ? kKiB : letter == 'M' ? kMiB : 1));
}

std::string first_line(std::string text) {
    return text.substr(0, text.find('\n'));
}

}  // namespace

std::string read_host_file(const std::string& root, const std::string& path) {
    constexpr std::size_t kLimit = std::size_t{1} << 20;
    std::ifstream in(root + path, std::ios::binary);
    std::string text;
    char buffer[4096];
    while (text.size() < kLimit && (in.read(buffer, sizeof buffer), in.gcount() > 0))
        text.append(buffer, static_cast<std::size_t>(in.gcount()));
    return text;
}

HostMemory read_host_memory(const std::string& root) {
    HostMemory memory;
    const std::string meminfo = read_host_file(root, "/proc/meminfo");
    const auto total = meminfo_field(meminfo, "MemTotal");
    if (!total || total->value == 0)
        throw Error(root + "/proc/meminfo", "no MemTotal", "'MemTotal: N kB'",
                    "name the device instead of host");
    memory.total = *total;
    memory.available = meminfo_field(meminfo, "MemAvailable").value_or(Bytes(0));
    for (const Group& group : groups_of(root, "memory"))
        for_each_parent(group, [&](const std::string& directory) {
            // Above memory.high the kernel reclaims and throttles, above the others it kills.
            for (const char* file : {"/memory.max", "/memory.high", "/memory.limit_in_bytes"}) {
                const auto limit = leading_number(read_host_file(root, directory + file));
                if (!limit || *limit >= kNoLimit ||
                    (memory.group_limit && memory.group_limit->value <= *limit))
                    continue;
                memory.group_limit = Bytes(*limit);
                memory.group_file = directory + file;
            }
        });
    return memory;
}

int read_host_cores(const std::string& root) {
    std::set<std::string> cores;
    for (const int cpu : allowed_cpus(root)) {
        const std::string core = first_line(read_host_file(root, cpu_path(cpu, "topology/core_id")));
        const std::string package =
            first_line(read_host_file(root, cpu_path(cpu, "topology/physical_package_id")));
        cores.insert(core.empty() ? fmt::format("cpu{}", cpu) : package + "/" + core);
    }
    const int count = std::max(1, static_cast<int>(cores.size()));
    return std::min(count, std::max(1, cpu_quota(root).value_or(count)));
}

std::vector<device::Cache> read_host_caches(const std::string& root) {
    std::vector<device::Cache> caches;
    std::set<std::string> seen;  // a shared cache shows up below each of its CPUs
    for (const int cpu : allowed_cpus(root))
        for (int index = 0; index < 16; ++index) {
            const auto field = [&](const char* name) {
                return first_line(
                    read_host_file(root, cpu_path(cpu, fmt::format("cache/index{}/{}", index, name))));
            };
            device::Cache cache;
            cache.level =
                static_cast<int>(std::min<std::int64_t>(leading_number(field("level")).value_or(0), 16));
            if (cache.level == 0) break;
            cache.type = field("type");
            std::transform(cache.type.begin(), cache.type.end(), cache.type.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
            cache.size = cache_size(field("size"));
            const std::string shared = field("shared_cpu_list");
            if (!seen.insert(fmt::format("{} {} {}", cache.level, cache.type,
                                         shared.empty() ? fmt::format("cpu{}", cpu) : shared))
                     .second)
                continue;
            const auto same = std::find_if(caches.begin(), caches.end(), [&](const device::Cache& c) {
                return c.level == cache.level && c.type == cache.type && c.size == cache.size;
            });
            if (same != caches.end())
                ++same->count;
            else
                caches.push_back(std::move(cache));
        }
    std::sort(caches.begin(), caches.end(), [](const device::Cache& a, const device::Cache& b) {
        return std::tie(a.level, a.type, a.size) < std::tie(b.level, b.type, b.size);
    });
    return caches;
}

}  // namespace memwall::devices
