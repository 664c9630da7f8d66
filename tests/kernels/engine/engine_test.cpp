#include "kernels/engine/engine.h"

#include <string>

#include "core/base/error.h"
#include "core/model/catalog.h"
#include "tests/catch.h"
#include "tests/kernels/engine/small_models.h"
#include "tests/kernels/random_values.h"

using namespace memwall;
using namespace memwall::kernels;
using namespace memwall::kernels::test;

namespace {

EngineSettings precise() {
    EngineSettings s;
    s.context = 200;
    s.chunk = 24;
    s.kv = find_kv_kind("f16");
    s.digits = 2;
    return s;
}

/// Largest error of the logits over prompts and steps of odd lengths, against the reference at each.
double worst_error(const model::Model& m, const EngineSettings& s, int threads, std::uint32_t seed) {
    const auto source = synthetic_weights(s, seed, 0);
    ThreadTeam team(threads);
    Engine engine(m, s, *source, team);
    const auto tokens = random_tokens(131, m.vocabulary, seed);
    const auto expected = reference_logits(m, s, *source, tokens);
    const SequenceId id = engine.add_sequence();
    double worst = 0;
    std::size_t done = 0;
    for (const std::size_t n : {1, 5, 1, 1, 24, 37, 1, 2, 48, 1, 1, 9}) {
        const auto logits = engine.forward(id, std::span(tokens).subspan(done, n));
        done += n;
        worst = std::max(worst, relative_error(logits, expected[done - 1]));
    }
    REQUIRE(done == tokens.size());
    return worst;
}

}  // namespace

TEST_CASE("logits agree with plain floating point", "[kernels][engine]") {
    const std::uint32_t seed = fresh_seed();
    INFO("MEMWALL_TEST_SEED=" << seed);
    for (const model::Model& m : {llama_like(), qwen_like(), moe_like(), windowed_like()}) {
        INFO(m.id);
        // f16 caches and activations of 15 bits leave the rounding of keys and values to f16, 2^-11.
        CHECK(worst_error(m, precise(), 2, seed) < 2e-3);
        EngineSettings f16 = precise();
        f16.linear = f16.table = PanelFormat::f16;
        CHECK(worst_error(m, f16, 3, seed) < 2e-3);
    }
}
