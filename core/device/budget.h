// How much of a pool a plan may fill.
#pragma once

#include "core/device/device.h"

namespace memwall::device {

/// Bytes one process may use of `pool` when it computes on `kind`. An integrated GPU sees only the part of
/// RAM that its driver shares, a CPU all that the system leaves: where the pool has the variant "cpu_only",
/// plans on the CPU get it.
Bytes usable_bytes(const Pool& pool, ProcessorKind kind);

/// usable_bytes() less what the user keeps back (`--reserve`); never negative.
Bytes budget_bytes(const Pool& pool, ProcessorKind kind, Bytes reserve);

}  // namespace memwall::device
