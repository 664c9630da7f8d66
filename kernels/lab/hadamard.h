// The Walsh-Hadamard rotation: spreads an outlier over a whole block without changing any length or product.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>

namespace memwall::lab {

/// Largest power of two up to `limit` that divides n.
inline std::size_t hadamard_block(std::size_t n, std::size_t limit) {
    std::size_t block = 1;
    while (block * 2 <= limit && n % (block * 2) == 0) block *= 2;
    return block;
}

/// Rotates each `block` (a power of two that divides x) in place; its own inverse.
inline void hadamard(std::span<float> x, std::size_t block) {
    const float norm = 1 / std::sqrt(static_cast<float>(block));
    for (std::size_t from = 0; from < x.size(); from += block) {
        for (std::size_t half = 1; half < block; half *= 2)
            for (std::size_t i = from; i < from + block; i += 2 * half)
                for (std::size_t k = i; k < i + half; ++k) {
                    const float a = x[k], b = x[k + half];
                    x[k] = a + b;
                    x[k + half] = a - b;
                }
        for (std::size_t k = from; k < from + block; ++k) x[k] *= norm;
    }
}

}  // namespace memwall::lab
