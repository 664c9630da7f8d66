// Puts memory out of the processor's caches, changed lines written back first: what is read next comes from
// memory, however large the last cache is (480 MiB on a Xeon of 2026) and whoever shares it. Reading other
// memory instead takes several times that cache, as those that protect what was read twice give it up slowly.
#pragma once

#include <cstddef>
#include <span>

#include "kernels/host/thread_team.h"

namespace memwall::kernels {

/// Does this processor let a process do so? x86: CLFLUSHOPT (Intel SDM vol. 2; CLFLUSH orders every line
/// and took 13 times as long on a Xeon of 2026). aarch64: DC CIVAC, which Linux permits
/// (Documentation/arch/arm64, UCI).
bool can_evict();

/// Nothing without can_evict(). Pages that were never touched stay so to the system's accounts, but may be
/// mapped to zeros: give it memory in use.
void evict(std::span<const std::byte> memory);
/// The same by all threads of the team; not inside a run.
void evict(std::span<const std::byte> memory, ThreadTeam& team);

}  // namespace memwall::kernels
