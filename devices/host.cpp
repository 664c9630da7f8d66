#include "devices/host.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <filesystem>

#include "core/base/byte_source.h"
#include "core/base/error.h"
#include "core/base/size_text.h"
#include "core/base/user_directory.h"
#include "devices/catalog.h"
#include "devices/device_yaml.h"
#include "devices/efficiency_class.h"
#include "devices/host_limits.h"
#include "devices/isa.h"
#include "devices/usable_rules.h"

namespace memwall::devices {
namespace {

/// What a machine of a class most often has, for hosts that nobody measured. Bandwidth: a common memory of
/// such machines; its deviation is that of ln(bandwidth) over the catalogue's CPUs of the class. fp32:
/// geometric mean over the CPUs of that class behind the speed priors (tests/data/speed/points.yaml), with
/// the deviation of its logarithm; phones have one such point and borrow the boards' deviation.
struct HostPrior {
    std::string_view efficiency_class, memory;
    double bandwidth, bandwidth_deviation;
    double fp32_per_core, rate_deviation;
};
constexpr HostPrior kPriors[] = {
    {"pc_cpu", "dual-channel DDR4-3200", 51.2e9, 0.39, 137e9, 0.43},
    {"sbc_cpu", "32-bit LPDDR4X-4267", 17.07e9, 0.60, 33e9, 0.50},
    {"phone_cpu", "64-bit LPDDR5-6400", 51.2e9, 0.32, 50e9, 0.50},
};

constexpr const char* kNotMeasured = "bandwidth and peak rates not measured";
constexpr std::uint64_t kMostBytes = std::uint64_t{256} << 10;  ///< of a saved calibration

bool is_arm() {
#if defined(__aarch64__) || defined(__arm__)
    return true;
#else
    return false;
#endif
}

const HostPrior& prior_for(std::string_view os) {
    return kPriors[os == "android" ? 2 : is_arm() ? 1 : 0];
}

/// "linux", "android", "macos".
std::string host_system(const std::string& root) {
    if (!read_host_file(root, "/system/build.prop").empty() ||
        std::filesystem::exists(root + "/system/bin/app_process"))
        return "android";
    utsname name{};
    return uname(&name) == 0 && std::string_view(name.sysname) == "Darwin" ? "macos" : "linux";
}

/// The board's name from the device tree, else the CPU's from /proc/cpuinfo.
std::string host_name(const std::string& root) {
    std::string board = read_host_file(root, "/proc/device-tree/model");
    board = board.substr(0, board.find('\0'));
    if (!board.empty()) return board;
    const std::string cpuinfo = read_host_file(root, "/proc/cpuinfo");
    const auto at = cpuinfo.find("model name");
    const auto colon = cpuinfo.find(": ", at);
    if (at == std::string::npos || colon == std::string::npos) return "this machine";
    return cpuinfo.substr(colon + 2, cpuinfo.find('\n', colon) - colon - 2);
}

/// RAM as this process may use it: a group's limit is as hard as missing memory.
device::Pool host_ram(device::Device& host, const std::string& root) {
    const HostMemory memory = read_host_memory(root);
    device::Pool ram;
    ram.name = "ram";
    ram.capacity = memory.total;
    host.sources["ram"] = "/proc/meminfo: MemTotal";
    if (memory.group_limit && *memory.group_limit < memory.total) {
        ram.capacity = ram.usable = *memory.group_limit;
        host.sources["ram"] = host.sources["usable"] = memory.group_file;
        host.notes.push_back(fmt::format("a control group limits memory to {} of {}",
                                         bytes_text(*memory.group_limit), bytes_text(memory.total)));
    } else {
        apply_default_rule(host, ram);
    }
    if (memory.available.value > 0)
        ram.variants.push_back(
            {"available_now", std::min(memory.available, ram.usable), "available right now"});
    return ram;
}

}  // namespace

device::Device describe_host(const std::string& root) {
    device::Device host;
    host.id = "host";
    host.name = host_name(root);
    host.os = host_system(root);

    const HostPrior& prior = prior_for(host.os);
    device::Processor& cpu = host.processors.emplace_back();
    cpu.kind = device::ProcessorKind::cpu;
    cpu.name = "CPU";
    cpu.efficiency_class = prior.efficiency_class;
    cpu.cores = read_host_cores(root);
    cpu.isa = host_isa();
    cpu.caches = read_host_caches(root);
    cpu.pool = "ram";
    cpu.fp32 = OpsPerSecond(prior.fp32_per_core * cpu.cores);
    cpu.rate_deviation = prior.rate_deviation;
    host.device_class = efficiency_class(prior.efficiency_class, "host").device_class;
    host.sources["cpu"] = "/sys/devices/system/cpu";
    host.sources["isa"] = "asked of the CPU";
    host.sources["cpu.fp32"] =
        "assumed: usual for a core of this class, nothing was measured on this machine";

    device::Pool ram = host_ram(host, root);
    ram.bandwidth = BytesPerSecond(prior.bandwidth);
    ram.bandwidth_deviation = prior.bandwidth_deviation;
    host.pools.push_back(std::move(ram));
    set_usable_source(host, host.pools.front());
    host.sources["bandwidth"] =
        fmt::format("assumed: {}, nothing was measured on this machine", prior.memory);
    host.notes.push_back(fmt::format("{}: {} of {} and {} assumed; `memwall calibrate` measures them",
                                     kNotMeasured, rate_text(BytesPerSecond(prior.bandwidth)), prior.memory,
                                     ops_text(cpu.fp32, "FLOPS")));
    refresh_usable_notes(host);
    return host;
}

std::string calibration_path() {
    const std::string directory = user_directory();
    return directory.empty() ? directory : directory + "/host.yaml";
}

device::Device host_device(const std::string& root) {
    const device::Device host = describe_host(root);
    const std::string path = calibration_path();
    if (path.empty() || !std::filesystem::is_regular_file(path)) return host;
    return with_calibration(host, read_device_yaml(read_text_file(path, kMostBytes), path), path);
}

device::Device with_calibration(const device::Device& host, device::Device saved, const std::string& path) {
    // Measured things come from the file, limits from the machine as it is now.
    if (saved.pools.front().name != "ram") throw Error(path, "no 'ram'", "a calibration of this machine");
    const device::Pool& now = host.pools.front();
    device::Pool& ram = saved.pools.front();
    ram.capacity = now.capacity;
    ram.usable = now.usable;
    ram.usable_rule = now.usable_rule;
    ram.variants = now.variants;
    saved.os_reserved = host.os_reserved;
    for (device::Processor& p : saved.processors)
        if (p.kind == device::ProcessorKind::cpu) {
            const device::Processor& cpu = host.processors.front();
            // Peaks were those of the cores of then; a smaller cpuset or quota has its share of them.
            if (cpu.cores < p.cores)
                for (OpsPerSecond* rate : {&p.fp32, &p.fp16, &p.int8, &p.int4})
                    *rate = *rate * (static_cast<double>(cpu.cores) / p.cores);
            p.cores = p.cores > 0 ? std::min(p.cores, cpu.cores) : cpu.cores;
            p.isa = cpu.isa;
            p.caches = cpu.caches;
        }
    saved.sources["ram"] = host.source("ram");
    saved.sources.erase("usable");
    if (host.sources.count("usable")) saved.sources["usable"] = host.source("usable");
    set_usable_source(saved, ram);
    // What the machine says of itself now (a group's limit) stands, what was said then does not.
    saved.notes.insert(saved.notes.begin(), host.notes.begin(), host.notes.end());
    std::erase_if(saved.notes, [](const std::string& note) { return note.starts_with(kNotMeasured); });
    if (saved.name != host.name)
        saved.notes.push_back(fmt::format("{} was measured on '{}', this is '{}': calibrate again", path,
                                          saved.name, host.name));
    saved.notes.push_back("calibrated by " + path);
    refresh_usable_notes(saved);
    return saved;
}

}  // namespace memwall::devices
