// memwall require: the inverse of plan.
#include <iostream>
#include <memory>

#include "cli/demands.h"
#include "cli/require_view.h"

namespace memwall::cli {
namespace {

struct Options {
    DeploymentOptions deployment;
    DemandOptions demands;
    bool json = false;
};

int run(const Options& o) {
    plan::Deployment stated = o.deployment.deployment();
    const plan::Demands demands = o.demands.demands(stated);
    if (demands.limits.min_context > 0 && stated.context == 0) stated.context = demands.limits.min_context;
    const devices::Opened opened = devices::open_deployment(stated);
    const devices::Requirement r = devices::require(opened, demands.limits);
    const auto more = devices::sensitivities(opened);
    std::cout << (o.json ? requirement_json(opened, demands, r, more)
                         : requirement_text(opened, demands, r, more, colour_output(), table_width()));
    return r.unreachable ? kFailed : kDone;
}

}  // namespace

void add_require(Command command) {
    auto o = std::make_shared<Options>();
    CLI::App* app = command.app.add_subcommand(
        "require",
        "The least memory, bandwidth and compute that meet a target on a device like the one given");
    o->deployment.add_to(*app);
    o->demands.add_to(*app);
    app->add_flag("--json", o->json, "print one JSON document")->group("Output");
    app->footer(
        "Exit status 1 when no amount of them meets the target.\n"
        "Examples:\n"
        "  memwall require llama-3.1-8b --context 8192 --min-decode 20 --max-ttft 1 --device apple-m4:16GiB\n"
        "  memwall require qwen2.5-7b --quant Q4_K_M --min-decode 10 --confidence 95% --device "
        "raspberry-pi-5:8GiB");
    app->callback([o, &action = command.action] { action = [o] { return run(*o); }; });
}

}  // namespace memwall::cli
