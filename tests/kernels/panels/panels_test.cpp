#include "kernels/panels/panels.h"

#include <cmath>
#include <cstring>

#include "core/base/error.h"
#include "kernels/panels/ggml_blocks.h"
#include "kernels/quantize/small_float.h"
#include "tests/kernels/random_values.h"

using namespace memwall;
using namespace memwall::kernels;
using namespace memwall::kernels::test;

TEST_CASE("packing and unpacking is the identity, tails included") {
    const std::uint32_t seed = fresh_seed();
    CAPTURE(seed);
    std::mt19937 rng(seed);
    for (const PanelFormat format : kAllFormats)
        for (const auto& [rows, k] :
             {std::pair{16, 256}, {33, 512}, {1, 32}, {48, 1312}, {17, 7}, {5, 100}}) {
            CAPTURE(panel_layout(format).name, rows, k);
            const QuantMatrix m = random_matrix(format, rows, k, rng);
            const Panels p = pack(m);
            CHECK(p.stream_bytes() % kLineBytes == 0);
            CHECK(unpack(p) == m);
        }
}

TEST_CASE("a format takes as many bits a weight as its description says") {
    const auto bits = [](PanelFormat format) {
        const PanelLayout& l = panel_layout(format);
        return 8.0 * static_cast<double>(block_bytes(l)) / (kPanelRows * l.block);
    };
    CHECK(bits(PanelFormat::w4g32) == 4.5);
    CHECK(bits(PanelFormat::w4g128) == 4.25);
    CHECK(bits(PanelFormat::q4k) == 4.5);
    CHECK(bits(PanelFormat::w8) == 8);
    CHECK(bits(PanelFormat::w8g32) == 8.5);
    CHECK(bits(PanelFormat::f16) == 16);
}

TEST_CASE("the scales of a w4g32 block stand before its codes, the even quad in the low nibbles") {
    QuantMatrix m = empty_matrix(PanelFormat::w4g32, 16, 64);
    m.scales[2 * 3 + 1] = 0x1234;  // row 3, second group
    m.codes[3 * 64 + 32 + 5] = 9;  // quad 1 of the group: high nibble of its first line
    m.codes[3 * 64 + 32 + 2] = 6;  // quad 0: low nibble
    const Panels p = pack(m);
    const auto* bytes = p.data.as<std::uint8_t>();
    std::uint16_t scale;
    std::memcpy(&scale, bytes + 32 + 3 * 2, 2);
    CHECK(scale == 0x1234);
    const std::uint8_t* line = bytes + 64 + 4 * 64;
    CHECK(line[3 * 4 + 1] == 0x90);
    CHECK(line[3 * 4 + 2] == 0x06);
}

TEST_CASE("rounding to nearest stays within half a step") {
    const std::uint32_t seed = fresh_seed();
    CAPTURE(seed);
    std::mt19937 rng(seed);
    const std::vector<float> w = normal_values(8 * 512, rng);
    // Largest |w| is below 6; a step of the 4-bit formats is at most 2 x 6 / 14, of the 8-bit ones 6 / 127.
    // Twice half a step, since scales, steps and zero points are rounded too.
    for (const auto& [format, error] : {std::pair{PanelFormat::w4g32, 0.9f},
                                        {PanelFormat::w4g128, 0.9f},
                                        {PanelFormat::q4k, 0.9f},
                                        {PanelFormat::w8, 0.05f},
                                        {PanelFormat::w8g32, 0.05f},
                                        {PanelFormat::f16, 0.002f}}) {
        CAPTURE(panel_layout(format).name);
        const std::vector<float> back = dequantize(round_to_nearest(format, w, 8, 512));
        float worst = 0;
        for (std::size_t i = 0; i < w.size(); ++i) worst = std::max(worst, std::fabs(w[i] - back[i]));
        CHECK(worst < error);
        CHECK(worst > 0);
    }
}

