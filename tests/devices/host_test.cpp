// Made-up machines: a tree of /proc and /sys files in a temporary folder.
#include "devices/host.h"

#include <cmath>
#include <filesystem>
#include <fstream>

#include "core/base/error.h"
#include "devices/catalog.h"
#include "devices/device_yaml.h"
#include "devices/isa.h"
#include "tests/catch.h"
#include "tests/devices/temporary_folder.h"

using namespace memwall;
using namespace memwall::devices;

namespace {

constexpr std::int64_t kTotal = 8'123'456 * kKiB;

/// A machine with 8 GB and two cores of two threads each, in no control group.
struct MadeUpMachine : TemporaryFolder {
    MadeUpMachine() {
        write("proc/meminfo", "MemTotal:        8123456 kB\nMemFree:  100 kB\nMemAvailable:    5000000 kB\n");
        write("proc/self/status", "Name:\tmemwall\nCpus_allowed_list:\t0-7\n");
        write("sys/devices/system/cpu/online", "0-3\n");
        for (int cpu = 0; cpu < 4; ++cpu) {
            const std::string at = "sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/";
            const std::string core = std::to_string(cpu / 2);
            write(at + "topology/core_id", core + "\n");
            write(at + "topology/physical_package_id", "0\n");
            const std::string pair = cpu < 2 ? "0-1\n" : "2-3\n";
            cache(at, 0, "1", "Data", "48K", pair);
            cache(at, 1, "1", "Instruction", "32K", pair);
            cache(at, 2, "2", "Unified", "2048K", pair);
            cache(at, 3, "3", "Unified", "36M", "0-3\n");
        }
    }
    void cache(const std::string& at, int index, const char* level, const char* type, const char* size,
               const std::string& shared) {
        const std::string to = at + "cache/index" + std::to_string(index) + "/";
        write(to + "level", std::string(level) + "\n");
        write(to + "type", std::string(type) + "\n");
        write(to + "size", std::string(size) + "\n");
        write(to + "shared_cpu_list", shared);
    }
    device::Device describe() const { return describe_host(path); }
    Bytes ram() const { return describe().pools.front().capacity; }
};

bool any_note(const device::Device& d, const std::string& part) {
    for (const std::string& note : d.notes)
        if (note.find(part) != std::string::npos) return true;
    return false;
}

}  // namespace

TEST_CASE("a machine without control groups has its physical memory", "[devices]") {
    MadeUpMachine machine;
    const device::Device d = machine.describe();
    const device::Pool& ram = d.pools.front();
    CHECK(ram.capacity.value == kTotal);
    CHECK(ram.usable_rule == "linux-minus-os");
    CHECK(ram.usable < ram.capacity);
    CHECK(ram.variant("available_now")->usable.value == 5'000'000 * kKiB);
    CHECK(d.os == "linux");
    CHECK(d.source("ram") == "/proc/meminfo: MemTotal");
    CHECK(d.source("bandwidth").starts_with("assumed: "));
    CHECK(any_note(d, "bandwidth and peak rates not measured"));
    CHECK(d.processors[0].rate_deviation > 0);
    CHECK(d.pools[0].bandwidth_deviation > 0);
    CHECK(any_note(d, "available right now"));
    CHECK(read_device_yaml(write_device_yaml(d), "again.yaml") == d);
}

TEST_CASE("hyperthreads of one core count once", "[devices]") {
    MadeUpMachine machine;
    CHECK(machine.describe().processors[0].cores == 2);
    machine.write("proc/self/status", "Cpus_allowed_list:\t2,3\n");
    CHECK(machine.describe().processors[0].cores == 1);
    machine.write("proc/self/status", "Cpus_allowed_list:\t0,2\n");
    CHECK(machine.describe().processors[0].cores == 2);
    machine.remove("sys/devices/system/cpu/cpu0/topology");
    machine.remove("sys/devices/system/cpu/cpu2/topology");
    CHECK(machine.describe().processors[0].cores == 2);
    machine.remove("sys");
    machine.remove("proc/self");
    CHECK(machine.describe().processors[0].cores == 1);
}

