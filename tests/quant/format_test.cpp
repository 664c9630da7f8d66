#include "core/quant/format.h"

#include <string_view>

#include "core/base/error.h"
#include "tests/catch.h"

using namespace memwall;
using namespace memwall::quant;

namespace {

struct Worked {
    std::string_view format;
    std::int64_t bytes;
};

std::int64_t bytes_4096(std::string_view name) {
    const auto format = parse_format(name);
    REQUIRE(format);
    return tensor_bytes(*format, {4096, 4096, 1, 1}).value;
}

}  // namespace

TEST_CASE("ggml types take the bytes of their compiled block structures", "[quant]") {
    constexpr Worked kWorked[] = {
        {"F32", 67108864},   {"F16", 33554432},    {"BF16", 33554432},   {"F64", 134217728},
        {"I8", 16777216},    {"I16", 33554432},    {"I32", 67108864},    {"I64", 134217728},
        {"Q4_0", 9437184},   {"Q4_1", 10485760},   {"Q5_0", 11534336},   {"Q5_1", 12582912},
        {"Q8_0", 17825792},  {"Q8_1", 18874368},   {"Q2_K", 5505024},    {"Q3_K", 7208960},
        {"Q4_K", 9437184},   {"Q5_K", 11534336},   {"Q6_K", 13762560},   {"Q8_K", 19136512},
        {"IQ1_S", 3276800},  {"IQ1_M", 3670016},   {"IQ2_XXS", 4325376}, {"IQ2_XS", 4849664},
        {"IQ2_S", 5373952},  {"IQ3_XXS", 6422528}, {"IQ3_S", 7208960},   {"IQ4_NL", 9437184},
        {"IQ4_XS", 8912896}, {"TQ1_0", 3538944},   {"TQ2_0", 4325376},   {"MXFP4", 8912896},
        {"NVFP4", 9437184},  {"Q1_0", 2359296},    {"Q2_0", 4718592},
    };
    CHECK(std::size(kWorked) == block_formats().size());
    for (const Worked& w : kWorked) {
        INFO(w.format);
        CHECK(bytes_4096(w.format) == w.bytes);
        CHECK(tensor_bytes(ggml(w.format), {4096, 4096, 1, 1}).value == w.bytes);
    }
}

TEST_CASE("types of the fork have bytes a row beside their blocks", "[quant]") {
    constexpr Worked kRows[] = {
        {"Q6_0", 3328},   {"IQ2_KS", 1122},  {"IQ2_K", 1216},  {"IQ2_KL", 1378}, {"IQ3_KS", 1634},
        {"IQ3_K", 1760},  {"IQ4_KSS", 2052}, {"IQ4_KS", 2180}, {"IQ4_K", 2304},  {"IQ5_KS", 2692},
        {"IQ5_K", 2816},  {"IQ6_K", 3392},   {"IQ1_KT", 900},  {"IQ2_KT", 1092}, {"IQ3_KT", 1604},
        {"IQ4_KT", 2052}, {"IQ1_BN", 834},   {"IQ2_BN", 1028}, {"Q8_KV", 4104},
    };
    CHECK(std::size(kRows) == fork_block_formats().size());
    for (const Worked& w : kRows) {
        INFO(w.format);
        CHECK(tensor_bytes(ggml(w.format), {4096, 3, 1, 1}).value == 3 * w.bytes);
        CHECK(find_block_format(ggml(w.format).ggml_type)->fork);
    }
}

TEST_CASE("every type id finds its own row, removed ids find none", "[quant]") {
    for (const auto table : {block_formats(), fork_block_formats()})
        for (const BlockFormat& f : table) CHECK(find_block_format(f.ggml_type) == &f);
    for (const std::uint32_t removed : {4u, 5u, 31u, 36u, 255u, 256u, 0xffffffffu})
        CHECK(find_block_format(removed) == nullptr);
}

