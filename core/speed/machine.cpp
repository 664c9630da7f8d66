#include "core/speed/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <string>

#include "core/base/error.h"

namespace memwall::speed {
namespace {

constexpr std::string_view kConcurrentInt = "concurrent_int32";  ///< in a GPU's isa list: see Traits

struct Peaks {
    double matrix =
        0;  ///< the utilisation of a class is relative to this: fp16 of a GPU, int8 of a CPU or an NPU
    double wide = 0;  ///< of 16-bit products
    double fp32 = 0;
    std::string_view name;
};

/// Where a data sheet leaves a rate out, the usual ratio to one it states stands in: int8 dot products do
/// four times, packed halves twice the fp32 rate.
Peaks peaks_of(const device::Processor& p) {
    constexpr double kFp32PerCore = 32e9;  // two 128-bit fused multiply-adds a cycle at 2 GHz
    Peaks k;
    k.fp32 = p.fp32.value;
    if (p.kind == device::ProcessorKind::gpu) {
        k.name = "gpu.fp16";
        k.matrix = k.wide = p.fp16.value > 0 ? p.fp16.value : 2 * p.fp32.value;
        if (k.fp32 <= 0 && p.int8.value <= 0) k.fp32 = p.fp16.value / 2;
    } else if (p.kind == device::ProcessorKind::npu) {
        k.name = "npu.int8";
        k.matrix = p.int8.value > 0 ? p.int8.value : 2 * p.fp16.value;
        k.wide = p.fp16.value > 0 ? p.fp16.value : k.matrix / 2;
    } else {
        k.name = "cpu.int8";
        if (k.fp32 <= 0 && p.int8.value <= 0 && p.cores > 0) {
            k.fp32 = kFp32PerCore * p.cores;
            k.name = "cpu.int8 (assumed from the number of cores)";
        }
        k.matrix = p.int8.value > 0 ? p.int8.value : 4 * k.fp32;
        if (k.fp32 <= 0) k.fp32 = k.matrix / 4;
        k.wide = std::max(p.fp16.value, k.fp32);
    }
    return k;
}

/// A machine whose memory was measured: the weight rate is a share of what its cores read, not of a data
/// sheet, and is known as well as that share is. The cache rate keeps its ratio to the weight rate.
void use_measured_reads(Machine& m, const device::Calibration& measured, int threads) {
    const double reads = measured.read_bandwidth(threads).value;
    const double factor = kShareOfMeasured * reads / m.rates.central[weight_stream];
    for (const Rate r : {weight_stream, kv_stream}) m.rates.central[r] *= factor;
    RateMatrix& covariance = m.rates.covariance;
    const double narrower = kShareDeviation / std::sqrt(covariance[weight_stream][weight_stream]);
    if (narrower < 1)
        for (std::size_t i = 0; i < rate_count; ++i) {
            covariance[weight_stream][i] *= narrower;
            covariance[i][weight_stream] *= narrower;
        }
    m.bandwidth = reads;
    m.basis = "measured on this host, the engine's share of it from priors";
}

/// Rates that follow a figure of the device which is itself a guess move with it, all together.
void widen(RateMatrix& covariance, std::initializer_list<Rate> followers, double deviation) {
    for (const Rate i : followers)
        for (const Rate j : followers) covariance[i][j] += deviation * deviation;
}

}  // namespace

double core_saturation(int threads, int cores) {
    if (cores <= 0 || threads <= 0 || threads >= cores) return 1;
    constexpr double kCoresOverSocket = 1.68;  // 10 x 36.2 GB/s over 216 GB/s
    const auto drawn = [](double share) { return 1 / std::hypot(1 / (kCoresOverSocket * share), 1.0); };
    return drawn(static_cast<double>(threads) / cores) / drawn(1.0);
}

Machine machine_from(const Traits& traits, const PriorBook& book) {
    Machine m;
    m.kind = traits.kind;
    m.bandwidth = traits.bandwidth;
    m.rates = prior_rates(book, traits);
    m.simple_block_cost = book.simple_block_cost;
    m.split_field_cost = book.split_field_cost;
    m.served = traits.served;
    m.fused_attention = traits.fused_attention;
    m.score_bytes = traits.fused_attention ? 0 : book.unfused_score_bytes;
    m.nested_matrix_cost = book.nested_matrix_cost;
    if (traits.wide_peak > 0) m.wide_matrix_cost = traits.matrix_peak / traits.wide_peak;
    m.compute = traits.matrix_peak;
    m.noise = book.noise;
    m.prefill_noise = book.prefill_noise;
    m.quantile = book.quantile;
    m.prefill_quantile = book.prefill_quantile;
    m.level = book.level;
    m.basis = book.classified(traits.efficiency_class).basis;
    return m;
}

Machine machine_for(const device::Device& device, device::ProcessorKind processor, const EngineInfo& engine,
                    const MachineOptions& options, const PriorBook& book) {
    const device::Processor* p = device.processor(processor);
    if (!p)
        throw Error(device.id, fmt::format("no {}", device::kind_name(processor)),
                    "a processor of the device");
    const device::Pool* pool = device.pool(p->pool);
    if (!pool && !device.pools.empty()) pool = &device.pools.front();
    if (!pool || pool->bandwidth.value <= 0)
        throw Error(device.id, "the memory bandwidth is unknown", "a bandwidth",
                    "give it with --set device.bandwidth=...");
    const Peaks peaks = peaks_of(*p);
    Traits t;
    t.efficiency_class = p->efficiency_class;
    t.kind = processor;
    t.bandwidth = pool->bandwidth.value;
    t.fp32 = peaks.fp32;
    t.matrix_peak = peaks.matrix;
    t.wide_peak = peaks.wide;
    t.concurrent_int = std::find(p->isa.begin(), p->isa.end(), kConcurrentInt) != p->isa.end();
    if (engine.year > 0) t.engine_year = engine.year;
    t.fused_attention = engine.flash_attention;
    t.served = engine.served;

    Machine m = machine_from(t, book);
    m.compute_name = peaks.name;
    widen(m.rates.covariance, {weight_stream, kv_stream}, pool->bandwidth_deviation);
    widen(m.rates.covariance, {dequantization, matrix_rate, attention_rate}, p->rate_deviation);
    const bool cpu = processor == device::ProcessorKind::cpu;
    const bool measured = cpu && device.calibration && device.calibration->read_bandwidth(1).value > 0;
    if (measured)
        use_measured_reads(m, *device.calibration,
                           options.threads > 0 ? options.threads : std::max(p->cores, 1));
    if (cpu && options.threads > 0 && p->cores > 0) {
        const double drawn = measured ? 1 : core_saturation(options.threads, p->cores);
        const double cores = std::min(1.0, static_cast<double>(options.threads) / p->cores);
        for (const Rate r : {weight_stream, kv_stream}) m.rates.central[r] *= drawn;
        for (const Rate r : {dequantization, matrix_rate, attention_rate}) m.rates.central[r] *= cores;
    }
    if (device.power_cap.value > 0 && device.max_power > device.power_cap) {
        // Clocks follow roughly the cube root of power near the limit; arithmetic follows the clock, memory
        // does not.
        const double clock = std::cbrt(device.power_cap / device.max_power);
        for (const Rate r : {dequantization, matrix_rate, attention_rate}) m.rates.central[r] *= clock;
    }
    m.expands_weights = engine.expands_weights;
    m.prompt_chunk = engine.prompt_chunk;
    m.routes_experts = engine.routes_experts;
    m.storage_read = device.storage.read.value;
    if (device.link) {
        m.link_bandwidth = device.link->bandwidth.value;
        m.link_latency = device.link->latency.value;
    }
    m.sustained_fraction = device.sustained_fraction;
    m.joules_per_byte = device.energy_per_gb_read / 1e9;
    m.static_watts = device.static_power.value;
    m.battery_joules = device.battery_watt_hours * 3600;
    return m;
}

std::string_view refusal(const Workload& work, const Machine& machine) {
    if (work.expert_groups > 0 && !machine.routes_experts)
        return "this engine compiles fixed graphs and has no routing of experts";
    return {};
}

}  // namespace memwall::speed
