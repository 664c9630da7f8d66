// A device as the speed model sees it: one processor under one engine, its rates with their uncertainty, and
// what else bounds a request (storage, link, heat, battery).
#pragma once

#include <cstdint>
#include <string_view>

#include "core/base/interval.h"
#include "core/base/units.h"
#include "core/device/device.h"
#include "core/speed/priors.h"
#include "core/speed/rates.h"
#include "core/speed/workload.h"

namespace memwall::speed {

/// What the engine does that time depends on. Defaults: a current llama.cpp.
struct EngineInfo {
    int year = 0;                 ///< release year; 0 = current
    bool flash_attention = true;  ///< fused attention kernel
    bool served = false;          ///< behind a server: sampling, text and transport take part of every step
    bool expands_weights =
        false;  ///< prefill first writes packed weights out as 16-bit (CUDA engines to mid-2024)
    std::int64_t prompt_chunk = 0;  ///< compiled prompt length of a static-shape engine: prompts are padded
                                    ///< to a multiple; 0 = any length
    bool routes_experts = true;     ///< false: mixture-of-experts models are refused
};

struct MachineOptions {
    int threads = 0;       ///< CPU threads; 0 = all cores
    double power_cap = 0;  ///< watts the processor may draw; 0 = its own limit
};

/// What an engine streams of the bandwidth that `memwall calibrate` reads with: ggml's fp16 kernels, which
/// nothing but memory bounds, reached 0.72 to 0.99 of it (KERNELS section 2). The middle of that range, and
/// the deviation of a logarithm that has 90 % of cases in it.
inline constexpr double kShareOfMeasured = 0.844, kShareDeviation = 0.097;

struct Machine {
    device::ProcessorKind kind = device::ProcessorKind::cpu;
    double bandwidth = 0;  ///< bytes/s: peak of the pool the weights are read from
    Rates rates;
    bool served = false;            ///< steps carry the overhead of a server
    double simple_block_cost = 1;   ///< unpacking: simple blocks / nested ones
    double split_field_cost = 1;    ///< unpacking: values in two fields / nested ones
    double nested_matrix_cost = 1;  ///< prefill: operations fed by nested blocks / by simple ones
    double wide_matrix_cost = 1;    ///< prefill: 16-bit operations / packed ones
    double compute = 0;             ///< ops/s: the peak that the utilisation is relative to; 0 = unknown
    std::string_view compute_name;

    double noise = 0, prefill_noise = 0;  ///< log deviation of one run around the machine's rates
    double quantile = 1.645, prefill_quantile = 1.645;  ///< deviations from the centre to the ends
    double level = 0.9;
    std::string_view basis = "prior";

    bool fused_attention = true;
    double score_bytes = 0;  ///< moved for each attention score in prefill; 0 with a fused kernel
    bool expands_weights = false;
    std::int64_t prompt_chunk = 0;
    bool routes_experts = true;

    double storage_read = 0;  ///< bytes/s; 0 = unknown
    double link_bandwidth = 0, link_latency = 0;
    double sustained_fraction = 0;  ///< of the cold rate after minutes; 0 = unknown
    double static_watts = 0, joules_per_byte = 0;
    double battery_joules = 0;  ///< 0 = none

    double weights_rate() const { return rates.central[weight_stream]; }
    double kv_rate() const { return rates.central[kv_stream]; }
    double overhead() const { return rates.central[layer_overhead]; }
    double compute_rate() const { return rates.central[matrix_rate]; }
};

/// `processor` must be one of the device's. Throws Error when the device has no such processor or its memory
/// bandwidth is unknown.
Machine machine_for(const device::Device& device, device::ProcessorKind processor,
                    const EngineInfo& engine = {}, const MachineOptions& options = {},
                    const PriorBook& book = priors());

/// The same from bare traits: for measured points and tests.
Machine machine_from(const Traits& traits, const PriorBook& book = priors());

/// Why this machine cannot run that model; empty when it can.
std::string_view refusal(const Workload& work, const Machine& machine);

/// Share of the full bandwidth that `threads` of `cores` draw: per-core and socket limits joined by a 2-norm,
/// 1/BW^2 = 1/(n b)^2 + 1/Bmax^2 with cores b = 1.68 Bmax (one published 10-core curve, SPEED_AND_SIM B.1),
/// scaled so that all cores give 1.
double core_saturation(int threads, int cores);

}  // namespace memwall::speed
