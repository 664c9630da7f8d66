// A device as the speed model sees it: one processor, one engine, effective rates with their uncertainty.
//
// Decode time of one step is  w/(e BW) + kv/(k BW) + layers o,  not below the compute and dequantization
// roofs. The logarithms of e, k and o are jointly normal: centre and covariance come from the class prior
// (data/priors.yaml, made by speed_fit) and are narrowed by measured runs (calibrate.h). Every interval
// follows from that covariance.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/interval.h"
#include "core/base/units.h"
#include "core/device/device.h"

namespace memwall::speed {

/// What the engine does that time depends on. Defaults: a current llama.cpp.
struct EngineInfo {
    int year = 0;                   ///< release year; 0 = current
    bool flash_attention = true;    ///< fused attention kernel
    std::int64_t prompt_chunk = 0;  ///< compiled prompt length of a static-shape engine: prompts are padded
                                    ///< to a multiple; 0 = any length
    bool routes_experts = true;  ///< false: mixture-of-experts models are refused
};

struct MachineOptions {
    int threads = 0;     ///< CPU threads; 0 = all cores
    Watts power_cap{0};  ///< 0 = the device's own limit
};

/// Log-normal vector: element i is exp(N(mean[i], covariance[i][i])).
template <int N>
struct LogNormal {
    std::array<double, N> mean{};
    std::array<std::array<double, N>, N> covariance{};
};

struct Machine {
    enum Parameter : std::uint8_t { weights_efficiency, kv_efficiency, layer_overhead, parameters };

    device::ProcessorKind kind = device::ProcessorKind::cpu;
    double bandwidth = 0;              ///< bytes/s of the pool, as far as these threads and watts can draw it
    LogNormal<parameters> decode;      ///< e (share of bandwidth), k (share), o (seconds a layer)
    double step_overhead = 0;          ///< seconds a step outside the layers (sampling, synchronisation)
    double expert_overhead = 0;        ///< o of a layer with routed experts is multiplied by 1 + this
    double decode_noise = 0;           ///< log deviation of a single run around its device's true numbers
    double dequantization_rate = 0;    ///< weights/s below 16 bits; 0 = no roof known
    double dequantization_spread = 0;  ///< log deviation of that rate

    double compute = 0;             ///< ops/s of the peak that the utilisation is relative to
    std::string_view compute_name;  ///< "gpu.fp16" ...
    enum PrefillParameter : std::uint8_t { utilisation, attention_utilisation, prefill_parameters };
    LogNormal<prefill_parameters> prefill;
    double prefill_noise = 0;
    double half_precision_gain = 1;  ///< utilisation for 16-bit weights / for quantized ones

    double quantile = 1.645;  ///< deviations from the centre to the ends of the interval
    double level = 0.9;
    std::string_view basis = "prior";

    std::int64_t prompt_chunk = 0;
    std::string_view refusal_of_experts;  ///< empty = routed experts run here

    double storage_read = 0;  ///< bytes/s; 0 = unknown
    double link_bandwidth = 0, link_latency = 0;
    double sustained_fraction = 0, sustained_spread = 0;  ///< 0 = unknown
    double joules_per_byte = 0, static_watts = 0, energy_spread = 0;
    double battery_joules = 0;

    double weights_rate() const;  ///< e BW, bytes/s
    double kv_rate() const;       ///< k BW
    double overhead() const;      ///< o, seconds
    double compute_rate() const;  ///< u peak, ops/s
};

/// `processor` must be one of the device's. Throws Error when the device has no such processor or its memory
/// bandwidth is unknown.
Machine machine_for(const device::Device& device, device::ProcessorKind processor,
                    const EngineInfo& engine = {}, const MachineOptions& options = {});

/// Bandwidth that n of `cores` threads draw: p-norm of per-core and socket limits, 1/BW^2 = 1/(n b)^2 +
/// 1/Bmax^2 with cores b / Bmax = 1.68 (one published 10-core curve, SPEED_AND_SIM B.1), scaled so that all
/// cores give 1.
double core_saturation(int threads, int cores);

}  // namespace memwall::speed
