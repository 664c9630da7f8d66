// What `memwall calibrate` measured on a machine, and under which conditions. Plain data; kernels/calibrate
// fills it, core/speed predicts with it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/units.h"

namespace memwall::device {

/// One measured quantity at one number of threads: a sample set boiled down.
struct ProbeResult {
    std::string probe;  ///< "read", "copy", "triad", "fp32", "int8", "barrier", "storage_direct" ...
    std::string unit;   ///< "B/s", "ops/s", "s"
    int threads = 1;
    double median = 0;         ///< in `unit`
    double low = 0, high = 0;  ///< hold the true median in at least 95 % of cases (order statistics)
    double min = 0, max = 0;
    int samples = 0;   ///< behind the median
    int unclean = 0;   ///< of them: taken while another process had the core or the cache was not cold
    double steal = 0;  ///< share of CPU time that the hypervisor gave away meanwhile, 0..1
    std::string how;   ///< what was measured best: "prefetch 4 KiB + 32 KiB", the instruction set ...
    bool operator==(const ProbeResult&) const = default;
};

struct Calibration {
    std::string date;     ///< "2026-11-30"
    std::string version;  ///< of memwall
    std::string kernel;   ///< "Linux 6.1.0"
    std::string isa;      ///< that the loops used
    std::string pages;    ///< what backed the working set: "huge", "small", "mixed"
    int threads = 0;      ///< the most that were used
    double steal = 0;     ///< over the whole run, 0..1
    std::vector<ProbeResult> results;
    bool operator==(const Calibration&) const = default;

    /// nullptr when it was not measured.
    const ProbeResult* find(std::string_view probe, int threads) const;
    /// The same at the most threads that were measured.
    const ProbeResult* widest(std::string_view probe) const;
    /// min(threads x one core's, the most that any number of threads reached); 0 = not measured. A core
    /// reaches what its outstanding misses allow, the socket what its channels allow (KERNELS section 1).
    BytesPerSecond read_bandwidth(int threads) const;
    /// What the memory would have shown if it were `factor` times as fast: a what-if.
    void scale_bandwidth(double factor);
};

}  // namespace memwall::device
