// The "calibration:" part of a device file. Private to devices/, as yaml_fields.h is.
#pragma once

#include <yaml-cpp/yaml.h>

#include <string>

#include "core/device/calibration.h"

namespace memwall::devices {

/// Throws Error with "file:line" for results without a probe, a unit or a rising range.
device::Calibration read_calibration(const YAML::Node& node, const std::string& file);

void write_calibration(YAML::Emitter& out, const device::Calibration& calibration);

}  // namespace memwall::devices
