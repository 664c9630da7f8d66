#include "core/speed/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/speed/priors.h"

namespace memwall::speed {
namespace {

std::string_view kind_name(device::ProcessorKind kind) {
    switch (kind) {
        case device::ProcessorKind::cpu:
            return "cpu";
        case device::ProcessorKind::gpu:
            return "gpu";
        case device::ProcessorKind::npu:
            return "npu";
    }
    return "processor";
}

/// The peak that a class's prefill utilisation is relative to: fp16 for a GPU, int8 for an NPU or a CPU.
/// Where a data sheet leaves it out the usual ratio to what it does state stands in.
void set_compute(Machine& m, const device::Processor& p) {
    constexpr double kOpsPerCore =
        100e9;  // int8 of one core with dot products at 2 to 3 GHz, a guess by structure
    if (p.kind == device::ProcessorKind::gpu) {
        m.compute = p.fp16.value > 0 ? p.fp16.value : 2 * p.fp32.value;
        m.compute_name = "gpu.fp16";
    } else if (p.kind == device::ProcessorKind::npu) {
        m.compute = p.int8.value > 0 ? p.int8.value : 2 * p.fp16.value;
        m.compute_name = "npu.int8";
    } else {
        m.compute = p.int8.value > 0 ? p.int8.value : 4 * p.fp32.value;
        m.compute_name = "cpu.int8";
        if (m.compute <= 0 && p.cores > 0) {
            m.compute = kOpsPerCore * p.cores;
            m.compute_name = "cpu.int8 (assumed from the number of cores)";
        }
    }
}

const device::Pool& pool_of(const device::Device& device, const device::Processor& processor) {
    const device::Pool* pool = device.pool(processor.pool);
    if (!pool && !device.pools.empty()) pool = &device.pools.front();
    if (!pool) throw Error(device.id, "no memory pool", "at least one pool");
    return *pool;
}

}  // namespace

double Machine::weights_rate() const {
    return bandwidth * std::exp(decode.mean[weights_efficiency]);
}
double Machine::kv_rate() const {
    return bandwidth * std::exp(decode.mean[kv_efficiency]);
}
double Machine::overhead() const {
    return std::exp(decode.mean[layer_overhead]);
}
double Machine::compute_rate() const {
    return compute * std::exp(prefill.mean[utilisation]);
}

double core_saturation(int threads, int cores) {
    if (cores <= 0 || threads <= 0 || threads >= cores) return 1;
    constexpr double kCoresOverSocket = 1.68;  // 10 x 36.2 GB/s over 216 GB/s
    const auto drawn = [](double share) { return 1 / std::hypot(1 / (kCoresOverSocket * share), 1.0); };
    return drawn(static_cast<double>(threads) / cores) / drawn(1.0);
}

Machine machine_for(const device::Device& device, device::ProcessorKind processor, const EngineInfo& engine,
                    const MachineOptions& options) {
    const device::Processor* p = device.processor(processor);
    if (!p) throw Error(device.id, fmt::format("no {}", kind_name(processor)), "a processor of the device");
    const device::Pool& pool = pool_of(device, *p);
    if (pool.bandwidth.value <= 0)
        throw Error(device.id, fmt::format("the bandwidth of {} is unknown", pool.name), "a memory bandwidth",
                    "give it with --set device.bandwidth=...");
    const ClassPrior& prior = class_prior(p->efficiency_class);
    Machine m;
    m.kind = processor;
    m.bandwidth = pool.bandwidth.value;
    m.decode = prior.decode;
    m.prefill = prior.prefill;
    m.decode_noise = priors().noise;
    m.prefill_noise = priors().prefill_noise;
    m.quantile = priors().quantile;
    m.level = priors().level;
    set_compute(m, *p);
    if (processor == device::ProcessorKind::cpu) {
        const double share = core_saturation(options.threads, p->cores);
        m.bandwidth *= share;
        if (options.threads > 0 && p->cores > 0)
            m.compute *= std::min(1.0, static_cast<double>(options.threads) / p->cores);
    }
    m.basis = intern(fmt::format("{} of class {}", prior.judged ? "judged prior" : "prior",
                                 p->efficiency_class.empty() ? "unknown" : p->efficiency_class));
    m.prompt_chunk = engine.prompt_chunk;
    if (!engine.routes_experts)
        m.refusal_of_experts =
            "this engine has no routing of experts: mixture-of-experts models do not run on it";
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

}  // namespace memwall::speed
