// Random inputs whose seed a failing test prints.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "kernels/panels/panels.h"
#include "tests/catch.h"

namespace memwall::kernels::test {

/// A seed of this run, or the one in MEMWALL_TEST_SEED.
std::uint32_t fresh_seed();

std::vector<float> normal_values(std::size_t n, std::mt19937& rng, float deviation = 1);
/// All codes and scales of the format drawn at random: extreme ones are as likely as others.
QuantMatrix random_matrix(PanelFormat format, std::int64_t rows, std::int64_t k, std::mt19937& rng);

/// How many elements differ in their bits.
std::size_t differing_bits(const std::vector<float>& a, const std::vector<float>& b);

inline constexpr PanelFormat kAllFormats[] = {PanelFormat::w4g32, PanelFormat::w4g128, PanelFormat::q4k,
                                              PanelFormat::w8,    PanelFormat::w8g32,  PanelFormat::f16};

}  // namespace memwall::kernels::test
