// Quantiles of any number of values in bounded memory: counts in buckets whose bounds are 0.2 % apart, so
// that a quantile is known to 0.1 %.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace memwall::sim {

class Histogram {
  public:
    void add(double value, std::int64_t times = 1) {
        count_ += times;
        sum_ += value * static_cast<double>(times);
        if (value > largest_) largest_ = value;
        const std::size_t i =
            value <= kLeast ? 0 : 1 + static_cast<std::size_t>(std::log(value / kLeast) * kPerLog);
        if (i >= counts_.size()) counts_.resize(i + 1);
        counts_[i] += times;
    }
    void add(const Histogram& other) {
        count_ += other.count_;
        sum_ += other.sum_;
        largest_ = std::fmax(largest_, other.largest_);
        if (other.counts_.size() > counts_.size()) counts_.resize(other.counts_.size());
        for (std::size_t i = 0; i < other.counts_.size(); ++i) counts_[i] += other.counts_[i];
    }
    std::int64_t count() const { return count_; }
    /// How many values are at most `value`, to the width of a bucket.
    std::int64_t at_most(double value) const {
        const std::size_t last =
            value <= kLeast ? 0 : 1 + static_cast<std::size_t>(std::log(value / kLeast) * kPerLog);
        std::int64_t n = 0;
        for (std::size_t i = 0; i <= last && i < counts_.size(); ++i) n += counts_[i];
        return n;
    }
    /// Counts by buckets that are about `factor` wide, from the first value to the last; the first one may
    /// begin at 0.
    struct Bucket {
        double low = 0, high = 0;
        std::int64_t count = 0;
    };
    std::vector<Bucket> buckets(double factor) const {
        const auto width = static_cast<std::size_t>(std::fmax(1, std::round(std::log(factor) * kPerLog)));
        const auto bound = [](std::size_t i) { return kLeast * std::exp(static_cast<double>(i) / kPerLog); };
        std::vector<Bucket> all;
        if (!counts_.empty() && counts_[0] > 0) all.push_back({0, kLeast, counts_[0]});
        for (std::size_t i = 1; i < counts_.size(); i += width) {
            std::int64_t n = 0;
            for (std::size_t k = i; k < i + width && k < counts_.size(); ++k) n += counts_[k];
            if (n > 0 || !all.empty()) all.push_back({bound(i - 1), bound(i - 1 + width), n});
        }
        while (!all.empty() && all.back().count == 0) all.pop_back();
        return all;
    }
    double mean() const { return count_ > 0 ? sum_ / static_cast<double>(count_) : 0; }
    double largest() const { return largest_; }
    /// The smallest value that a share `p` of the values does not exceed; 0 without any.
    double quantile(double p) const {
        if (count_ == 0) return 0;
        const double wanted = p * static_cast<double>(count_);
        std::int64_t below = 0;
        for (std::size_t i = 0; i < counts_.size(); ++i) {
            below += counts_[i];
            if (static_cast<double>(below) >= wanted && below > 0)
                return i == 0
                           ? 0
                           : std::fmin(largest_, kLeast * std::exp((static_cast<double>(i) - 0.5) / kPerLog));
        }
        return largest_;
    }

  private:
    static constexpr double kLeast = 1e-9, kPerLog = 500;  // bucket i: up to kLeast exp(i / kPerLog)
    std::vector<std::int64_t> counts_;
    std::int64_t count_ = 0;
    double sum_ = 0, largest_ = 0;
};

}  // namespace memwall::sim
