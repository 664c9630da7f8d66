#include "kernels/probe/compute.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "kernels/probe/deadline.h"
#include "kernels/probe/steal.h"

namespace memwall::kernels {
namespace {

constexpr int kLeast = 3, kMost = 200;
constexpr double kSampleSeconds = 0.01;  ///< above what a scheduler tick disturbs, below what warms up a chip

SampleSet probe_peak(const char* probe, double (*loop)(std::size_t), ThreadTeam& team, int threads,
                     const ProbeLoops& loops, double seconds) {
    SampleSet set{probe, "ops/s", loops.isa, threads, 0, {}};
    std::size_t rounds = 1024;
    std::vector<double> rate(static_cast<std::size_t>(threads));
    const auto once = [&] {
        const RunTime time = run_together(team, threads, [&](int thread) {
            // A core that somebody else takes for a while issues nothing meanwhile: its own time counts.
            const double start = thread_cpu_seconds();
            const double ops = loop(rounds);
            rate[static_cast<std::size_t>(thread)] = ops / std::max(thread_cpu_seconds() - start, 1e-9);
        });
        const double sum = std::accumulate(rate.begin(), rate.end(), 0.0);
        return std::pair(Sample{sum, time.clean()}, time.wall);
    };
    while (rounds < std::size_t{1} << 40) {
        const double wall = once().second;
        if (wall >= kSampleSeconds / 2) break;
        rounds *= 2;
    }
    const CpuTicks before = read_cpu_ticks();
    for (Rounds left(seconds, kLeast, kMost); left.next();) set.samples.push_back(once().first);
    set.steal = steal_between(before, read_cpu_ticks());
    return set;
}

}  // namespace

SampleSet probe_fp32(ThreadTeam& team, int threads, const ProbeLoops& loops, double seconds) {
    return probe_peak("fp32", loops.fp32_peak, team, threads, loops, seconds);
}

SampleSet probe_int8(ThreadTeam& team, int threads, const ProbeLoops& loops, double seconds) {
    return probe_peak("int8", loops.int8_peak, team, threads, loops, seconds);
}

SampleSet probe_barrier(ThreadTeam& team, double seconds) {
    constexpr int kBarriers = 2000;
    SampleSet set{"barrier", "s", "spin with pause", team.threads(), 0, {}};
    const CpuTicks before = read_cpu_ticks();
    for (Rounds left(seconds, kLeast, kMost); left.next();) {
        const RunTime time = run_together(team, team.threads(), [&](int) {
            for (int i = 0; i < kBarriers; ++i) team.barrier();
        });
        set.samples.push_back({std::max(time.wall, 1e-12) / kBarriers, time.clean()});
    }
    set.steal = steal_between(before, read_cpu_ticks());
    return set;
}

}  // namespace memwall::kernels
