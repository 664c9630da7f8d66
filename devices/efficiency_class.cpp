#include "devices/efficiency_class.h"

#include <fmt/format.h>

#include <array>

#include "core/base/error.h"

namespace memwall::devices {
namespace {

using enum device::ProcessorKind;

constexpr std::array kClasses{
    EfficiencyClass{"phone_cpu", cpu, "phone", "android", "android-half"},
    EfficiencyClass{"phone_gpu", gpu, "phone", "android", "android-half"},
    EfficiencyClass{"phone_npu", npu, "phone", "android", "android-half"},
    EfficiencyClass{"apple_base_pro", gpu, "laptop", "macos", "macos-iogpu"},
    EfficiencyClass{"apple_max_ultra", gpu, "desktop", "macos", "macos-iogpu"},
    EfficiencyClass{"pc_cpu", cpu, "desktop", "", "cpu-ram-minus-os"},
    EfficiencyClass{"pc_igpu", gpu, "laptop", "windows", "windows-shared-half"},
    EfficiencyClass{"sbc_cpu", cpu, "sbc", "linux", "linux-minus-os"},
    EfficiencyClass{"edge_npu", npu, "edge", "linux", "linux-minus-os"},
    EfficiencyClass{"jetson", gpu, "edge", "linux", "linux-minus-os"},
    EfficiencyClass{"gb10", gpu, "edge", "linux", "linux-minus-os"},
    EfficiencyClass{"nvidia_consumer", gpu, "gpu", "", "cpu-ram-minus-os"},
    EfficiencyClass{"amd_consumer", gpu, "gpu", "", "cpu-ram-minus-os"},
    EfficiencyClass{"intel_arc", gpu, "gpu", "", "cpu-ram-minus-os"},
    EfficiencyClass{"datacenter", gpu, "datacenter", "", "cpu-ram-minus-os"},
    EfficiencyClass{"automotive_npu", npu, "automotive", "", "car-half"},
};

struct System {
    std::string_view name, usable_rule;
};

constexpr std::array kSystems{
    System{"android", "android-half"}, System{"ios", "ios-entitlement"},
    System{"macos", "macos-iogpu"},    System{"windows", "windows-shared-half"},
    System{"linux", "linux-minus-os"}, System{"none", ""},
};

template <class Table>
std::string names(const Table& table) {
    std::string list;
    for (const auto& row : table) list += (list.empty() ? "" : ", ") + std::string(row.name);
    return list;
}

}  // namespace

std::span<const EfficiencyClass> efficiency_classes() {
    return kClasses;
}

const EfficiencyClass& efficiency_class(std::string_view name, std::string_view place) {
    for (const EfficiencyClass& c : kClasses)
        if (c.name == name) return c;
    throw Error(std::string(place), fmt::format("unknown class '{}'", name), "one of " + names(kClasses));
}

std::string default_usable_rule(const device::Device& device) {
    for (const System& s : kSystems)
        if (s.name == device.os) return std::string(s.usable_rule);
    for (const device::Processor& p : device.processors)
        for (const EfficiencyClass& c : kClasses)
            if (c.name == p.efficiency_class) return std::string(c.usable_rule);
    return {};
}

std::string check_os(std::string_view name, std::string_view place) {
    for (const System& s : kSystems)
        if (s.name == name) return std::string(name);
    throw Error(std::string(place), fmt::format("unknown system '{}'", name), "one of " + names(kSystems));
}

}  // namespace memwall::devices
