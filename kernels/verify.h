// memwall verify: what was predicted against what this host does, item by item.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/device/calibration.h"
#include "core/model/model.h"
#include "kernels/probe/deadline.h"
#include "kernels/probe/samples.h"

namespace memwall::kernels {

struct VerifyOptions {
    std::vector<std::string>
        models;  ///< as open_model() takes them, or names of verify_models(); empty = those
    std::vector<std::int64_t> contexts = {128, 512, 2048};
    std::vector<std::string> kv = {"f16", "int8", "int4"};
    int threads = 0;  ///< 0 = one a core
    int runs = 7;     ///< samples of every item
};

/// Small decoders that the project verifies itself with: dense, with experts, with windows.
std::vector<model::Model> verify_models();

enum class Verdict : std::uint8_t {
    holds,         ///< the achieved median lies within the prediction's interval
    missed,        ///< the whole interval of the achieved median lies outside
    inconclusive,  ///< neither, or the machine was not quiet
    measured,      ///< nothing was predicted: an input of the predictions
};
std::string verdict_name(Verdict verdict);

struct VerifyItem {
    std::string model;  ///< empty: of the host
    std::string what;   ///< "allocated weights", "resident", "decode", "first token", "read bandwidth" ...
    std::string kv;     ///< empty where it plays no part
    std::int64_t context = 0;
    std::string unit;              ///< "B", "tokens/s", "s", "B/s"
    double predicted = 0;          ///< 0: nothing
    double low = 0, high = 0;      ///< the prediction's own interval
    device::ProbeResult achieved;  ///< exact counts have one sample
    bool timed = false;            ///< needs a quiet machine
    Verdict verdict = Verdict::measured;
};

struct VerifyRun {
    std::string isa, pages;
    int threads = 0;
    double read_low = 0, read_high = 0;  ///< of the read probe during the run, B/s
    double steal = 0;
    int samples = 0, disturbed = 0;  ///< of the engine's timings
    bool quiet = false;              ///< read probe within 5 %, every timing from undisturbed samples
    std::vector<VerifyItem> items;
    std::vector<SampleSet> sets;  ///< raw, in seconds

    /// 1 when an item missed, else 3 when one is inconclusive, else 0.
    int exit_status() const;
};

/// What the item's interval says of the achieved one.
Verdict judge(const VerifyItem& item, bool quiet);

/// Throws Error for models the engine cannot run and options out of range.
VerifyRun verify(const VerifyOptions& options, const Progress& progress = {});

}  // namespace memwall::kernels
