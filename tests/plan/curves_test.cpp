// Curves and operator times are plans, sampled.
#include "core/plan/curves.h"

#include "core/plan/explain.h"
#include "core/plan/operator_times.h"
#include "devices/planning.h"
#include "tests/catch.h"

using namespace memwall;

namespace {

plan::Deployment deployment() {
    plan::Deployment d;
    d.model = "llama-3.2-1b";
    d.device = "raspberry-pi-5:8GiB";
    d.quant = "Q4_K_M";
    d.context = 4096;
    return d;
}

}  // namespace

TEST_CASE("points of the context curve are plans at that context", "[curves]") {
    const devices::Planned p = devices::make_plan(deployment());
    const auto curve = plan::context_curve(p.prepared, p.knobs, p.target, 0, 16384, 9);
    REQUIRE(curve.size() == 9);
    CHECK(curve.front().context == 256);
    CHECK(curve.back().context == 16384);
    for (const plan::ContextPoint& at : curve) {
        plan::Deployment d = deployment();
        d.context = at.context;
        if (at.context < p.knobs.prompt) d.prompt = at.context;
        const devices::Planned one = devices::make_plan(d);
        CHECK(at.needed.central == one.plan.memory.pools[0].needed.central);
        CHECK(at.decode.central.value == one.plan.speed.decode.central.value);
        double sum = 0;
        for (const double part : at.parts) sum += part;
        CHECK(sum == at.needed.central.as_double());
    }
}

TEST_CASE("points of the prompt curve are plans of that prompt", "[curves]") {
    const devices::Planned p = devices::make_plan(deployment());
    const auto curve = plan::prompt_curve(p.prepared, p.knobs, p.target, 32, 4096, 8);
    REQUIRE(curve.size() == 8);
    CHECK(curve.front().prompt == 32);
    CHECK(curve.back().prompt == 4096);
    for (const plan::PromptPoint& at : curve) {
        plan::Deployment d = deployment();
        d.prompt = at.prompt;
        CHECK(at.first_token.central.value == devices::make_plan(d).plan.speed.first_token.central.value);
    }
}

TEST_CASE("bytes a token are the slope of the cache", "[curves]") {
    const devices::Planned p = devices::make_plan(deployment());
    plan::Deployment more = deployment();
    more.context = 8192;
    const devices::Planned q = devices::make_plan(more);
    const auto kv = [](const devices::Planned& x) {
        return x.plan.memory.items[static_cast<std::size_t>(plan::Item::kv_cache)].central;
    };
    CHECK(kv(q) - kv(p) == plan::kv_bytes_per_token(p.prepared, p.knobs) * 4096);
}

TEST_CASE("operator times are the ledger's", "[curves]") {
    const devices::Planned p = devices::make_plan(deployment());
    const LedgerItem root = plan::explain(p.prepared, p.knobs, p.target, p.plan);
    const LedgerItem* decode = plan::find_item(root, "decode_operators");
    REQUIRE(decode != nullptr);
    const auto rows = plan::operator_times(p.prepared, p.knobs, p.target, plan::decode_phase(p.knobs));
    REQUIRE(rows.size() == decode->children.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        CHECK(rows[i].name == decode->children[i].name);
        CHECK(rows[i].time.value == decode->children[i].value.central);
    }
}
