// The "ram:", "vram:" and "module:" parts of a device file. Private to devices/, as yaml_fields.h is.
#pragma once

#include <yaml-cpp/yaml.h>

#include <string>
#include <vector>

#include "devices/device_yaml.h"

namespace memwall::devices {

/// The sizes a pool comes in; empty when the file does not say. A pool is a mapping, or just its size
/// ("ram: 8GiB").
std::vector<Bytes> pool_sizes(const YAML::Node& pool, const std::string& file);

/// Fills `pool`, which is one of `device`, with its name set and the device's system and processors known.
void read_pool(const YAML::Node& node, device::Device& device, device::Pool& pool, const SizeChoice& choice,
               const std::string& file);

}  // namespace memwall::devices
