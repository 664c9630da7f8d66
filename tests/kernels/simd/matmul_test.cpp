#include <cmath>

#include "core/base/error.h"
#include "kernels/quantize/small_float.h"
#include "kernels/simd/kernels.h"
#include "tests/kernels/random_values.h"

using namespace memwall;
using namespace memwall::kernels;
using namespace memwall::kernels::test;

namespace {
std::vector<float> product(const Kernels& k, const Panels& p, const Activations& a) {
    std::vector<float> y(static_cast<std::size_t>(a.m * p.rows), -1);
    matmul(k, p, a, y);
    return y;
}
const Kernels& scalar() {
    return kernels_for({});
}
struct Shape {
    std::int64_t rows, k, m;
};
}  // namespace

TEST_CASE("every instruction set multiplies bit for bit like the scalar kernels") {
    const std::uint32_t seed = fresh_seed();
    const int streams = GENERATE(1, kStreams);
    CAPTURE(seed, streams);
    const WithStreams reading(streams);
    std::mt19937 rng(seed);
    for (const PanelFormat format : kAllFormats)
        for (const int digits : {1, 2})
            for (const Shape& s : {Shape{16, 256, 1},
                                   {40, 512, 2},
                                   {7, 320, 3},
                                   {16, 1024, 5},
                                   {32, 96, 12},
                                   {17, 256, 29},
                                   {100, 512, 1},
                                   {144, 256, 1}}) {
                const Panels p = pack(random_matrix(format, s.rows, s.k, rng));
                const Activations a = quantize_activations(
                    normal_values(static_cast<std::size_t>(s.m * s.k), rng), s.m, format, digits);
                const std::vector<float> want = product(scalar(), p, a);
                for (const Kernels* k : runnable_kernels()) {
                    CAPTURE(k->isa, panel_layout(format).name, digits, s.rows, s.k, s.m);
                    CHECK(differing_bits(product(*k, p, a), want) == 0);
                }
            }
}

TEST_CASE("a vector's result does not depend on the vectors beside it, a panel's not on the range") {
    const std::uint32_t seed = fresh_seed();
    const int streams = GENERATE(1, kStreams);
    CAPTURE(seed, streams);
    const WithStreams reading(streams);
    std::mt19937 rng(seed);
    constexpr std::int64_t kRows = 170, kK = 384, kM = 14;
    for (const PanelFormat format : kAllFormats)
        for (const int digits : {1, 2}) {
            const Panels p = pack(random_matrix(format, kRows, kK, rng));
            const std::vector<float> x = normal_values(kM * kK, rng);
            for (const Kernels* k : runnable_kernels()) {
                CAPTURE(k->isa, panel_layout(format).name, digits);
                const Activations all = quantize_activations(x, kM, format, digits);
                const std::vector<float> together = product(*k, p, all);
                std::vector<float> alone, split(together.size());
                for (std::int64_t v = 0; v < kM; ++v) {
                    const auto one = quantize_activations(
                        std::span(x).subspan(static_cast<std::size_t>(v * kK), kK), 1, format, digits);
                    const std::vector<float> y = product(*k, p, one);
                    alone.insert(alone.end(), y.begin(), y.end());
                }
                for (const PanelRange range : {PanelRange{3, 11}, {0, 1}, {1, 3}})
                    matmul(*k, p, all, split, range, p.data.data());
                CHECK(differing_bits(alone, together) == 0);
                CHECK(differing_bits(split, together) == 0);
            }
        }
}

TEST_CASE("integer sums are exact at the extremes of codes, zero points and activations") {
    struct Case {
        PanelFormat format;
        std::int64_t k;
        int digits;
    };
    // w8 at the largest k: 255 x 127 x 65,000 stays below 2^31.
    for (const Case& c : {Case{PanelFormat::w4g32, 256, 1},
                          {PanelFormat::w4g32, 256, 2},
                          {PanelFormat::w4g128, 256, 1},
                          {PanelFormat::w4g128, 256, 2},
                          {PanelFormat::q4k, 256, 1},
                          {PanelFormat::w8g32, 256, 1},
                          {PanelFormat::w8, 65000, 1},
                          {PanelFormat::w8, 256, 2}}) {
        const int bits = panel_layout(c.format).code_bits;
        const float most = c.digits == 2 ? 32258.0f : 127.0f;  // units: scales become 1
        for (const int code : {0, (1 << bits) - 1})
            for (const int zero : {0, 15})
                for (const float sign : {1.0f, -1.0f}) {
                    QuantMatrix m = empty_matrix(c.format, 16, c.k);
                    for (auto& v : m.codes) v = static_cast<std::uint8_t>(code);
                    for (auto& v : m.scales) v = quantize::f32_to_f16(1);
                    for (auto& v : m.zeros) v = static_cast<std::uint8_t>(zero);
                    for (auto& v : m.steps) v = static_cast<std::uint8_t>(zero == 0 ? 1 : 63);
                    for (auto& v : m.row_scales) v = 1;
                    std::int64_t want = 0;
                    const int step = zero == 0 ? 1 : 63;
                    const int weight = c.format == PanelFormat::w4g128 ? code - zero
                                       : c.format == PanelFormat::q4k  ? step * code - step
                                       : bits == 4                     ? code - 8
                                                                       : code - 128;
                    want = std::int64_t{weight} * static_cast<std::int64_t>(sign * most) * c.k;
                    const Panels p = pack(m);
                    const std::vector<float> x(static_cast<std::size_t>(c.k), sign * most);
                    const Activations a = quantize_activations(x, 1, c.format, c.digits);
                    for (const Kernels* k : runnable_kernels()) {
                        CAPTURE(k->isa, panel_layout(c.format).name, c.digits, code, zero, sign);
                        const std::vector<float> y = product(*k, p, a);
                        // Group sums are whole numbers: floats add them with at most one rounding a group.
                        for (const float v : y)
                            CHECK(std::fabs(static_cast<double>(v) - static_cast<double>(want)) <=
                                  0x1p-22 * std::fabs(static_cast<double>(want)));
                    }
                }
    }
}

