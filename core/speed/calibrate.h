// Measured runs narrow a machine's rates: one run settles what it hangs on (usually the effective bandwidth),
// a second of another size separates bandwidth from overhead, a long one finds the cache rate, a prompt the
// utilisation. All cases are one update: the prior is normal in the logarithms of the rates, each run is a
// noisy reading of their law.
#pragma once

#include <span>
#include <string_view>

#include "core/speed/decode.h"

namespace memwall::speed {

/// A run on the machine. Zero rates were not measured.
struct MeasuredRun {
    Workload work;
    KvTraffic kv;
    SpeedSettings settings;  ///< context of the decode part, prompt and micro-batch of the prefill part
    double decode_per_second = 0, prefill_per_second = 0;  ///< tokens/s of all sequences together
};

/// Most likely rates and their covariance given the runs (Gauss-Newton, the covariance from the last
/// linearisation). Sets the basis: "one run", "two runs", "N runs", or `basis` when given ("measured on this
/// host").
void calibrate(Machine& machine, std::span<const MeasuredRun> runs, std::string_view basis = {});

}  // namespace memwall::speed
