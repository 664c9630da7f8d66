// memwall calibrate: what this machine reads, computes and loads, as a device profile that plans are made
// with.
#pragma once

#include <string>
#include <vector>

#include "core/device/device.h"
#include "kernels/probe/deadline.h"
#include "kernels/probe/samples.h"

namespace memwall::kernels {

struct CalibrateOptions {
    int threads = 0;      ///< the most to measure; 0 = one a core
    double seconds = 60;  ///< about how long it may take; a few seconds go by whatever is asked for
    std::string storage;  ///< folder whose device is read; empty = default_storage_directory()
};

struct CalibrationRun {
    device::Device device;        ///< this machine; `calibration` holds the best of every probe
    std::vector<SampleSet> sets;  ///< every probe in every way, raw
};

/// Throws Error for options out of range, without memory, or when the storage folder cannot be written to.
CalibrationRun calibrate(const CalibrateOptions& options, const Progress& progress = {});

/// Puts `results` into a description of the machine they were measured on: bandwidth, peak rates, storage,
/// their sources; what was assumed before is assumed no longer.
void apply_calibration(device::Device& host, device::Calibration calibration);

}  // namespace memwall::kernels
