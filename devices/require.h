// The inverse of a plan: the least memory, bandwidth and compute with which a model meets demands on a device
// like the one given.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/plan/decide.h"
#include "devices/planning.h"

namespace memwall::devices {

/// What more of one resource buys on the device as it is.
struct Sensitivity {
    std::string change;  ///< "+8GB/s bandwidth"
    bool timed = false;
    double decode_before = 0, decode_after = 0;            ///< tokens/s, central
    double first_token_before = 0, first_token_after = 0;  ///< seconds, central
    std::int64_t context_before = 0, context_after = 0;    ///< largest that fits
};

struct Requirement {
    Bytes memory;               ///< size of the processor's pool; its usable part follows the device's rule
    BytesPerSecond bandwidth;   ///< of that pool; 0 = no time is demanded
    double compute_factor = 1;  ///< on all rates of the processor; 1 where no time is demanded
    OpsPerSecond compute;       ///< the rate that prefill is relative to, scaled; 0 = the device says none
    std::string compute_name;   ///< "gpu.fp16"
    plan::Plan plan;            ///< on the device asked for
    std::vector<std::string> set;  ///< "device.ram=5.3GiB" ...: what makes this device of the given one
    std::optional<std::string> unreachable;  ///< no amount of them is enough, and why
};

/// Memory is the least at which the verdict is `fits`; bandwidth the least at the device's own compute (or,
/// where that is not enough, at 1.1 times the least that is), then compute the least at that bandwidth. So
/// less of any of the three misses the demands. Limits are met at `limits.confidence`. Throws Error for
/// demands on times of a device without a speed prior.
Requirement require(const Opened& opened, const plan::Constraints& limits);

/// +8 GB/s, +2 TOPS and +1 GiB, each alone.
std::vector<Sensitivity> sensitivities(const Opened& opened);

}  // namespace memwall::devices
