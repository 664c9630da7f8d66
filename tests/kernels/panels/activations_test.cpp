#include "kernels/panels/activations.h"

#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "tests/kernels/random_values.h"

using namespace memwall;
using namespace memwall::kernels;
using namespace memwall::kernels::test;

TEST_CASE("activations are rounded to half a unit of their group") {
    const std::uint32_t seed = fresh_seed();
    CAPTURE(seed);
    std::mt19937 rng(seed);
    constexpr std::int64_t kM = 15, kK = 300;
    const std::vector<float> x = normal_values(kM * kK, rng);
    for (const PanelFormat format : kAllFormats)
        for (const int digits : {1, 2}) {
            CAPTURE(panel_layout(format).name, digits);
            const std::vector<float> back = dequantize(quantize_activations(x, kM, format, digits));
            REQUIRE(back.size() == x.size());
            if (format == PanelFormat::f16) {
                CHECK(back == x);
                continue;
            }
            const std::int64_t group = panel_layout(format).group == 0 ? kK : panel_layout(format).group;
            const float limit = digits == 2 ? 32258.0f : 127.0f;
            std::size_t outside = 0;
            for (std::int64_t r = 0; r < kM; ++r)
                for (std::int64_t from = 0; from < kK; from += group) {
                    const auto first = static_cast<std::size_t>(r * kK + from);
                    const auto last = static_cast<std::size_t>(r * kK + std::min(kK, from + group));
                    float most = 0;
                    for (std::size_t i = first; i < last; ++i) most = std::max(most, std::fabs(x[i]));
                    // Half a unit, and three roundings of numbers up to the largest.
                    for (std::size_t i = first; i < last; ++i)
                        outside += std::fabs(x[i] - back[i]) > most * (0.5f / limit + 4 * 0x1p-24f);
                }
            CHECK(outside == 0);
        }
}

TEST_CASE("both digits stay within 127 in magnitude and sums are those of the digits") {
    std::vector<float> x(128);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i) - 64;
    const Activations a = quantize_activations(x, 1, PanelFormat::w4g128, 2);
    int high = 0, low = 0;
    for (std::size_t i = 0; i < 128; ++i) {
        const std::int8_t h = a.codes[i / 4 * 8 + i % 4], l = a.codes[i / 4 * 8 + 4 + i % 4];
        CHECK(h >= -127);
        CHECK(l >= -127);
        CHECK(std::abs(254 * h + l) <= 32258);
        high += h;
        low += l;
    }
    CHECK(a.offsets == std::vector<std::int32_t>{-high, -low});
}

TEST_CASE("zeros, tiny numbers and numbers that are none") {
    std::vector<float> x(96, 0.0f);
    x[33] = 1e-44f;
    x[70] = std::numeric_limits<float>::infinity();
    const Activations a = quantize_activations(x, 1, PanelFormat::w4g32, 1);
    CHECK(a.scales[0] == 0);
    CHECK(a.scales[1] == 0);
    CHECK(std::isnan(a.scales[2]));
    for (const std::int8_t c : a.codes) CHECK(c == 0);
}

TEST_CASE("impossible activations are refused") {
    const std::vector<float> x(96);
    CHECK_THROWS_AS(quantize_activations(x, 0, PanelFormat::w8, 1), Error);
    CHECK_THROWS_AS(quantize_activations(x, 5, PanelFormat::w8, 1), Error);
    CHECK_THROWS_AS(quantize_activations(x, 1, PanelFormat::w8, 3), Error);
    CHECK_THROWS_AS(quantize_activations(std::vector<float>(70000), 1, PanelFormat::w8, 1), Error);
    CHECK_NOTHROW(quantize_activations(std::vector<float>(65000), 1, PanelFormat::w8, 1));
}
