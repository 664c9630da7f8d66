// The machine this program runs on, as a device.
#pragma once

#include <string>

#include "core/device/device.h"

namespace memwall::devices {

/// RAM (cgroup limits win over physical memory), cores this process may use, caches, instruction sets,
/// system. Reads /proc and /sys below `root`, so that tests can show it a made-up machine; instruction sets
/// are always those of the real CPU. Bandwidth cannot be read anywhere: a prior of the class stands in, and a
/// note says so.
device::Device describe_host(const std::string& root = "");

/// describe_host() with the measured bandwidth, rates and runs of the calibration saved in
/// $XDG_CONFIG_HOME/memwall/host.yaml, if there is one. Throws Error when that file is unreadable.
device::Device host_device();

}  // namespace memwall::devices
