// What sweep prints.
#pragma once

#include <string>
#include <vector>

#include "devices/sweep.h"

namespace memwall::cli {

std::string sweep_text(const std::vector<devices::Axis>& axes, const std::vector<devices::SweepPoint>& points,
                       bool markdown, bool colour, std::size_t width);
/// One line a point; bytes, seconds and tokens/s as plain numbers with low, central and high.
std::string sweep_csv(const std::vector<devices::Axis>& axes, const std::vector<devices::SweepPoint>& points);
/// memwall/sweep/1
std::string sweep_json(const std::vector<devices::Axis>& axes,
                       const std::vector<devices::SweepPoint>& points);

}  // namespace memwall::cli