namespace {
float half_at(const std::uint8_t* p) {
    std::uint16_t h;
    std::memcpy(&h, p, 2);
    return quantize::f16_to_f32(h);
}

/// Straight from the block descriptions in ggml's documentation, value by value.
float q4_0_value(const std::uint8_t* block, int i) {
    const int nibble = i < 16 ? block[2 + i] & 15 : block[2 + i - 16] >> 4;
    return half_at(block) * static_cast<float>(nibble - 8);
}
float q8_0_value(const std::uint8_t* block, int i) {
    return half_at(block) * static_cast<float>(static_cast<std::int8_t>(block[2 + i]));
}
float q4_k_value(const std::uint8_t* block, int i) {
    const int group = i / 32;
    const std::uint8_t* s = block + 4;
    const int scale = group < 4 ? s[group] & 63 : (s[group + 4] & 15) | (s[group - 4] >> 6) << 4;
    const int min = group < 4 ? s[group + 4] & 63 : (s[group + 4] >> 4) | (s[group] >> 6) << 4;
    const std::uint8_t byte = block[16 + group / 2 * 32 + i % 32];
    const int nibble = group % 2 == 0 ? byte & 15 : byte >> 4;
    return half_at(block) * static_cast<float>(scale) * static_cast<float>(nibble) -
           half_at(block + 2) * static_cast<float>(min);
}
}  // namespace

TEST_CASE("GGUF blocks keep their values through panels") {
    const std::uint32_t seed = fresh_seed();
    CAPTURE(seed);
    std::mt19937 rng(seed);
    struct Row {
        std::uint32_t type;
        int block_len, block_bytes, halves;
        float (*value)(const std::uint8_t*, int);
    };
    for (const Row& t :
         {Row{2, 32, 18, 1, q4_0_value}, {8, 32, 34, 1, q8_0_value}, {12, 256, 144, 2, q4_k_value}}) {
        constexpr int kRows = 19, kK = 768;
        const int blocks = kRows * kK / t.block_len;
        std::vector<std::uint8_t> file(static_cast<std::size_t>(blocks * t.block_bytes));
        for (auto& b : file) b = static_cast<std::uint8_t>(rng());
        for (int b = 0; b < blocks; ++b)
            for (int h = 0; h < t.halves; ++h) {
                const std::uint16_t scale = quantize::f32_to_f16(static_cast<float>(rng() % 1000) * 1e-4f);
                std::memcpy(file.data() + b * t.block_bytes + 2 * h, &scale, 2);
            }
        const QuantMatrix m = matrix_of_ggml(t.type, kRows, kK, std::as_bytes(std::span(file)));
        CHECK(m.format == panel_format_of_ggml(t.type));
        const std::vector<float> values = dequantize(unpack(pack(m)));
        std::size_t wrong = 0;
        for (int r = 0; r < kRows; ++r)
            for (int c = 0; c < kK; ++c) {
                const std::uint8_t* block = file.data() + (r * kK + c) / t.block_len * t.block_bytes;
                wrong += values[static_cast<std::size_t>(r * kK + c)] != t.value(block, c % t.block_len);
            }
        CAPTURE(t.type);
        CHECK(wrong == 0);
    }
}

TEST_CASE("bad tensors and matrices are refused before memory is taken") {
    const std::vector<std::byte> bytes(18);
    CHECK_NOTHROW(matrix_of_ggml(2, 1, 32, bytes));
    CHECK_THROWS_AS(matrix_of_ggml(2, 2, 32, bytes), Error);
    CHECK_THROWS_AS(matrix_of_ggml(2, 1, 33, bytes), Error);
    CHECK_THROWS_AS(matrix_of_ggml(2, -1, 32, bytes), Error);
    CHECK_THROWS_AS(matrix_of_ggml(2, std::int64_t{1} << 60, 32, bytes), Error);
    CHECK_THROWS_AS(matrix_of_ggml(2, 1, std::int64_t{1} << 62, bytes), Error);
    CHECK_THROWS_AS(matrix_of_ggml(3, 1, 32, bytes), Error);
    CHECK_THROWS_AS(empty_matrix(PanelFormat::w8, -1, 4), Error);
    CHECK_THROWS_AS(empty_matrix(PanelFormat::w8, std::int64_t{1} << 40, 1 << 20), Error);
    QuantMatrix m = empty_matrix(PanelFormat::w4g32, 4, 64);
    m.scales.pop_back();
    CHECK_THROWS_WITH(pack(m), Catch::Contains("7 scales"));
}
