// Class priors of the speed model: what a processor nobody has measured is expected to reach, and how far off
// that may be. The numbers live in data/priors.yaml, written by the fit (fit.h) and parsed once on first use.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/device/device.h"
#include "core/speed/rates.h"

namespace memwall::speed {

/// A family of processors that share fitted numbers. Efficiencies are shares of a peak.
struct FamilyPrior {
    double weights = 0.8;          ///< e: of the memory bandwidth
    double kv = 0.35;              ///< k: of the memory bandwidth, fused attention
    double layer_overhead = 1e-4;  ///< o: seconds
    double utilisation = 0.2;      ///< u: of the matrix peak in prefill
    double attention = 0.5;        ///< attention rate as a share of u peak, fused
    double spread = 1;             ///< width of the family's devices relative to `PriorBook::spread`, decode
    double prefill_spread = 1;     ///< the same for prefill
    int devices = 0, prefill_devices = 0;  ///< measured devices behind the numbers
    std::string parent = "pooled";         ///< the fit shrinks to this family
};

struct ClassPrior {
    std::string family;
    bool judged = false;  ///< no measured device of this class: the family's numbers with a wider spread
    std::string_view basis = "judged prior";  ///< for intervals: "prior of class X"
};

struct PriorBook {
    double level = 0.9;
    double quantile = 1.645,
           prefill_quantile = 1.645;            ///< deviations from centre to the ends of the interval
    double noise = 0.05, prefill_noise = 0.05;  ///< log deviation of one run around its device's own numbers
    double common_spread = 0.08;                ///< log deviation of a whole setup: build, clocks, memory bin
    RateVector spread{};                        ///< log deviation between devices of one family
    double judged_spread = 1.5;                 ///< factor on all deviations of a judged class

    // Laws shared by all families.
    double cpu_flops_per_weight = 8,
           gpu_flops_per_weight = 28;  ///< fp32 peak / rate of unpacking nested blocks
    double simple_block_cost = 0.7;    ///< unpacking blocks with one scale on a GPU, relative to nested ones
    double split_field_cost = 1.5;     ///< unpacking values kept in two fields, relative to nested ones
    double nested_matrix_cost = 1.15;  ///< matrix time of nested blocks in prefill, relative to simple ones
    double overhead_per_year = 0.2;    ///< growth of GPU overhead for each year an engine is older than 2025
    double served_overhead =
        4e-4;               ///< seconds a step in a server beside the model: sampling, text, transport
    double unfused_kv = 2;  ///< factor on k without flash attention, where heads share caches of the chip
    double unfused_score_bytes = 26;  ///< prefill without flash attention: bytes moved for each score
    double unfused_attention = 0.5;   ///< factor on the attention share without flash attention
    double cpu_width_exponent =
        0;  ///< e of a CPU falls as (bandwidth / 60 GB/s)^this: cores cannot draw a wide bus
    double expert_overhead = 1;  ///< x / o

    std::map<std::string, FamilyPrior, std::less<>> families;
    std::map<std::string, ClassPrior, std::less<>> classes;  ///< by efficiency class of a processor

    void add_class(const std::string& efficiency_class, const std::string& family_name, bool judged);
    const ClassPrior& classified(std::string_view efficiency_class) const;
    const FamilyPrior& family(const ClassPrior& c) const;
};

/// The embedded book.
const PriorBook& priors();

/// Throws Error naming the line.
PriorBook read_priors(std::string_view yaml, const std::string& name);
std::string write_priors(const PriorBook& book);

/// What the prior of one processor under one engine depends on.
struct Traits {
    std::string_view efficiency_class;
    device::ProcessorKind kind = device::ProcessorKind::cpu;
    double bandwidth = 0;    ///< bytes/s
    double fp32 = 0;         ///< ops/s; 0 = unknown: no unpacking roof
    double matrix_peak = 0;  ///< ops/s that the utilisation is relative to; 0 = unknown
    double wide_peak = 0;    ///< ops/s of 16-bit products; 0 = the same
    bool concurrent_int =
        false;  ///< integer units work beside the float ones: fp32 tells half of the issue rate
    int engine_year = 2026;
    bool fused_attention = true;
    bool served = false;
};

Rates prior_rates(const PriorBook& book, const Traits& traits);

}  // namespace memwall::speed
