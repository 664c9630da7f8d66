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

/// Requests served by the engine and simulated, instead of single prompts and steps.
struct TraceOptions {
    /// A trace (.csv, .jsonl), a scenario (a preset's name, .yaml), "default": a short one of ours; empty =
    /// none.
    std::string source;
    std::int64_t requests = 0;     ///< the first ones only; 0 = all of a trace, 12 of the others
    double load = -1;              ///< arrivals are moved until the engine is busy this share of the time, by
                                   ///< the prediction; 0 = as recorded, -1 = 0 for traces, 0.3 for the others
    std::int64_t sequences = 4;    ///< served at a time
    std::int64_t pool_tokens = 0;  ///< of the KV pool; 0 = every sequence in full
};

struct VerifyOptions {
    std::vector<std::string> models;  ///< as open_model() takes them, or names of verify_models(); empty =
                                      ///< those, or the first of them for a trace
    std::vector<std::int64_t> contexts = {128, 512, 2048};
    std::vector<std::string> kv = {"f16", "int8", "int4"};
    int threads = 0;  ///< 0 = one a core
    int runs = 7;     ///< samples of every item; replays of a trace
    TraceOptions trace;
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
    std::string unit;              ///< "B", "tokens/s", "s", "B/s", "steps", "blocks"
    double predicted = 0;          ///< 0: nothing
    double low = 0, high = 0;      ///< the prediction's own interval
    device::ProbeResult achieved;  ///< exact counts have one sample
    bool timed = false;            ///< needs a quiet machine
    bool quiet = true;  ///< had one: every sample was clean, and memory as fast as for the prediction
    Verdict verdict = Verdict::measured;
};

struct VerifyRun {
    std::string isa, pages;
    int threads = 0;
    double read_low = 0, read_high = 0;  ///< of the references that samples were held against, B/s
    double steal = 0;
    int samples = 0, disturbed = 0;  ///< of the engine's timings
    /// Of these and of the predictions' parts: somebody else had a core, or memory another pace.
    int core_disturbances = 0, memory_disturbances = 0;
    std::int64_t requests = 0, refused = 0;  ///< of a trace: answered, and too long for context or pool
    bool quiet = false;                      ///< every item was
    std::vector<VerifyItem> items;
    std::vector<SampleSet> sets;  ///< raw, in seconds

    /// 1 when an item missed, else 3 when one is inconclusive, else 0.
    int exit_status() const;
};

/// What the item's interval says of the achieved one.
Verdict judge(const VerifyItem& item);

/// Throws Error for models the engine cannot run and options out of range.
VerifyRun verify(const VerifyOptions& options, const Progress& progress = {});

}  // namespace memwall::kernels
