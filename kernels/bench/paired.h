// Timing beside the read probe (KERNELS section 5): bandwidth drifts within seconds, so every sample stands
// between two runs of the probe and counts as a ratio to them; samples during which somebody else had the
// core are taken again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "kernels/host/huge_buffer.h"
#include "kernels/host/thread_team.h"
#include "kernels/simd/kernels.h"

namespace memwall::kernels::bench {

inline double median(std::vector<double> x) {
    std::sort(x.begin(), x.end());
    return x.empty() ? 0 : x.size() % 2 == 1 ? x[x.size() / 2] : (x[x.size() / 2 - 1] + x[x.size() / 2]) / 2;
}

inline constexpr int kTries = 2;                                     // after the first, for a sample
inline constexpr std::size_t kRegionBytes = std::size_t{256} << 20;  // of one sample

/// A working set whose bytes suit every format: fp16 numbers between 2^-6 and 2^-3 of both signs wherever one
/// is read as such, so that no sum meets a NaN or a denormal.
inline HugeBuffer working_set(std::size_t bytes, std::uint32_t seed) {
    HugeBuffer set(bytes);
    std::mt19937_64 rng(seed);
    for (std::size_t i = 0; i < bytes / 8; ++i)
        set.as<std::uint64_t>()[i] = (rng() & 0x87ff87ff87ff87ff) | 0x2400240024002400;
    return set;
}

/// A read probe and what is measured beside it, on a team of threads over a working set.
class Paired {
  public:
    Paired(ThreadTeam& team, const HugeBuffer& set, const Kernels& kernels)
        : team_(team), set_(set), kernels_(kernels) {
        double best = 0;
        for (const Access access :
             {Access::plain, Access::near, Access::two_level, Access::streams, Access::streams_near}) {
            access_ = access;
            std::vector<double> rates;
            for (int i = 0; i < 5; ++i) rates.push_back(read_rate());
            if (const double rate = median(rates); rate > best) {
                best = rate;
                chosen_ = access;
            }
        }
        access_ = chosen_;
    }

    Access access() const { return access_; }
    int samples_again() const { return again_; }
    int unclean() const { return unclean_; }
    std::vector<double>& reads() { return reads_; }

    /// The next region of the set; regions follow each other so that none is read again before all others.
    const std::uint8_t* next_region() {
        const std::size_t regions = set_.bytes() / kRegionBytes;
        return set_.as<std::uint8_t>() + region_++ % regions * kRegionBytes;
    }

    /// Bytes a second of one probe run.
    double read_rate() {
        const std::uint8_t* region = next_region();
        const double seconds = time([&](int thread) {
            const auto r = share_of(kRegionBytes / 4096, thread, team_.threads());
            sink_ ^= kernels_.read(region + r.first * 4096, r.size() * 4096, access_);
        });
        return static_cast<double>(kRegionBytes) / seconds;
    }

    /// `bytes` a second of `work` over the mean of the probes before and after it.
    double ratio(double bytes, const std::function<void(int)>& work) {
        const double before = read_rate(), rate = bytes / time(work), after = read_rate();
        reads_.push_back(before);
        reads_.push_back(after);
        return rate / ((before + after) / 2);
    }
    /// The same for work that computes: operations a second over those of `peak`, which returns what it did.
    double ratio_to_peak(double operations, const std::function<void(int)>& work,
                         const std::function<double(int)>& peak) {
        const auto peak_rate = [&] {
            std::vector<double> done(static_cast<std::size_t>(team_.threads()));
            const double seconds =
                time([&](int thread) { done[static_cast<std::size_t>(thread)] = peak(thread); });
            double all = 0;
            for (const double d : done) all += d;
            return all / seconds;
        };
        const double before = peak_rate(), rate = operations / time(work), after = peak_rate();
        return rate / ((before + after) / 2);
    }

    /// Wall seconds of a clean run. On a machine that is not ours alone tries end: the CPU clock of the
    /// slowest thread counts then, and the sample is counted as not clean.
    double time(const std::function<void(int)>& work) {
        for (int tries = 0;; ++tries) {
            const RunTime run = team_.run(work);
            if (run.clean()) return run.wall;
            if (tries == kTries) {
                ++unclean_;
                return *std::max_element(run.cpu.begin(), run.cpu.end());
            }
            ++again_;
        }
    }

  private:
    ThreadTeam& team_;
    const HugeBuffer& set_;
    const Kernels& kernels_;
    Access access_ = Access::plain, chosen_ = Access::plain;
    std::size_t region_ = 0;
    int again_ = 0, unclean_ = 0;
    std::vector<double> reads_;
    std::uint64_t sink_ = 0;
};

}  // namespace memwall::kernels::bench
