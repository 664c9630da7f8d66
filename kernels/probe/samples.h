// Sample sets: what one probe measured again and again, and what may be said of it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/device/calibration.h"

namespace memwall::kernels {

struct Sample {
    double value = 0;
    bool clean = true;  ///< nobody else had the core (thread CPU / wall time >= 0.97), nothing was cached
};

struct SampleSet {
    std::string probe, unit, how;
    int threads = 1;
    double steal = 0;  ///< share of CPU time the hypervisor took while sampling
    std::vector<Sample> samples;
};

/// Ranks (1-based) of the two order statistics of `n` samples that hold the median of their distribution,
/// whatever that is, with a probability of at least `level`; the narrowest such pair, symmetric. Below 6
/// samples no pair reaches 0.95: the ends, with the level they reach.
struct RankInterval {
    std::size_t low = 1, high = 1;
    double level = 0;
};
RankInterval median_ranks(std::size_t n, double level = 0.95);

/// The clean samples when there are at least kEnoughClean of them, else all. Median of an even number: the
/// mean of the middle two. Throws Error without samples.
device::ProbeResult summarise(const SampleSet& set);
inline constexpr std::size_t kEnoughClean = 5;

/// Of the clean samples when there are any, else of all. Throws Error without samples.
double mean(const SampleSet& set);

/// The means of `each` samples in their order, for what has two values by chance, so that a median jumps
/// between them. What is left over at the end does not count.
SampleSet means(const SampleSet& set, int each);

/// The set that did best: largest median, or smallest with `least`. Empty sets are passed over; at least one
/// must not be empty.
const SampleSet& best_of(const std::vector<SampleSet>& sets, bool least = false);

}  // namespace memwall::kernels
