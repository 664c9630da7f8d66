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

/// Where a calibration of this machine is kept: host.yaml in the user's folder; empty without one.
std::string calibration_path();

/// describe_host() with the measured bandwidth, rates and runs of the calibration saved at
/// calibration_path(), if there is one. Throws Error when that file is unreadable.
device::Device host_device(const std::string& root = "");

/// `saved` (read from `path`) with the memory, limits and cores of `host`: what is measured comes from the
/// file, what this process may use now does not.
device::Device with_calibration(const device::Device& host, device::Device saved, const std::string& path);

}  // namespace memwall::devices
