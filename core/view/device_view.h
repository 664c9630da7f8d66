// Devices as text and JSON.
#pragma once

#include <string>

#include "core/device/device.h"

namespace memwall::view {

/// Lines of at most `width` columns, 0 = as long as they are.
std::string device_text(const device::Device& device, bool colour, std::size_t width = 0);
std::string device_json(const device::Device& device);  ///< memwall/device-view/1

}  // namespace memwall::view
