#include "core/model/edit.h"

#include "core/base/error.h"
#include "core/model/catalog.h"
#include "tests/catch.h"

using namespace memwall;
using namespace memwall::model;

TEST_CASE("a what-if changes every layer that has the part", "[edit]") {
    Model m = *load_catalog_model("qwen2.5-7b");
    set_field(m, "kv_heads", "28", "--set");
    // Multi-head attention instead of grouped: K and V of 24 more heads of 128, weights and biases.
    CHECK(text_parameters(m) == 7615616512 + 28 * 2 * (24 * 128 * 3584 + 24 * 128));
    CHECK(m.layers.back().attention->kv_heads == 28);
    CHECK(m.source("kv_heads") == "--set");
    CHECK(m.source("heads") != "--set");
    CHECK(m.published_parameters == 0);
}

TEST_CASE("what-ifs add, and leave tensors alone that they do not touch", "[edit]") {
    Model m = *load_catalog_model("gemma-3-4b");
    set_field(m, "window", "4k", "--set");
    CHECK(m.layers[0].attention->window == 4000);
    CHECK(m.layers[5].attention->window == 0);
    CHECK(m.published_parameters == 4300079472);
    set_field(m, "window", "+96", "--set");
    CHECK(m.layers[0].attention->window == 4096);
    set_field(m, "trained_context", "1Mi", "--set");
    CHECK(m.trained_context == 1048576);
    Model moe = *load_catalog_model("mixtral-8x7b");
    const std::int64_t active = active_parameters(moe);
    set_field(moe, "experts_used", "+1", "--set");
    CHECK(active_parameters(moe) - active == 32LL * 3 * 4096 * 14336);
    Model plain = *load_catalog_model("llama-3.1-8b");
    set_field(plain, "window", "1024", "--set");
    CHECK(plain.layers[31].attention->window == 1024);
}

TEST_CASE("more layers continue the pattern", "[edit]") {
    Model gemma = *load_catalog_model("gemma-3-4b");  // 34 of (5 local, 1 global)
    set_field(gemma, "layers", "+2", "--set");
    REQUIRE(gemma.layers.size() == 36);
    CHECK(gemma.layers[34].attention->window == 1024);
    CHECK(gemma.layers[35].attention->window == 0);
    Model deepseek = *load_catalog_model("deepseek-v2-lite");  // 1 dense, 26 moe
    set_field(deepseek, "layers", "30", "--set");
    CHECK(deepseek.layers[29].experts);
    CHECK_FALSE(deepseek.layers[0].experts);
    set_field(deepseek, "layers", "1", "--set");
    CHECK(deepseek.layers.size() == 1);
}

TEST_CASE("an impossible what-if changes nothing", "[edit]") {
    Model m = *load_catalog_model("mixtral-8x7b");
    const std::int64_t before = text_parameters(m);
    for (const auto& [field, value] : {std::pair{"experts_used", "9"},
                                       {"hidden", "0"},
                                       {"colour", "3"},
                                       {"recurrent_state", "16"},
                                       {"layers", "0"},
                                       {"layers", "5000"},
                                       {"heads", "many"},
                                       {"heads", "-3"},
                                       {"heads", ""},
                                       {"hidden", "+90M"},
                                       {"vocabulary", "+9223372036854775807"}})
        CHECK_THROWS_AS(set_field(m, field, value, "--set"), Error);
    CHECK(text_parameters(m) == before);
    CHECK(m.layers[0].experts->used == 2);
}
