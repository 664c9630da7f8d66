// What a quantized cache costs (QUALITY a.7): keys pass through the exponential of attention and are fragile,
// values average and are not.
#pragma once

#include "core/quality/loss.h"
#include "core/quality/weight_quality.h"

namespace memwall::quality {

struct KvEffect {
    Status status = Status::measured;
    Reason reason = Reason::none;
    std::uint16_t flags = 0;
    Band kld;  ///< added to that of the weights (QUALITY a.7: errors add, or a little less)
};

/// `fragile`: large key biases, sinks, few attention layers, or below 1 billion parameters.
KvEffect kv_effect(KvClass keys, KvClass values, bool rotation, bool fragile, double billions);

}  // namespace memwall::quality
