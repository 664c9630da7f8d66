// The operators of one step with the time each takes on a machine and what binds it: rows of the ledger, dots
// of the roofline.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/plan/prepare.h"
#include "core/speed/operators.h"

namespace memwall::plan {

struct OperatorTime {
    std::string name;  ///< "feed_forward", "attention_window_4096"
    int layers = 0;    ///< 0 = outside the layers
    double weight_bytes = 0, cache_bytes = 0;
    double operations = 0;   ///< 2 a multiply-add, attention's included
    Seconds time;            ///< at the central rates, without launches
    std::string_view bound;  ///< bandwidth, dequantization, compute

    double intensity() const { return operations / (weight_bytes + cache_bytes); }  ///< operations a byte
};

/// Only operators that take time, in the order of the step.
std::vector<OperatorTime> operator_times(const Prepared& prepared, const Knobs& knobs, const Target& target,
                                         const speed::Phase& phase);

speed::Phase decode_phase(const Knobs& knobs);
speed::Phase prefill_phase(const Knobs& knobs);

}  // namespace memwall::plan
