#include "kernels/quantize/uniform.h"

#include <cmath>

#include "core/quant/format.h"
#include "kernels/lab/random_weights.h"
#include "kernels/quantize/small_float.h"
#include "tests/catch.h"

using namespace memwall;
using namespace memwall::quantize;

TEST_CASE("names of uniform formats are read and printed", "[quantize]") {
    for (const char* name :
         {"int4-g128", "int2-asym-g32", "int3-min-g64", "int8-channel", "int5-asym-tensor"})
        CHECK(uniform_name(parse_uniform(name).value()) == name);
    CHECK(parse_uniform("int4-asym-g128") == UniformFormat{4, Shift::zero_point, 128});
    for (const char* name :
         {"int9-channel", "int1-g32", "int4", "int4-", "int4-g7", "int4-g128x", "int44-g32", "q4_0"})
        CHECK_FALSE(parse_uniform(name));
    CHECK(stored_bits(*parse_uniform("int4-g128")) == 4.125);
    CHECK(stored_bits(*parse_uniform("int4-asym-g128")) == 4.15625);
    CHECK(stored_bits(*parse_uniform("int3-min-g64")) == 3.5);
    // The same layout by the size table.
    CHECK(stored_bits(*parse_uniform("int4-g64")) ==
          quant::bits_per_weight(*quant::parse_format("int4-g64")));
    CHECK(stored_bits(*parse_uniform("int4-min-g64")) ==
          quant::bits_per_weight(*quant::parse_format("mlx-4bit-64g")));
}

TEST_CASE("a symmetric and an asymmetric group worked by hand", "[quantize]") {
    Matrix w(1, 32);
    for (std::size_t i = 0; i < 32; ++i) w.data[i] = static_cast<float>(i) / 4 - 3;  // -3 to 4.75
    const QuantMatrix s = quantize_uniform(*parse_uniform("int4-g32"), w.view());
    CHECK(s.scales[0] == round_to_f16(4.75f / 7));
    CHECK(s.zeros[0] == 8);
    CHECK(s.codes[31] == 15);
    CHECK(s.codes[12] == 8);
    CHECK(s.codes[0] == 4);  // -3 / 0.6786 = -4.42
    const QuantMatrix a = quantize_uniform(*parse_uniform("int4-asym-g32"), w.view());
    CHECK(a.scales[0] == round_to_f16(7.75f / 15));
    CHECK(a.zeros[0] == 6);  // 3 / 0.5167 = 5.81
    CHECK(a.codes[0] == 0);
    CHECK(a.codes[31] == 15);
    const QuantMatrix m = quantize_uniform(*parse_uniform("int4-min-g32"), w.view());
    CHECK(m.minima[0] == -3.0f);
    CHECK(m.codes[0] == 0);
    CHECK(dequantize(m).data[0] == -3.0f);
}

TEST_CASE("errors stay within half a step, whatever the format, and both ways to values agree",
          "[quantize]") {
    const std::uint64_t seed = 77;
    INFO("seed " << seed);
    const Matrix w = lab::random_weights(lab::parse_synthetic("student-t:4"), 7, 300, seed);
    for (int bits = 2; bits <= 8; ++bits)
        for (const Shift shift : {Shift::symmetric, Shift::zero_point, Shift::minimum})
            for (const int group : {-1, 0, 32, 64, 128}) {
                const UniformFormat f{bits, shift, group};
                INFO(uniform_name(f));
                const QuantMatrix q = quantize_uniform(f, w.view());
                const Matrix back = dequantize(q);
                Matrix straight(w.rows, w.cols);
                int beyond = 0;
                for (std::size_t r = 0; r < w.rows; ++r) {
                    round_trip_uniform(f, range_of(w.view().all()), w.row(r), straight.row(r));
                    for (std::size_t c = 0; c < w.cols; ++c) {
                        const std::size_t g =
                            r * static_cast<std::size_t>(q.groups()) + c / static_cast<std::size_t>(q.group);
                        // A rounded zero point shifts the range by up to half a step more; f16 by 2^-11.
                        const float allowed = q.scales[g] * (shift == Shift::zero_point ? 1.0f : 0.5f) +
                                              std::fabs(w.row(r)[c]) * 0x1p-10f +
                                              0x1p-10f * q.scales[g] * 256;
                        beyond += std::fabs(back.row(r)[c] - w.row(r)[c]) > allowed;
                        beyond += q.codes[r * w.cols + c] > top_code(f);
                    }
                }
                CHECK(beyond == 0);
                CHECK(straight.data == back.data);
            }
}

TEST_CASE("a permuted and scaled matrix gives back the original inputs", "[quantize]") {
    QuantMatrix q{.rows = 1,
                  .cols = 3,
                  .bits = 8,
                  .group = 3,
                  .codes = {129, 130, 132},
                  .scales = {0.5f},
                  .zeros = {128},
                  .minima = {},
                  .input_order = {2, 0, 1},
                  .input_scale = {1, 2, 4}};
    CHECK(dequantize(q).data == std::vector<float>{1.0f, 1.0f, 0.125f});
}
