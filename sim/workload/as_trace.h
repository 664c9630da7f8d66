// The turns that apps would ask for, written down as a trace: for replays that cannot wait for an answer
// before the next turn is known.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/workload/app.h"

namespace memwall::sim {

/// The first `count` turns of all apps in order of arrival, the first one at 0. A turn comes after its
/// session's pauses, as if answers took no time; turns of a session share no blocks. Fewer when the apps have
/// no more.
std::vector<TraceRequest> as_trace(const std::vector<App>& apps, std::int64_t count, std::uint64_t seed,
                                   double start_hour = 0);

}  // namespace memwall::sim
