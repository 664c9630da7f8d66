// How long prompts, answers and pauses are: distributions with a range, drawn from a Random.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/event/random.h"

namespace memwall::sim {

struct Law {
    enum class Kind : std::uint8_t { fixed, uniform, exponential, lognormal, empirical };
    Kind kind = Kind::fixed;
    double first = 0;  ///< fixed: the value; uniform: the least; exponential: the mean; lognormal: the median
    double second = 0;              ///< uniform: the most; lognormal: sigma of the logarithm
    double least = 0, most = 1e18;  ///< what is drawn is cut to this range
    std::vector<double> values;     ///< empirical: each as likely as the others

    double draw(Random& random) const;
    /// Of the law before it is cut.
    double mean() const;
};

std::string_view law_name(Law::Kind kind);

/// A fixed value.
inline Law always(double value) {
    return {Law::Kind::fixed, value, 0, 0, 1e18, {}};
}
/// A whole number of at least `least`.
std::int64_t draw_count(const Law& law, Random& random, std::int64_t least);

}  // namespace memwall::sim
