// What require prints. Beside the command because devices/require.h lies above core/view.
#pragma once

#include <string>

#include "core/plan/decision_options.h"
#include "devices/require.h"

namespace memwall::cli {

std::string requirement_text(const devices::Opened& opened, const plan::Demands& demands,
                             const devices::Requirement& requirement,
                             const std::vector<devices::Sensitivity>& sensitivities, bool colour,
                             std::size_t width);

/// memwall/require/1
std::string requirement_json(const devices::Opened& opened, const plan::Demands& demands,
                             const devices::Requirement& requirement,
                             const std::vector<devices::Sensitivity>& sensitivities);

}  // namespace memwall::cli
