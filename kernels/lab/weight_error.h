// What a format leaves of a tensor (QUALITY b.1) and how much the tensor's outliers have to do with it (b.2).
#pragma once

#include <string>
#include <vector>

#include "kernels/lab/method.h"

namespace memwall::lab {

/// 10 log10(signal / noise); infinite without noise.
double decibels(double signal, double noise);

struct WeightError {
    bool fits = true;            ///< false: the row length does not suit the format; the rest is empty
    double sqnr_db = 0;          ///< 10 log10(sum w^2 / sum (w - w')^2); infinite when nothing changed
    double worst_decile_db = 0;  ///< a tenth of the rows are at or below this
    double worst_row_db = 0;
    std::size_t worst_row = 0;
};
/// Rows of zeros are left out of the row figures.
WeightError weight_error(MatrixView w, MatrixView stored);
WeightError weight_error(const Method& method, MatrixView w);

/// Flags of QUALITY b.2.
inline constexpr double kHeavyKurtosis = 10, kHeavyMaximum = 8, kRotationGain = 1;

struct Outliers {
    double excess_kurtosis = 0;     ///< 0 for a normal distribution
    double group_max_over_rms = 0;  ///< the largest of a group of 128 over that group's rms, median of groups
    double max_over_rms = 0;        ///< of the tensor
    double top_energy = 0;          ///< share of the sum of squares in the largest 0.1 % of values
    double channel_ratio = 0;       ///< largest rms of an input channel over the median channel's
    std::size_t channels = 0;       ///< input channels with 5 times the median's rms or more
    double rotation_gain_db = 0;    ///< what a block Hadamard rotation adds to the SQNR of int4-g128
    bool heavy() const { return excess_kurtosis > kHeavyKurtosis || group_max_over_rms > kHeavyMaximum; }
    bool rotate() const { return rotation_gain_db > kRotationGain; }
};
/// `w` must not be all zero.
Outliers outliers(MatrixView w);

}  // namespace memwall::lab
