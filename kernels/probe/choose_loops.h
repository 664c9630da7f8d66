// Which of the probe loops this CPU can run. Apart from loops.h, which must stay free of the standard
// library.
#pragma once

#include <string>
#include <vector>

#include "kernels/probe/loops.h"

namespace memwall::kernels {

/// Those that need nothing but what `isa` (names of devices/isa.h) lists, the widest first; never empty.
std::vector<const ProbeLoops*> all_probe_loops(const std::vector<std::string>& isa);

/// The widest that this CPU can run.
const ProbeLoops& probe_loops();

}  // namespace memwall::kernels
