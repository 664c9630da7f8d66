// A grid over any options, what-ifs included: each point is a whole plan.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/plan/search.h"
#include "devices/planning.h"

namespace memwall::devices {

/// One axis: an option's name ("context", "kv", "model", "device"), or a field of model or device
/// ("device.bandwidth"), and its values as they are typed.
struct Axis {
    std::string name;
    std::vector<std::string> values;
};

/// "context=1024,4096", "context=1Ki..128Ki*2" (geometric), "sequences=1..8+1" (arithmetic),
/// "device.bandwidth=+0GB/s,+8GB/s". Throws Error.
Axis parse_axis(const std::string& text, const std::string& place);

struct SweepPoint {
    std::vector<std::string> values;  ///< by axis
    plan::Candidate candidate;
    plan::Deployment deployment;
    std::string failure;  ///< why this point has no plan; empty = it has one
};

/// All points, the last axis turning fastest, on all cores. `progress` is told how many are done, from any
/// thread.
std::vector<SweepPoint> sweep(const plan::Deployment& base, const std::vector<Axis>& axes,
                              const std::function<void(std::size_t done, std::size_t all)>& progress);

}  // namespace memwall::devices
