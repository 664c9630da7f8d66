// Numbers inside a device, found by the names of device_fields.h. Private to devices/.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/device/device.h"

namespace memwall::devices {

inline constexpr double kNoEnd = 1e30;

/// One number: how to read it from text, print and change it. Holds references into its device.
struct Number {
    double (*parse)(std::string_view text, std::string_view place);
    std::string (*text)(double value);
    std::function<double()> get;  ///< 0 = unknown
    std::function<void(double)> set;
    std::string source_key;  ///< its key in Device::sources
    double highest = kNoEnd;
};

/// The number called `field`; nothing when no number has that name. Throws Error with `place` when this
/// device lacks the pool or processor that it belongs to.
std::optional<Number> find_number(device::Device& device, const std::string& field, const std::string& place);

/// The processor of that kind, nullptr when there is none.
device::Processor* find_processor(device::Device& device, device::ProcessorKind kind);

/// Every name that find_number() knows, without prefixes.
std::vector<std::string> number_names();

}  // namespace memwall::devices
