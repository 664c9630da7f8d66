#include "core/quant/kv_type.h"

#include "core/base/error.h"
#include "tests/catch.h"

using namespace memwall;
using namespace memwall::quant;

namespace {

/// K and V of one token over all layers.
std::int64_t token_bytes(std::string_view type, std::int64_t layers, std::int64_t kv_heads,
                         std::int64_t head_dim) {
    return 2 * layers * kv_row_bytes(*parse_kv_type(type), kv_heads, head_dim).value;
}

}  // namespace

TEST_CASE("KV rows of published models", "[quant]") {
    CHECK(token_bytes("f16", 32, 32, 128) == 524288);  // Llama-2-7B
    CHECK(token_bytes("f16", 32, 8, 128) == 131072);   // Llama-3-8B
    CHECK(token_bytes("q4_0", 32, 8, 128) * 32768 == std::int64_t{1125} * kGiB / 1000);
    CHECK(token_bytes("f16", 28, 4, 128) == 57344);  // Qwen2.5-7B
    CHECK(token_bytes("q8_0", 28, 4, 128) * 4096 == 119 * kMiB);
    CHECK(token_bytes("int8-channel", 28, 4, 128) * 4096 == 112 * kMiB);
    CHECK(token_bytes("F16", 28, 16, 256) == 458752);  // Gemma-7B
}

TEST_CASE("bytes of 32 values follow the block", "[quant]") {
    struct {
        const char* type;
        std::int64_t bytes;
    } rows[] = {{"f32", 128}, {"f16", 64},  {"bf16", 64},        {"fp8", 32},  {"q8_0", 34},
                {"q5_1", 24}, {"q5_0", 22}, {"q4_1", 20},        {"q4_0", 18}, {"iq4_nl", 18},
                {"int8", 34}, {"int4", 18}, {"int8-channel", 32}};
    CHECK(std::size(rows) == kv_types().size());
    for (const auto& r : rows) {
        INFO(r.type);
        CHECK(kv_row_bytes(*parse_kv_type(r.type), 1, 32).value == r.bytes);
    }
    // One scale a head, whatever its length; one a channel for the whole cache.
    CHECK(kv_row_bytes(*parse_kv_type("int8"), 8, 128).value == 8 * (128 + 2));
    CHECK(kv_row_bytes(*parse_kv_type("int4"), 8, 128).value == 8 * (64 + 2));
    CHECK(kv_channel_bytes(*parse_kv_type("int8-channel"), 8, 128).value == 2048);
    CHECK(kv_channel_bytes(*parse_kv_type("int8"), 8, 128).value == 0);
}

TEST_CASE("a head that does not divide into blocks is refused", "[quant]") {
    CHECK_FALSE(parse_kv_type("q6_k"));
    CHECK_THROWS_WITH(
        kv_row_bytes(*parse_kv_type("q8_0"), 8, 80),
        "--kv: heads of 80 values in q8_0; expected a multiple of 32; choose f16 or another KV type");
    CHECK(kv_row_bytes(*parse_kv_type("q8_0"), 1, 576).value == 612);  // latent cache of DeepSeek-V3
    CHECK_THROWS_AS(kv_row_bytes(*parse_kv_type("f16"), std::int64_t{1} << 40, std::int64_t{1} << 40), Error);
}
