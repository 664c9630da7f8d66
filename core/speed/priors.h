// Class priors of the speed model: data/priors.yaml, parsed once on first use.
#pragma once

#include <string>
#include <string_view>

#include "core/device/device.h"
#include "core/speed/machine.h"

namespace memwall::speed {

struct ClassPrior {
    LogNormal<Machine::parameters> decode;
    LogNormal<Machine::prefill_parameters> prefill;
    bool judged = false;  ///< no measured device of this class stands behind it
};

struct Priors {
    double level = 0.9, quantile = 1.645;
    double noise = 0, prefill_noise = 0;
};

const Priors& priors();

/// Prior of an efficiency class ("sbc_cpu"); unknown or empty ones get the pooled numbers, judged.
const ClassPrior& class_prior(std::string_view efficiency_class);

}  // namespace memwall::speed
