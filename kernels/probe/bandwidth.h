// Memory bandwidth as threads see it: the denominator of everything the planner says about decode.
#pragma once

#include <vector>

#include "kernels/host/huge_buffer.h"
#include "kernels/host/thread_team.h"
#include "kernels/probe/loops.h"
#include "kernels/probe/samples.h"

namespace memwall::kernels {

/// Memory that the probes rotate over, touched by the threads that will read it (each its own part, so that
/// the pages lie on its NUMA node when all of them run).
struct WorkingSet {
    HugeBuffer buffer;
    bool huge = false;  ///< at least half of it is in huge pages
};

/// Bytes to rotate over: eight times the last cache, within 256 MiB .. 2 GiB, at most a quarter of
/// `available` (KERNELS section 5: caches that others share are larger than they look). Multiple of 2 MiB, at
/// least 8 MiB.
std::size_t working_set_bytes(Bytes last_cache, Bytes available);

/// Throws Error without memory.
WorkingSet make_working_set(std::size_t bytes, ThreadTeam& team);

/// Numbers of threads to measure up to `most`: all up to 8, then a few, always `most`. Rising.
std::vector<int> thread_counts(int most);

/// Samples of every read pattern in turn, order shuffled each round; B/s. One set a pattern. `threads` of the
/// team work, the others wait. `probe` is "read".
std::vector<SampleSet> probe_read(const WorkingSet& set, ThreadTeam& team, int threads,
                                  const ProbeLoops& loops, double seconds);

/// Copy (bytes read + bytes written) and triad (two read, one written), with ordinary and with streaming
/// stores.
std::vector<SampleSet> probe_copy(const WorkingSet& set, ThreadTeam& team, int threads,
                                  const ProbeLoops& loops, double seconds);
std::vector<SampleSet> probe_triad(const WorkingSet& set, ThreadTeam& team, int threads,
                                   const ProbeLoops& loops, double seconds);

}  // namespace memwall::kernels
