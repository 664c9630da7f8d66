#include "kernels/probe/samples.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"

namespace memwall::kernels {
namespace {

std::vector<double> counted(const SampleSet& set, bool all) {
    std::vector<double> values;
    for (const Sample& s : set.samples)
        if (all || s.clean) values.push_back(s.value);
    std::sort(values.begin(), values.end());
    return values;
}

double median(const std::vector<double>& sorted) {
    const std::size_t n = sorted.size();
    return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

/// Six digits: more than any clock here tells, and a profile that people can read. Keeps the order of values.
double rounded(double value) {
    if (value <= 0) return value;
    const double unit = std::pow(10.0, std::floor(std::log10(value)) - 5);
    return unit >= 1 ? std::round(value / unit) * unit
                     : std::round(value * std::round(1 / unit)) / std::round(1 / unit);
}

}  // namespace

RankInterval median_ranks(std::size_t n, double level) {
    if (n == 0) return {1, 1, 0};
    // The number of samples below the median is binomial(n, 1/2): ranks k and n + 1 - k miss it with
    // probability 2 P(X < k). Terms by recurrence from 2^-n, in logarithms: n may be thousands.
    double missed = 0;
    RankInterval best{1, n, 1 - 2 * std::exp2(-static_cast<double>(n))};
    double log_term = -static_cast<double>(n) * std::log(2.0);
    for (std::size_t k = 1; 2 * k <= n + 1; ++k) {
        missed += 2 * std::exp(log_term);
        if (missed > 1 - level) break;
        best = {k, n + 1 - k, 1 - missed};
        log_term += std::log(static_cast<double>(n - k + 1)) - std::log(static_cast<double>(k));
    }
    best.level = std::max(0.0, best.level);
    return best;
}

device::ProbeResult summarise(const SampleSet& set) {
    if (set.samples.empty()) throw Error(set.probe, "no sample", "at least one");
    std::vector<double> values = counted(set, false);
    device::ProbeResult r;
    if (values.size() < kEnoughClean) {
        r.unclean = static_cast<int>(set.samples.size() - values.size());
        values = counted(set, true);
    }
    const RankInterval ranks = median_ranks(values.size());
    r.probe = set.probe;
    r.unit = set.unit;
    r.threads = set.threads;
    r.median = rounded(median(values));
    r.low = rounded(values[ranks.low - 1]);
    r.high = rounded(values[ranks.high - 1]);
    r.min = rounded(values.front());
    r.max = rounded(values.back());
    r.samples = static_cast<int>(values.size());
    r.steal = set.steal;
    r.how = set.how;
    return r;
}

double mean(const SampleSet& set) {
    const bool any =
        std::any_of(set.samples.begin(), set.samples.end(), [](const Sample& s) { return s.clean; });
    double sum = 0, count = 0;
    for (const Sample& s : set.samples)
        if (s.clean || !any) sum += s.value, ++count;
    if (count == 0) throw Error(set.probe, "no samples", "at least one");
    return sum / count;
}

SampleSet means(const SampleSet& set, int each) {
    SampleSet result = set;
    result.samples.clear();
    const auto n = static_cast<std::size_t>(each);
    for (std::size_t i = 0; i + n <= set.samples.size(); i += n) {
        Sample sum;
        for (std::size_t j = i; j < i + n; ++j) {
            sum.value += set.samples[j].value / each;
            sum.clean = sum.clean && set.samples[j].clean;
        }
        result.samples.push_back(sum);
    }
    return result;
}

const SampleSet& best_of(const std::vector<SampleSet>& sets, bool least) {
    const SampleSet* best = nullptr;
    double best_value = 0;
    for (const SampleSet& set : sets) {
        if (set.samples.empty()) continue;
        const double value = summarise(set).median;
        if (!best || (least ? value < best_value : value > best_value)) {
            best = &set;
            best_value = value;
        }
    }
    if (!best) throw Error("probe", "no sample of any kind", "at least one");
    return *best;
}

}  // namespace memwall::kernels
