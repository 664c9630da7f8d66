// Measured runs narrow the speed of a target: --measured rows and a device profile's `measurements:`.
#pragma once

#include <string>
#include <vector>

#include "core/plan/prepare.h"

namespace memwall::plan {

/// "MODEL QUANT pp=R tg=R [context=N] [prompt=N] [sequences=N] [kv=TYPE]": rates in tokens/s; pp of a prompt
/// (512 tokens unless said), tg of decode at `context` cached tokens (128 unless said). At least one rate.
/// Throws Error with `place`.
device::Measurement parse_measurement(const std::string& text, const std::string& place);

/// Rows of `llama-bench -o json`, or the lines "prompt eval time" and "eval time" of a llama.cpp log, as
/// measurements. The model's name is what the file says; `model` and `quant` replace it where they are not
/// empty.
std::vector<device::Measurement> import_measurements(const std::string& text, const std::string& place,
                                                     const std::string& model, const std::string& quant);

/// Calibrates target.machine with the device's measurements and the deployment's rows. `basis` names the
/// result where it is not empty ("measured on this host").
void apply_measurements(Target& target, const Prepared& prepared, OpenModel open_model);

}  // namespace memwall::plan