TEST_CASE("a shared cache is one cache", "[devices]") {
    MadeUpMachine machine;
    const std::vector<device::Cache> want{{1, "data", Bytes(48 * kKiB), 2},
                                          {1, "instruction", Bytes(32 * kKiB), 2},
                                          {2, "unified", Bytes(2 * kMiB), 2},
                                          {3, "unified", Bytes(36 * kMiB), 1}};
    CHECK(machine.describe().processors[0].caches == want);
}

TEST_CASE("version 2 groups: the tightest limit up to the root wins", "[devices]") {
    MadeUpMachine machine;
    machine.write("proc/self/cgroup", "0::/user.slice/job\n");
    machine.write("sys/fs/cgroup/user.slice/job/memory.max", "max\n");
    CHECK(machine.ram().value == kTotal);
    machine.write("sys/fs/cgroup/user.slice/memory.max", "3221225472\n");
    CHECK(machine.ram().value == 3 * kGiB);
    machine.write("sys/fs/cgroup/user.slice/job/memory.max", "2147483648\n");
    CHECK(machine.ram().value == 2 * kGiB);
    machine.write("sys/fs/cgroup/user.slice/job/memory.high", "1073741824\n");
    const device::Device d = machine.describe();
    const device::Pool& ram = d.pools.front();
    CHECK(ram.capacity.value == kGiB);
    CHECK(ram.usable.value == kGiB);  // the system lives outside the group
    CHECK(ram.usable_source == "/sys/fs/cgroup/user.slice/job/memory.high");
    CHECK(ram.variant("available_now")->usable.value == kGiB);
    CHECK(any_note(d, "a control group limits memory to 1.00 GiB of 7.75 GiB"));
    // A limit above the machine's memory is none.
    machine.write("sys/fs/cgroup/user.slice/memory.max", "max\n");
    machine.remove("sys/fs/cgroup/user.slice/job/memory.high");
    machine.write("sys/fs/cgroup/user.slice/job/memory.max", "68719476736\n");
    CHECK(machine.ram().value == kTotal);
}

TEST_CASE("inside a container the group's path may not exist, its mount does", "[devices]") {
    MadeUpMachine machine;
    machine.write("proc/self/cgroup", "0::/docker/0123456789abcdef\n");
    machine.write("sys/fs/cgroup/memory.max", "536870912\n");
    CHECK(machine.ram().value == 512 * kMiB);
}

TEST_CASE("version 1 groups: a limit of 2^63 less a page is none", "[devices]") {
    MadeUpMachine machine;
    machine.write("proc/self/cgroup",
                  "9:name=systemd:/\n4:cpuacct,memory:/jobs/one\n3:cpuset:/\n1:cpu:/\n0::/\nrubbish\n");
    const std::string memory = "sys/fs/cgroup/memory/";
    machine.write(memory + "jobs/one/memory.limit_in_bytes", "9223372036854771712\n");
    machine.write(memory + "jobs/memory.limit_in_bytes", "9223372036854771712\n");
    machine.write(memory + "memory.limit_in_bytes", "9223372036854771712\n");
    CHECK(machine.ram().value == kTotal);
    machine.write(memory + "jobs/memory.limit_in_bytes", "4294967296\n");
    CHECK(machine.ram().value == 4 * kGiB);
    machine.write(memory + "jobs/one/memory.limit_in_bytes", "6442450944\n");
    CHECK(machine.ram().value == 4 * kGiB);
    machine.write(memory + "jobs/one/memory.limit_in_bytes", "1073741824\n");
    CHECK(machine.ram().value == kGiB);
}