TEST_CASE("groups of zeros add nothing") {
    for (const PanelFormat format : kAllFormats)
        for (const Kernels* k : runnable_kernels()) {
            std::mt19937 rng(1);
            const Panels p = pack(random_matrix(format, 16, 256, rng));
            CAPTURE(k->isa, panel_layout(format).name);
            for (const float v : product(*k, p, quantize_activations(std::vector<float>(256), 1, format, 2)))
                CHECK(v == 0);
        }
}

TEST_CASE("products agree with double precision on the same quantized inputs") {
    const std::uint32_t seed = fresh_seed();
    const int streams = GENERATE(1, kStreams);
    CAPTURE(seed, streams);
    const WithStreams reading(streams);
    std::mt19937 rng(seed);
    constexpr std::int64_t kRows = 32, kK = 1024, kM = 3;
    for (const PanelFormat format : kAllFormats)
        for (const int digits : {1, 2}) {
            const std::vector<float> w = normal_values(kRows * kK, rng);
            const QuantMatrix m = round_to_nearest(format, w, kRows, kK);
            const Activations a = quantize_activations(normal_values(kM * kK, rng), kM, format, digits);
            const std::vector<float> weights = dequantize(m), x = dequantize(a);
            const Panels p = pack(m);
            const int group = panel_layout(format).group;
            // Roundings: one a group (f16: one a product), a handful at the end.
            const double roundings =
                format == PanelFormat::f16 ? kK
                : group == 0               ? 1
                             : static_cast<double>(kK) / group * (format == PanelFormat::q4k ? 3 : 1);
            for (const Kernels* k : runnable_kernels()) {
                CAPTURE(k->isa, panel_layout(format).name, digits);
                const std::vector<float> y = product(*k, p, a);
                double worst = 0, largest = 0;
                std::size_t outside = 0;
                for (std::int64_t v = 0; v < kM; ++v)
                    for (std::int64_t r = 0; r < kRows; ++r) {
                        double exact = 0, terms = 0;
                        for (std::int64_t i = 0; i < kK; ++i) {
                            const double t =
                                static_cast<double>(weights[static_cast<std::size_t>(r * kK + i)]) *
                                static_cast<double>(x[static_cast<std::size_t>(v * kK + i)]);
                            exact += t;
                            terms += std::fabs(t);
                        }
                        const double error = std::fabs(
                            static_cast<double>(y[static_cast<std::size_t>(v * kRows + r)]) - exact);
                        outside += error > (roundings + 8) * 0x1p-24 * terms;
                        worst = std::max(worst, error);
                        largest = std::max(largest, std::fabs(exact));
                    }
                CHECK(outside == 0);
                CHECK(worst <= 2e-6 * largest);
            }
        }
}

TEST_CASE("twice the scale is twice the product, bit for bit") {
    const std::uint32_t seed = fresh_seed();
    const int streams = GENERATE(1, kStreams);
    CAPTURE(seed, streams);
    const WithStreams reading(streams);
    std::mt19937 rng(seed);
    for (const PanelFormat format : kAllFormats) {
        if (format == PanelFormat::f16) continue;
        QuantMatrix m = random_matrix(format, 16, 256, rng);
        const Activations a = quantize_activations(normal_values(256, rng), 1, format, 2);
        const std::vector<float> once = product(best_kernels(), pack(m), a);
        for (auto& s : m.scales) s = quantize::f32_to_f16(2 * quantize::f16_to_f32(s));
        for (auto& s : m.row_scales) s *= 2;
        std::vector<float> twice = product(best_kernels(), pack(m), a);
        for (float& v : twice) v /= 2;
        CHECK(differing_bits(once, twice) == 0);
    }
}

TEST_CASE("mismatched operands are refused") {
    const Panels p = pack(empty_matrix(PanelFormat::w4g32, 16, 64));
    const std::vector<float> x(64);
    std::vector<float> y(16), wrong(15);
    const Activations a = quantize_activations(x, 1, PanelFormat::w4g32, 1);
    CHECK_NOTHROW(matmul(scalar(), p, a, y));
    CHECK_THROWS_AS(matmul(scalar(), p, a, wrong), Error);
    CHECK_THROWS_AS(matmul(scalar(), p, a, y, {0, 2}), Error);
    CHECK_THROWS_AS(matmul(scalar(), p, quantize_activations(x, 1, PanelFormat::w8g32, 1), y), Error);
    CHECK_THROWS_AS(
        matmul(scalar(), p, quantize_activations(std::vector<float>(32), 1, PanelFormat::w4g32, 1), y),
        Error);
}
