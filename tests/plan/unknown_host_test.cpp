// A card whose host's memory nobody named: what is left to the host is undecided, never taken as fitting.
#include <algorithm>

#include "devices/planning.h"
#include "tests/catch.h"

using namespace memwall;

namespace {

devices::Planned plan_of(const std::string& offload, const std::string& layers, const std::string& ram,
                         const std::string& quant = "Q8_0") {
    plan::Deployment d;
    d.model = "qwen3-14b";
    d.quant = quant;
    d.device = "rtx-3060-12gb";
    d.offload = offload;
    d.gpu_layers = layers;
    if (!ram.empty()) d.set.push_back("device.ram=" + ram);
    return devices::make_plan(d);
}

bool warns(const devices::Planned& p, const char* code) {
    const auto& list = p.advice.warnings;
    return std::any_of(list.begin(), list.end(), [&](const plan::Warning& w) { return w.code == code; });
}

}  // namespace

TEST_CASE("what is left to a host of unknown size is undecided, with a way to say its size", "[plan]") {
    for (const auto& [offload, layers] : {std::pair{"auto", "all"}, {"none", "20"}, {"none", "auto"}}) {
        INFO("--offload " << offload << " --gpu-layers " << layers);
        const devices::Planned p = plan_of(offload, layers, "");
        CHECK(p.plan.verdict == plan::Verdict::too_close_to_call);
        CHECK(p.plan.reason == plan::Reason::pool_size_unknown);
        CHECK(p.plan.memory.pools[p.plan.memory.deciding_pool].name == "ram");
        CHECK(p.plan.memory.pools[0].verdict == plan::Verdict::fits);
        CHECK_THAT(p.advice.reason, Catch::Contains("--set device.ram=SIZE"));
        // The size it asks for decides, both ways.
        CHECK(plan_of(offload, layers, "32GiB").plan.verdict == plan::Verdict::fits);
        CHECK(plan_of(offload, layers, "4GiB").plan.verdict == plan::Verdict::does_not_fit);
    }
}

TEST_CASE("a model that the card holds whole does not ask for the host's size", "[plan]") {
    CHECK(plan_of("auto", "all", "", "Q4_K_M").plan.verdict == plan::Verdict::fits);
    CHECK(plan_of("none", "all", "", "Q4_K_M").plan.verdict == plan::Verdict::fits);
}

TEST_CASE("spilling to an unknown host is hinted at, not suggested", "[plan]") {
    const devices::Planned p = plan_of("none", "all", "");
    REQUIRE(p.plan.verdict == plan::Verdict::does_not_fit);
    CHECK(warns(p, "host_memory_unknown"));
    for (const plan::Suggestion& s : p.advice.suggestions) CHECK(s.option != "--gpu-layers");
    const devices::Planned known = plan_of("none", "all", "32GiB");
    CHECK_FALSE(warns(known, "host_memory_unknown"));
    CHECK(std::any_of(known.advice.suggestions.begin(), known.advice.suggestions.end(),
                      [](const plan::Suggestion& s) { return s.option == "--gpu-layers"; }));
}