TEST_CASE("a CPU quota bounds the cores", "[devices]") {
    MadeUpMachine machine;
    machine.write("proc/self/cgroup", "0::/job\n");
    machine.write("sys/fs/cgroup/job/cpu.max", "max 100000\n");
    CHECK(machine.describe().processors[0].cores == 2);
    machine.write("sys/fs/cgroup/job/cpu.max", "100000 100000\n");
    CHECK(machine.describe().processors[0].cores == 1);
    machine.write("sys/fs/cgroup/job/cpu.max", "150000 100000\n");
    CHECK(machine.describe().processors[0].cores == 2);

    machine.write("proc/self/cgroup", "1:cpu,cpuacct:/job\n");
    machine.write("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "-1\n");
    machine.write("sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
    CHECK(machine.describe().processors[0].cores == 2);
    machine.write("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "50000\n");
    CHECK(machine.describe().processors[0].cores == 1);
}

TEST_CASE("boards and phones are told by their files", "[devices]") {
    MadeUpMachine machine;
    machine.write("proc/cpuinfo", "processor\t: 0\nmodel name\t: Some CPU 9000\n");
    CHECK(machine.describe().name == "Some CPU 9000");
    machine.write("proc/device-tree/model", std::string("Raspberry Pi 5 Model B Rev 1.0\0", 31));
    CHECK(machine.describe().name == "Raspberry Pi 5 Model B Rev 1.0");
    machine.write("system/build.prop", "ro.build.version.release=16\n");
    const device::Device phone = machine.describe();
    CHECK(phone.os == "android");
    CHECK(phone.pools[0].usable_rule == "android-half");
    CHECK(phone.processors[0].efficiency_class == "phone_cpu");
}

TEST_CASE("a machine that says nonsense is an error or is ignored, never a crash", "[devices]") {
    MadeUpMachine machine;
    machine.write("proc/self/cgroup", "0::/a\n::::\n0::relative\n");
    machine.write("sys/fs/cgroup/a/memory.max", "-5 rubbish\n");
    machine.write("sys/fs/cgroup/memory.max", "99999999999999999999999\n");
    machine.write("sys/fs/cgroup/a/cpu.max", "rubbish\n");
    machine.write("proc/self/status", "Cpus_allowed_list:\t0-99999999,,5-1,x\n");
    machine.write("sys/devices/system/cpu/cpu0/cache/index0/size", "99999999999K\n");
    machine.write("sys/devices/system/cpu/cpu0/cache/index0/level", "77\n");
    CHECK(machine.ram().value == kTotal);
    for (const char* bad :
         {"", "MemTotal:\n", "MemTotal: lots kB\n", "MemTotal: 0 kB\n", "MemTotal: 99999999999999999 kB\n"}) {
        machine.write("proc/meminfo", bad);
        CHECK_THROWS_AS(machine.describe(), Error);
    }
}

TEST_CASE("this machine describes itself", "[devices]") {
    const device::Device d = resolve_device("host");
    CHECK(d.pools.front().capacity.value > 64 * kMiB);
    CHECK(d.processors.front().cores >= 1);
    for (const std::string& name : host_isa()) CHECK_NOTHROW(check_isa(name, ""));
#if defined(__x86_64__)
    // The kernel's own list, where it has the same names.
    std::ifstream in("/proc/cpuinfo");
    const std::string cpuinfo{std::istreambuf_iterator<char>(in), {}};
    for (const std::string& name : host_isa()) CHECK(cpuinfo.find(" " + name) != std::string::npos);
#endif
}

TEST_CASE("the spread of assumed bandwidths is that of the catalogue", "[devices]") {
    const device::Device d = describe_host();
    double sum = 0, squares = 0;
    int n = 0;
    for (const DeviceSummary& s : list_devices()) {
        if (s.sizes.empty() || s.sizes.back().value < kGiB || s.pool != "ram" || s.bandwidth.value <= 0)
            continue;
        const device::Device known = resolve_device(s.id + ":" + std::to_string(s.sizes.back().value / kGiB));
        for (const device::Processor& p : known.processors)
            if (p.efficiency_class == d.processors[0].efficiency_class && p.pool == "ram") {
                const double x = std::log(known.pools[0].bandwidth.value);
                sum += x;
                squares += x * x;
                ++n;
            }
    }
    REQUIRE(n > 3);
    const double deviation = std::sqrt(squares / n - sum * sum / n / n);
    CHECK(d.pools[0].bandwidth_deviation == Approx(deviation).margin(0.1));
}

TEST_CASE("a saved calibration gives what was measured, the machine its limits", "[devices]") {
    TemporaryFolder config;
    const ConfigHome home(config.path);
    const device::Device live = describe_host();
    device::Device saved = live;
    saved.pools[0].capacity = Bytes(123 * kGiB);
    saved.pools[0].usable = Bytes(99 * kGiB);
    saved.pools[0].bandwidth = BytesPerSecond(40e9);
    saved.pools[0].measured_bandwidth = BytesPerSecond(33e9);
    saved.processors[0].cores = 777;
    saved.processors[0].int8 = OpsPerSecond(5e11);
    saved.sources["bandwidth"] = "measured on this host";
    saved.measurements.push_back({"m", "Q8_0", 128, 64, 100, 10, "this program"});
    config.write("memwall/host.yaml", write_device_yaml(saved));

    const device::Device d = resolve_device("host");
    CHECK(d.pools[0].bandwidth.value == 40e9);
    CHECK(d.pools[0].measured_bandwidth.value == 33e9);
    CHECK(d.processors[0].int8.value == Approx(5e11 * live.processors[0].cores / 777));
    CHECK(d.measurements.size() == 1);
    CHECK(d.source("bandwidth") == "measured on this host");
    CHECK(d.pools[0].capacity == live.pools[0].capacity);
    CHECK(d.pools[0].usable == live.pools[0].usable);
    CHECK(d.processors[0].cores == live.processors[0].cores);
    CHECK(any_note(d, "calibrated by "));

    // A control group made smaller since: its limit holds, not what the file remembers.
    MadeUpMachine machine;
    machine.write("proc/self/cgroup", "0::/job\n");
    machine.write("sys/fs/cgroup/job/memory.max", "1073741824\n");
    machine.write("sys/fs/cgroup/job/cpu.max", "100000 100000\n");
    const device::Device small = host_device(machine.path);
    CHECK(small.pools[0].capacity.value == kGiB);
    CHECK(small.pools[0].usable.value == kGiB);
    CHECK(small.pools[0].bandwidth.value == 40e9);
    CHECK(small.processors[0].cores == 1);
    CHECK(small.processors[0].int8.value == Approx(5e11 / 777));
    CHECK(any_note(small, "a control group limits memory to 1.00 GiB"));
    CHECK_FALSE(any_note(small, "not measured"));
    CHECK(any_note(small, "calibrate again"));  // another CPU's name

    config.write("memwall/host.yaml", "schema: memwall/device/1\nram: much\nprocessors: [{kind: cpu}]\n");
    CHECK_THROWS_WITH(resolve_device("host"), Catch::Contains("host.yaml:2: 'much'"));
}

TEST_CASE("a user's own device comes before the catalogue's", "[devices]") {
    TemporaryFolder config;
    const ConfigHome home(config.path);
    const std::string text =
        "schema: memwall/device/1\nid: raspberry-pi-5\nname: mine, overclocked\nos: linux\n"
        "ram: {size: 8GiB, bandwidth: 20GB/s}\nprocessors: [{kind: cpu}]\n";
    config.write("memwall/devices/raspberry-pi-5.yaml", text);
    config.write("memwall/devices/my-box.yaml", text);
    CHECK(resolve_device("raspberry-pi-5").name == "mine, overclocked");
    CHECK(resolve_device("my-box:8").pools[0].bandwidth.value == 20e9);
    CHECK(resolve_device(config.path + "/memwall/devices/my-box.yaml").pools[0].bandwidth.value == 20e9);
    CHECK_THROWS_WITH(resolve_device("my-bix"), Catch::Contains("did you mean my-box"));
    const std::vector<DeviceSummary> list = list_devices();
    CHECK(list.size() == 112);
    int found = 0;
    for (const DeviceSummary& s : list) found += s.id == "my-box" || s.name == "mine, overclocked";
    CHECK(found == 2);

    config.write("memwall/devices/my-box.yaml", "schema: memwall/device/1\n");
    CHECK_THROWS_WITH(resolve_device("my-box"), Catch::Contains("my-box.yaml:1: no memory"));
    CHECK_THROWS_WITH(list_devices(), Catch::Contains("my-box.yaml"));
    CHECK_THROWS_WITH(resolve_device(config.path + "/none.yaml"), Catch::Contains("cannot open"));
}
