#include "sim/workload/law.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace memwall::sim {

double Law::draw(Random& random) const {
    double x = first;
    switch (kind) {
        case Kind::fixed:
            break;
        case Kind::uniform:
            x = first + (second - first) * random.uniform();
            break;
        case Kind::exponential:
            x = first * random.exponential();
            break;
        case Kind::lognormal:
            x = first * std::exp(second * random.normal());
            break;
        case Kind::empirical:
            x = values[static_cast<std::size_t>(random.uniform() * static_cast<double>(values.size()))];
            break;
    }
    return std::clamp(x, least, most);
}

double Law::mean() const {
    switch (kind) {
        case Kind::uniform:
            return (first + second) / 2;
        case Kind::lognormal:
            return first * std::exp(second * second / 2);
        case Kind::empirical:
            return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
        case Kind::fixed:
        case Kind::exponential:
            break;
    }
    return first;
}

std::string_view law_name(Law::Kind kind) {
    constexpr std::array<std::string_view, 5> kNames{"fixed", "uniform", "exponential", "lognormal",
                                                     "empirical"};
    return kNames[static_cast<std::size_t>(kind)];
}

std::int64_t draw_count(const Law& law, Random& random, std::int64_t least) {
    return std::max(least, static_cast<std::int64_t>(std::llround(std::min(law.draw(random), 1e12))));
}

}  // namespace memwall::sim
