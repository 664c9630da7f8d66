// A laboratory report as text and as JSON (docs/schema/quantize-lab.schema.json). The same report gives the
// same bytes: no times, no thread counts.
#pragma once

#include <cstddef>
#include <string>

#include "kernels/lab/lab.h"

namespace memwall::lab {

std::string lab_text(const LabReport& report, std::size_t width, bool colour);
/// memwall/quantize-lab/1
std::string lab_json(const LabReport& report);

}  // namespace memwall::lab
