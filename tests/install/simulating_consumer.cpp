// What a user of the installed simulator and kernels writes: a scenario over time, and a token of the small
// engine on this machine.
#include <cstdio>
#include <vector>

#include "kernels/engine/engine.h"
#include "kernels/verify.h"
#include "sim/run.h"

int main() {
    using namespace memwall;
    sim::Scenario scenario = sim::open_scenario("phone-day");
    scenario.seconds = 3600;
    const sim::RunResult result = sim::run(sim::prepare(scenario), {});
    std::printf("%lld requests in an hour\n", static_cast<long long>(result.all().arrived));

    const model::Model model = kernels::verify_models().front();
    kernels::EngineSettings settings;
    settings.context = 64;
    kernels::ThreadTeam team(2);
    kernels::Engine engine(model, settings, *kernels::synthetic_weights(settings, 1, 2), team);
    const std::vector<std::int32_t> prompt{1, 2, 3};
    const auto logits = engine.forward(engine.add_sequence(), prompt);
    std::printf("%zu logits\n", logits.size());
    return logits.size() == static_cast<std::size_t>(model.vocabulary) ? 0 : 1;
}
