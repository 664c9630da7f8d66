#include "tests/kernels/random_values.h"

#include <bit>
#include <cstdlib>
#include <string>

#include "kernels/quantize/small_float.h"

namespace memwall::kernels::test {

std::uint32_t fresh_seed() {
    if (const char* given = std::getenv("MEMWALL_TEST_SEED"))
        return static_cast<std::uint32_t>(std::stoul(given));
    return std::random_device{}();
}

std::vector<float> normal_values(std::size_t n, std::mt19937& rng, float deviation) {
    std::normal_distribution<float> normal(0, deviation);
    std::vector<float> x(n);
    for (float& v : x) v = normal(rng);
    return x;
}

QuantMatrix random_matrix(PanelFormat format, std::int64_t rows, std::int64_t k, std::mt19937& rng) {
    QuantMatrix m = empty_matrix(format, rows, k);
    const int bits = panel_layout(format).code_bits;
    std::uniform_real_distribution<float> scale(0.001f, 0.02f);
    for (auto& c : m.codes) c = static_cast<std::uint8_t>(rng() % (1u << bits));
    for (auto& s : m.scales) s = quantize::f32_to_f16(scale(rng));
    for (auto& z : m.zeros) z = static_cast<std::uint8_t>(rng() % 16);
    for (auto& s : m.steps) s = static_cast<std::uint8_t>(rng() % 64);
    for (auto& s : m.row_scales) s = scale(rng);
    std::normal_distribution<float> normal;
    for (auto& h : m.halves) h = quantize::f32_to_f16(normal(rng));
    return m;
}

std::size_t differing_bits(const std::vector<float>& a, const std::vector<float>& b) {
    std::size_t n = a.size() == b.size() ? 0 : 1;
    for (std::size_t i = 0; i < a.size() && i < b.size(); ++i)
        n += std::bit_cast<std::uint32_t>(a[i]) != std::bit_cast<std::uint32_t>(b[i]);
    return n;
}

}  // namespace memwall::kernels::test
