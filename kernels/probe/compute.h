// What cores can issue and how fast they meet: peak rates and barrier latency.
#pragma once

#include "kernels/host/thread_team.h"
#include "kernels/probe/loops.h"
#include "kernels/probe/samples.h"

namespace memwall::kernels {

/// Multiply-adds per second of CPU time of `threads` threads together, an fma counting two; the instruction
/// set in `how`.
SampleSet probe_fp32(ThreadTeam& team, int threads, const ProbeLoops& loops, double seconds);
SampleSet probe_int8(ThreadTeam& team, int threads, const ProbeLoops& loops, double seconds);

/// Seconds from one barrier of the whole team to the next.
SampleSet probe_barrier(ThreadTeam& team, double seconds);

}  // namespace memwall::kernels
