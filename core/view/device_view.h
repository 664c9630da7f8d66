// Devices as text and JSON.
#pragma once

#include <string>

#include "core/device/device.h"
#include "core/view/text_table.h"

namespace memwall::view {

std::string device_text(const device::Device& device, bool colour);
std::string device_json(const device::Device& device);  ///< memwall/device-view/1

/// Rows of a listing as objects: {"schema": schema, ..., key: [{header: cell}]}.
std::string table_json(std::string_view schema, std::string_view key, const TextTable& table);

}  // namespace memwall::view
