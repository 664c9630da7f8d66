#include "kernels/probe/steal.h"

#include <sstream>

#include "devices/host_limits.h"

namespace memwall::kernels {

CpuTicks read_cpu_ticks(const std::string& root) {
    // "cpu user nice system idle iowait irq softirq steal guest guest_nice": guests are in user already.
    std::istringstream line(devices::read_host_file(root, "/proc/stat"));
    std::string name;
    CpuTicks ticks;
    if (!(line >> name) || name != "cpu") return ticks;
    constexpr int kFields = 8, kSteal = 7;
    for (int field = 0; field < kFields; ++field) {
        std::uint64_t value = 0;
        if (!(line >> value)) return {};
        ticks.all += value;
        if (field == kSteal) ticks.stolen = value;
    }
    return ticks;
}

double steal_between(const CpuTicks& before, const CpuTicks& after) {
    if (after.all <= before.all || after.stolen < before.stolen) return 0;
    return static_cast<double>(after.stolen - before.stolen) / static_cast<double>(after.all - before.all);
}

}  // namespace memwall::kernels
