#include "core/runtime/engine_cells.h"

#include "core/base/error.h"
#include "tests/catch.h"

using namespace memwall;
using namespace memwall::runtime;

namespace {

model::Model windowed_model(std::int64_t window) {
    model::Model m;
    m.architecture = "gemma3";
    for (int i = 0; i < 2; ++i) {
        model::Attention a;
        a.heads = a.kv_heads = 4;
        a.key_dim = a.value_dim = 64;
        if (i == 0) a.window = window;
        model::Layer l;
        l.attention = a;
        m.layers.push_back(l);
    }
    return m;
}

const CellRules kRules{256, {"gemma3"}};

}  // namespace

TEST_CASE("the context is rounded per sequence unless the cache is unified", "[replay]") {
    const model::Model m = windowed_model(0);
    EngineSettings s;
    s.n_ctx = 1000;
    s.n_seq = 3;  // a measured row: 1000 with three sequences becomes 3 x 512
    EngineCells c = resolve_cells(m, s, kRules);
    CHECK(c.n_ctx == 1536);
    CHECK(c.n_ctx_seq == 512);
    CHECK(c.streams == 3);
    CHECK(c.cells == 512);
    CHECK(c.window_cells == 512);
    CHECK_FALSE(c.windows);
    CHECK(c.prompt_tokens == 513);  // 512 rounded up to the sequences
    CHECK(c.prompt_outputs == 512);

    s.kv_unified = true;
    c = resolve_cells(m, s, kRules);
    CHECK(c.n_ctx == 1024);
    CHECK(c.streams == 1);
    CHECK(c.cells == 1024);
}

TEST_CASE("windowed layers get the window and a micro-batch", "[replay]") {
    const model::Model m = windowed_model(512);
    EngineSettings s;
    s.n_ctx = 32768;
    EngineCells c = resolve_cells(m, s, kRules);
    CHECK(c.window_cells == 1024);
    CHECK(c.of(*m.layers[0].attention) == 1024);
    CHECK(c.of(*m.layers[1].attention) == 32768);

    s.n_ubatch = 100;
    CHECK(resolve_cells(m, s, kRules).window_cells == 768);  // 612 rounded up
    s.n_seq = 4;
    s.kv_unified = true;
    CHECK(resolve_cells(m, s, kRules).window_cells == 2304);  // 4 x 512 + 100, rounded up
    s.swa_full = true;
    CHECK(resolve_cells(m, s, kRules).window_cells == 32768);

    SECTION("an engine that ignores the window of an architecture gives it full caches") {
        const EngineCells full = resolve_cells(m, s, CellRules{256, {}});
        CHECK_FALSE(full.windows);
        CHECK(full.of(*m.layers[0].attention) == 32768);
    }
    SECTION("a layer that reads another layer's cache has no cells") {
        model::Attention shared = *m.layers[1].attention;
        shared.shared_with = 0;
        CHECK(c.of(shared) == 0);
    }
}

TEST_CASE("batch sizes follow the context as asked for", "[replay]") {
    const model::Model m = windowed_model(0);
    EngineSettings s;
    s.n_ctx = 100;
    CHECK(resolve_cells(m, s, kRules).prompt_tokens == 100);
    s.n_ctx = 4096;
    s.n_ubatch = 0;
    CHECK(resolve_cells(m, s, kRules).prompt_tokens == 2048);
    s.n_outputs_max = 1;
    CHECK(resolve_cells(m, s, kRules).prompt_outputs == 1);
}

TEST_CASE("settings the engine refuses are errors", "[replay]") {
    model::Model m = windowed_model(0);
    const auto refused = [&](auto change) {
        EngineSettings s;
        change(s);
        CHECK_THROWS_AS(resolve_cells(m, s, kRules), Error);
    };
    refused([](EngineSettings& s) { s.n_ctx = 0; });
    refused([](EngineSettings& s) { s.n_ctx = std::int64_t{1} << 40; });
    refused([](EngineSettings& s) { s.n_seq = 0; });
    refused([](EngineSettings& s) { s.n_seq = 257; });
    refused([](EngineSettings& s) { s.n_batch = -1; });
    refused([](EngineSettings& s) { s.n_seq = 4, s.n_outputs_max = 3; });
    refused([](EngineSettings& s) { s.n_seq = 8, s.n_batch = 4; });
    refused([](EngineSettings& s) { s.quantized_values = true, s.flash_attention = false; });
    m.layers[0].attention->latent_rank = 512;
    refused([](EngineSettings& s) { s.quantized_keys = true; });
}
