// The Pareto front of points whose coordinates are all better when smaller.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace memwall::plan {

/// Indices of the points that no other one matches in every coordinate, in lexical order of the points; of
/// equals the lowest index stands for all.
template <std::size_t N>
std::vector<std::uint32_t> pareto_front(std::vector<std::pair<std::array<double, N>, std::uint32_t>> points) {
    const auto matches = [](const std::array<double, N>& a, const std::array<double, N>& b) {
        for (std::size_t i = 0; i < N; ++i)
            if (a[i] > b[i]) return false;
        return true;
    };
    // In lexical order only earlier points can match later ones.
    std::sort(points.begin(), points.end());
    std::vector<std::uint32_t> front;
    std::vector<const std::array<double, N>*> kept;
    for (const auto& point : points) {  // no structured binding: clang 14 lets no lambda see it
        if (std::any_of(kept.begin(), kept.end(), [&](const auto* k) { return matches(*k, point.first); }))
            continue;
        kept.push_back(&point.first);
        front.push_back(point.second);
    }
    return front;
}

}  // namespace memwall::plan
