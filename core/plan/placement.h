// Which bytes live in which pool, and what that means for time. Parts of evaluate().
#pragma once

#include "core/plan/prepare.h"

namespace memwall::plan {

/// Split of weights, cache and state between the processor's pool and host memory.
struct Placement {
    bool two_pools = false;
    bool spilled = false;            ///< layers, experts or cache are left to the host, not tables alone
    std::int64_t device_layers = 0;  ///< the output counts as one, as engines count
    Interval<Bytes> device_weights;
    Bytes host_weights, device_kv, host_kv, device_state, host_state;
    Bytes host_layer_weights;  ///< of the layers that stay with the host, and experts put there
    Bytes device_experts;
    Bytes largest_buffer;  ///< largest single weight tensor or layer's K rows in the processor's pool
};

Placement place(const Prepared& prepared, const Knobs& knobs, const Target& target);

/// What a step reads of weights in host memory: layers and experts that do not live with the processor.
struct HostPart {
    double moved = 0;  ///< bytes
    double share = 0;  ///< of all bytes of weights that the step reads
};
/// `rows` tokens go through the layers together.
HostPart host_part(const Prepared& prepared, const Knobs& knobs, const Placement& placement, double rows);
/// Bytes/s at which a CPU that the catalogue does not know reads them, and what a link takes beyond its peak.
inline constexpr double kAssumedHostRead = 38e9, kLinkSlowdown = 1.2;
/// Weights that a prompt's micro-batches pull over the link because their layers live in host memory.
Interval<Seconds> prompt_transfers(const Knobs& knobs, const Target& target, const Placement& placement,
                                   std::int64_t tokens);

/// Settings of the engine that decide its buffers.
runtime::EngineSettings engine_settings(const Knobs& knobs);
memory::KvCells kv_cells(const Prepared& prepared, const Knobs& knobs);
speed::KvTraffic kv_traffic(const Prepared& prepared, const Knobs& knobs);

speed::SpeedSettings speed_settings(const Prepared& prepared, const Knobs& knobs);

/// Time terms of the plan; `memory` says whether weights have to be paged in from storage.
Speed time(const Prepared& prepared, const Knobs& knobs, const Target& target, const Placement& placement,
           const Memory& memory);

}  // namespace memwall::plan
