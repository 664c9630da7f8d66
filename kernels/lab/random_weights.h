// Weights of known distribution. The same seed gives the same values on any number of threads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "kernels/quantize/matrix.h"

namespace memwall::lab {

using quantize::Matrix;
using quantize::MatrixView;

/// A small counter-based generator: splitmix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number
/// generators", 2014).
class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed) {}
    /// An independent stream for each (seed, index).
    Random(std::uint64_t seed, std::uint64_t index);
    std::uint64_t bits();
    double uniform();  ///< in (0, 1)
    float gaussian();  ///< mean 0, variance 1
    /// Student's t with `freedom` degrees of freedom, not rescaled: its variance is freedom / (freedom - 2).
    float student_t(double freedom);

  private:
    std::uint64_t state_;
    float spare_ = 0;
    bool has_spare_ = false;
};

/// What `synthetic:...` names.
struct Synthetic {
    enum class Kind : std::uint8_t { gaussian, student_t, outliers } kind = Kind::gaussian;
    double freedom = 0;                ///< student_t
    float outlier_share = 1 / 512.0f;  ///< outliers: share of input channels that are larger
    float outlier_factor = 20;         ///< ... by this factor
};

/// "gaussian", "student-t:5", "outliers". Throws Error for anything else.
Synthetic parse_synthetic(std::string_view text);
/// Row r depends on the seed and r alone.
Matrix random_weights(const Synthetic& what, std::size_t rows, std::size_t cols, std::uint64_t seed);

}  // namespace memwall::lab
