#include "core/memory/kv_cache.h"

#include "core/model/catalog.h"
#include "tests/catch.h"

using namespace memwall;
using namespace memwall::memory;

namespace {

model::Model load(const char* id) {
    auto m = model::load_catalog_model(id);
    REQUIRE(m);
    return *m;
}

quant::KvType type(const char* name) {
    return *quant::parse_kv_type(name);
}

double mib(const char* id, std::int64_t cells, const char* k, const char* v, KvCells rule = {}) {
    rule.full = cells;
    return kv_cache_bytes(kv_groups(load(id), true), rule, type(k), type(v)).as_double() / 1048576.0;
}

}  // namespace

TEST_CASE("bytes a token of whole models equal the published ones", "[memory]") {
    // MODELS section 3: f16 bytes per token, whole model.
    const std::pair<const char*, std::int64_t> facts[] = {
        {"llama-3.1-8b", 131072}, {"qwen3-8b", 147456}, {"llama-2-7b", 524288}, {"command-r-v01", 1310720},
        {"qwen3-30b-a3b", 98304}, {"glm-4-9b", 40960},  {"deepseek-v3", 70272}};
    for (const auto& [id, bytes] : facts) {
        INFO(id);
        KvCells one;
        one.full = 1;
        CHECK(kv_cache_bytes(kv_groups(load(id), true), one, type("f16"), type("f16")).value == bytes);
    }
}

TEST_CASE("the cache of Qwen2.5-7B at 4,096 tokens is 112 MiB of int8 values, 119 MiB as q8_0", "[memory]") {
    CHECK(mib("qwen2.5-7b", 4096, "f16", "f16") == 224);
    CHECK(mib("qwen2.5-7b", 4096, "q8_0", "q8_0") == 119);
    // 28 layers x 4096 tokens x 2 x (512 values + 4 heads x 2 bytes of scale)
    CHECK(mib("qwen2.5-7b", 4096, "int8", "int8") * 1048576 == 28.0 * 4096 * 2 * (512 + 8));
}

TEST_CASE("windowed layers stop growing, full ones do not", "[memory]") {
    // Gemma-3-27B: 10 full layers, 52 with a window of 1024 (est-gemma3-27b-swa-headdim: 10,656 MiB at
    // 131,072).
    KvCells rule;
    CHECK(mib("gemma-3-27b", 131072, "f16", "f16", rule) == 10656);
    rule.windows_full = true;
    CHECK(mib("gemma-3-27b", 131072, "f16", "f16", rule) == 62.0 * 131072 * 2 * 2048 * 2 / 1048576);
}

TEST_CASE("latent attention keeps one row; expanded it is 71 times as much", "[memory]") {
    const model::Model v3 = load("deepseek-v3");
    KvCells one;
    one.full = 65536;
    const auto latent = kv_cache_bytes(kv_groups(v3, true), one, type("f16"), type("f16"));
    const auto expanded = kv_cache_bytes(kv_groups(v3, false), one, type("f16"), type("f16"));
    CHECK(expanded.as_double() / 1048576 == 312320);  // est-dsv3-mha-expansion
    CHECK(expanded.as_double() / latent.as_double() == Approx(40960.0 / 576));
}

TEST_CASE("recurrent state is per sequence and in 32-bit floats", "[memory]") {
    // mem-qwen35-4b-mtp-f16-131k: 50.25 MiB; Qwen3-Next: 18,874,368 + 884,736 elements.
    CHECK(recurrent_state_bytes(load("qwen3.5-4b")).as_double() / 1048576 == 50.25);
    CHECK(recurrent_state_bytes(load("qwen3-next-80b-a3b")).value == 4 * (18874368 + 884736));
}
