// Ready command lines for engines ("--emit llama.cpp").
#pragma once

#include <string>

#include "core/plan/prepare.h"

namespace memwall::view {

/// Flags that make `engine` run the plan. Throws Error for an engine without a table of flags.
std::string engine_flags(const std::string& engine, const plan::Prepared& prepared, const plan::Knobs& knobs,
                         const plan::Target& target);

}  // namespace memwall::view
