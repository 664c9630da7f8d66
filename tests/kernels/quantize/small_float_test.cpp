#include "kernels/quantize/small_float.h"

#include <limits>

#include "tests/catch.h"

using namespace memwall::quantize;

TEST_CASE("every f16 and bf16 that is a number survives the way through f32", "[quantize]") {
    int wrong = 0;
    for (std::uint32_t i = 0; i < 0x10000; ++i) {
        const auto h = static_cast<std::uint16_t>(i);
        if (!std::isnan(f16_to_f32(h))) wrong += f32_to_f16(f16_to_f32(h)) != h;
        if (!std::isnan(bf16_to_f32(h))) wrong += f32_to_bf16(bf16_to_f32(h)) != h;
    }
    CHECK(wrong == 0);
    CHECK(std::isnan(f16_to_f32(f32_to_f16(std::nanf("")))));
    CHECK(std::isnan(bf16_to_f32(f32_to_bf16(std::nanf("")))));
}

TEST_CASE("f16 has the values of IEEE binary16 and rounds ties to even", "[quantize]") {
    CHECK(f16_to_f32(0x3c00) == 1.0f);
    CHECK(f16_to_f32(0xc000) == -2.0f);
    CHECK(f16_to_f32(0x7bff) == 65504.0f);
    CHECK(f16_to_f32(0x0001) == 0x1p-24f);
    CHECK(f16_to_f32(0x0400) == 0x1p-14f);
    CHECK(f16_to_f32(0x7c00) == std::numeric_limits<float>::infinity());
    CHECK(f32_to_f16(1.0f + 0x1p-11f) == 0x3c00);    // half way: the even neighbour below
    CHECK(f32_to_f16(1.0f + 0x1.8p-10f) == 0x3c02);  // half way: the even neighbour above
    CHECK(f32_to_f16(65519.0f) == 0x7bff);
    CHECK(f32_to_f16(65520.0f) == 0x7c00);
    CHECK(f32_to_f16(0x1p-25f) == 0);
    CHECK(f32_to_f16(-0x1.1p-25f) == 0x8001);
}

TEST_CASE("E4M3, E8M0 and E2M1 have their published values", "[quantize]") {
    CHECK(e4m3_to_f32(0x7e) == 448.0f);
    CHECK(e4m3_to_f32(0x38) == 1.0f);
    CHECK(e4m3_to_f32(0x01) == 0x1p-9f);
    CHECK(e4m3_to_f32(0x08) == 0x1p-6f);
    CHECK(e4m3_to_f32(0xb9) == -1.125f);
    CHECK(std::isnan(e4m3_to_f32(0x7f)));
    CHECK(e8m0_to_f32(127) == 1.0f);
    CHECK(e8m0_to_f32(0) == 0x1p-127f);
    CHECK(std::isnan(e8m0_to_f32(255)));
    int wrong = 0;
    for (int i = 0; i < 256; ++i) {
        const auto e = static_cast<std::uint8_t>(i);
        if (!std::isnan(e4m3_to_f32(e))) wrong += f32_to_e4m3(e4m3_to_f32(e)) != e;
    }
    for (std::uint8_t e = 0; e < 16; ++e) wrong += e != 8 && f32_to_e2m1(kE2m1[e]) != e;
    CHECK(wrong == 0);
    CHECK(f32_to_e4m3(1000.0f) == 0x7e);
    CHECK(f32_to_e2m1(-100.0f) == 15);
}

TEST_CASE("small floats take the nearest of their values", "[quantize]") {
    for (float x = -7.0f; x < 7.0f; x += 0.013f) {
        float least4 = 100, least8 = 100;
        for (const float v : kE2m1) least4 = std::min(least4, std::fabs(x - v));
        for (int i = 0; i < 256; ++i)
            if ((i & 0x7f) != 0x7f)
                least8 = std::min(least8, std::fabs(x - e4m3_to_f32(static_cast<std::uint8_t>(i))));
        INFO(x);
        CHECK(std::fabs(x - kE2m1[f32_to_e2m1(x)]) == least4);
        CHECK(std::fabs(x - e4m3_to_f32(f32_to_e4m3(x))) == least8);
    }
}
