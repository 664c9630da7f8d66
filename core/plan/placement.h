// Which bytes live in which pool, and what that means for time. Parts of evaluate().
#pragma once

#include "core/plan/prepare.h"

namespace memwall::plan {

/// Split of weights, cache and state between the processor's pool and host memory.
struct Placement {
    bool two_pools = false;
    std::int64_t device_layers = 0;  ///< the output counts as one, as engines count
    Interval<Bytes> device_weights;
    Bytes host_weights, device_kv, host_kv, device_state, host_state;
    Bytes host_layer_weights;  ///< of the layers that stay with the host, and experts put there
    Bytes device_experts;
    Bytes largest_buffer;  ///< largest single weight tensor or layer's K rows in the processor's pool
};

Placement place(const Prepared& prepared, const Knobs& knobs, const Target& target);

/// Settings of the engine that decide its buffers.
runtime::EngineSettings engine_settings(const Knobs& knobs);
memory::KvCells kv_cells(const Prepared& prepared, const Knobs& knobs);
speed::KvTraffic kv_traffic(const Prepared& prepared, const Knobs& knobs);

speed::SpeedSettings speed_settings(const Prepared& prepared, const Knobs& knobs);

/// Time terms of the plan; `memory` says whether weights have to be paged in from storage.
Speed time(const Prepared& prepared, const Knobs& knobs, const Target& target, const Placement& placement,
           const Memory& memory);

}  // namespace memwall::plan
