#include <algorithm>

#include "devices/planning.h"
#include "tests/catch.h"

using namespace memwall;

// A round verifies with one step of the whole model, so host layers are read there too: more tokens a second
// than tokens a round would mean that the card alone verified.
TEST_CASE("a draft cannot gain more than its tokens a round when layers live on the host", "[plan]") {
    for (const char* layers : {"all", "28", "12", "0"}) {
        plan::Deployment d;
        d.model = "qwen3-14b";
        d.quant = "Q8_0";
        d.device = "rtx-3060-12gb";
        d.gpu_layers = layers;
        d.draft = "qwen3-0.6b:Q4_K_M";
        const devices::Planned p = devices::make_plan(d);
        INFO("layers on the card: " << layers);
        REQUIRE(p.plan.speed.speculative);
        CHECK(p.plan.speed.decode.central.value <=
              p.plan.speed.plain_decode.central.value * p.plan.speed.tokens_per_round);
        CHECK(p.plan.speed.break_even_acceptance > 0.01);
    }
}

TEST_CASE("a draft of another family is warned about", "[plan]") {
    const auto warned = [](const char* draft) {
        plan::Deployment d;
        d.model = "llama-3.1-8b";
        d.device = "apple-m4:16GiB";
        d.draft = draft;
        const auto warnings = devices::make_plan(d).advice.warnings;
        return std::any_of(warnings.begin(), warnings.end(),
                           [](const plan::Warning& w) { return w.code == "draft_family"; });
    };
    CHECK(warned("qwen3-0.6b"));
    CHECK_FALSE(warned("llama-3.2-1b"));
}
