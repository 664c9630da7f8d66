// The classes of processors that the speed priors know, and what each suggests about an otherwise unknown
// device.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/device/device.h"

namespace memwall::devices {

struct EfficiencyClass {
    std::string_view name;          ///< key of the speed priors: "sbc_cpu"
    device::ProcessorKind kind;     ///< the processor it speaks of
    std::string_view device_class;  ///< Device::device_class of an inline device
    std::string_view os;            ///< the usual system; empty = several
    std::string_view usable_rule;   ///< for the RAM of a device whose system is not named
};

std::span<const EfficiencyClass> efficiency_classes();

/// Throws Error listing the known ones.
const EfficiencyClass& efficiency_class(std::string_view name, std::string_view place);

/// The rule for a device's RAM by its system, else by the class of its first processor; empty = none known.
std::string default_usable_rule(const device::Device& device);

/// "android", "ios" ... Throws Error listing the known ones.
std::string check_os(std::string_view name, std::string_view place);

}  // namespace memwall::devices