TEST_CASE("families with scales beside the codes take their published bytes", "[quant]") {
    constexpr Worked kWorked[] = {
        {"gptq-4bit-128g", 8732672},   {"gptq-4bit-nogroup", 8415232},
        {"gptq-4bit-32g", 9715712},    {"gptq-3bit-128g", 6619136},
        {"gptq-8bit-128g", 17186816},  {"gptq-2bit-64g", 4800512},
        {"awq-4bit-128g", 8716288},    {"bnb-nf4", 9437248},
        {"bnb-nf4-dq", 8655936},       {"bnb-int8", 16793600},
        {"fp8-tensor", 16777224},      {"fp8-channel", 16793600},
        {"fp8-block128", 16781312},    {"w4a16-g128", 8650768},
        {"int8-channel", 16785408},    {"w8a16", 16785424},
        {"nvfp4-pack", 9437192},       {"mxfp4-pack", 8912896},
        {"hqq-4bit-64g", 9437184},     {"hqq-4bit-int-zero-64g", 9175044},
        {"hqq-3bit-64g", 7759464},     {"hqq-2bit-16g", 8388608},
        {"hqq-2bit-64g", 5242880},     {"exl2-4", 8667904},
        {"exl3-4", 8404996},           {"exl3-3", 6307844},
        {"exl3-2.5", 5259268},         {"mlx-4bit-64g", 9437184},
        {"mlx-8bit-64g", 17825792},    {"mlx-3bit-64g", 7340032},
        {"mlx-4bit-32g", 10485760},    {"palette-4bit", 8388640},
        {"palette-4bit-c16", 8396800}, {"palette-2bit-c8", 4198400},
        {"int4-g32", 9437184},         {"qnn-int4", 8421376},
        {"qnn-int8", 16809984},        {"qnn-block4-g64", 8683520},
        {"8da4w-g32", 10485760},       {"8da4w-g128", 8912896},
        {"8da4w-g256", 8650752},       {"sparse24-16bit", 18874368},
        {"raw-4bit", 8388608},         {"int4-tensor", 8388612},
    };
    for (const Worked& w : kWorked) {
        INFO(w.format);
        CHECK(bytes_4096(w.format) == w.bytes);
        CHECK(parse_format(format_name(*parse_format(w.format))) == parse_format(w.format));
    }
    CHECK(bits_per_weight(*parse_format("gptq-4bit-128g")) == Approx(4.1641).margin(5e-5));
    CHECK(bits_per_weight(*parse_format("bnb-nf4-dq")) == Approx(4.1275).margin(5e-5));
}

TEST_CASE("names of formats: any case, numbers inside, nothing else", "[quant]") {
    CHECK(parse_format("q4_k") == ggml("Q4_K"));
    CHECK(format_name(*parse_format("GPTQ-4BIT-128G")) == "gptq-4bit-128g");
    CHECK(parse_format("awq-4bit") == parse_format("awq-4bit-128g"));  // the family's usual group
    CHECK(parse_format("gptq-4bit") == parse_format("gptq-4bit-128g"));
    CHECK(format_name(*parse_format("gptq-4bit-nogroup")) == "gptq-4bit-nogroup");
    CHECK(format_name(*parse_format("exl2-4.25")) == "exl2-4.25");
    CHECK(format_name(Format{}) == "unknown");
    for (const char* bad : {"", "Q4_K_M", "gptq-5bit-128g", "gptq-4bit-", "gptq-4bit-0g", "gptq-4.5bit",
                            "exl2-", "exl2-99", "mlx-4bit-64gg", "bnb-nf4-64", "int4-g99999999"}) {
        INFO(bad);
        CHECK_FALSE(parse_format(bad));
    }
}

TEST_CASE("a stack of matrices pays its constants once each", "[quant]") {
    for (const char* name : {"gptq-4bit-128g", "bnb-nf4-dq", "w4a16-g128", "exl3-4", "Q6_K", "IQ4_KS"}) {
        INFO(name);
        const Format format = *parse_format(name);
        const Bytes one = tensor_bytes(format, {512, 384, 1, 1});
        CHECK(tensor_bytes(format, {512, 384, 8, 1}) == one * 8);
        CHECK(tensor_bytes(format, {512, 384, 4, 2}) == one * 8);
    }
}

TEST_CASE("a shape that does not suit the format is refused with what it needs", "[quant]") {
    CHECK_FALSE(fits(ggml("Q4_K"), {896, 64, 1, 1}));
    CHECK(fits(ggml("Q5_0"), {896, 64, 1, 1}));
    CHECK_FALSE(fits(*parse_format("exl3-4"), {4096, 100, 1, 1}));
    CHECK_FALSE(fits(*parse_format("mlx-4bit-64g"), {96, 64, 1, 1}));
    CHECK_FALSE(fits(Format{}, {32, 1, 1, 1}));
    CHECK_THROWS_WITH(tensor_bytes(ggml("Q4_K"), {896, 64, 1, 1}),
                      "a tensor of 896 x 64 x 1 x 1 values in Q4_K; expected rows of a multiple of 256 and a "
                      "multiple of 1 rows");
    CHECK_THROWS_AS(tensor_bytes(Format{}, {32, 1, 1, 1}), Error);
    CHECK_THROWS_AS(tensor_bytes(ggml("F32"), {-1, 1, 1, 1}), Error);
    CHECK_THROWS_AS(tensor_bytes(ggml("F64"), {std::int64_t{1} << 40, std::int64_t{1} << 20, 1, 1}), Error);
    CHECK(tensor_bytes(ggml("F64"), {std::int64_t{1} << 40, std::int64_t{1} << 16, 1, 1}).value ==
          std::int64_t{1} << 59);
    CHECK(tensor_bytes(ggml("Q4_K"), {0, 7, 1, 1}).value == 0);
}
