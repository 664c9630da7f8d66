// One configuration as a user states it. Every field is an option of the command, a key of a deployment file
// and a control of the explorer; options.h holds the table that ties the three together.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/units.h"

namespace memwall::plan {

enum class Switch : std::uint8_t { automatic, on, off };

/// Empty strings and zeros mean "the default of the model, runtime or device"; resolve() in prepare.h fills
/// them in.
struct Deployment {
    std::string model;
    std::string device = "host";
    std::string processor;  ///< cpu, gpu, npu
    std::int64_t threads = 0;
    std::string quant;  ///< recipe name; empty = as stored, or the runtime's usual one
    std::int64_t group_size = 0;
    std::string activations;   ///< a16, a8
    std::int64_t context = 0;  ///< tokens per sequence
    std::string kv_k, kv_v;
    std::int64_t sequences = 1;
    std::int64_t batch = 0, ubatch = 0;
    Switch flash_attention = Switch::automatic;
    std::int64_t window = 0, sinks = 0;  ///< sliding window forced on full layers
    std::int64_t prompt = 0, cached_prompt = 0, generate = 0;
    std::string runtime = "llama.cpp";  ///< NAME or NAME@RELEASE
    std::map<std::string, std::string> runtime_options;
    std::string gpu_layers = "all";    ///< a number, all, auto
    std::string kv_pool, expert_pool;  ///< device, host
    std::string offload = "none";      ///< none, auto
    std::string draft;                 ///< MODEL[:RECIPE] of the draft
    std::int64_t draft_tokens = 4;
    double acceptance = 0;  ///< 0 = by evidence
    std::string projector;  ///< a file, or none
    std::int64_t images = 0;
    std::string lora;  ///< a file or a size
    Bytes reserve;
    Bytes budget;  ///< 0 = the device's rule
    std::vector<std::string> measured, evidence;
    std::vector<std::string> set;  ///< what-ifs: "device.bandwidth=+8GB/s"
};

}  // namespace memwall::plan
