// memwall recommend: the best configurations of a model on a device under constraints and a priority.
#include "devices/recommend.h"

#include <iostream>
#include <memory>

#include "cli/demands.h"
#include "core/view/decision_view.h"

namespace memwall::cli {
namespace {

struct Options {
    DeploymentOptions deployment;
    DemandOptions demands;
    bool json = false, mixed = false;
};

int run(const Options& o) {
    plan::Deployment stated = o.deployment.deployment();
    const plan::Demands demands = o.demands.demands(stated);
    const view::Recommendation r = devices::recommend(stated, demands, o.demands.axes(), o.mixed);
    if (o.json)
        std::cout << view::recommendation_json(r);
    else
        std::cout << view::recommendation_text(r, colour_output(), table_width());
    return r.decision.admitted.empty() ? kFailed : kDone;
}

}  // namespace

void add_recommend(Command command) {
    auto o = std::make_shared<Options>();
    CLI::App* app = command.app.add_subcommand(
        "recommend",
        "The best configurations of a model under constraints: recipe, KV types, context, draft, placement");
    o->deployment.add_to(*app);
    o->demands.add_to(*app);
    o->demands.add_axes_to(*app);
    app->add_flag("--mixed", o->mixed, "also a recipe of mixed formats that fills the memory left")
        ->group("Decision");
    app->add_flag("--json", o->json, "print one JSON document")->group("Output");
    app->footer(
        "Options given fix their axis; the rest is searched (docs/decisions.md).\n"
        "Exit status 1 when nothing is admitted.\n"
        "Examples:\n"
        "  memwall recommend llama-3.1-8b --device pixel-9-pro --preset chat\n"
        "  memwall recommend qwen3-30b-a3b --device rtx-3060-12gb --set device.ram=32GiB --min-decode 15\n"
        "  memwall recommend qwen2.5-7b --device raspberry-pi-5:8GiB --max-memory 5GiB --min-quality 90% "
        "--json\n"
        "  memwall recommend llama-3.2-3b --device apple-m4:16GiB --axis runtime=llama.cpp,mlx --context "
        "8192");
    app->callback([o, &action = command.action] { action = [o] { return run(*o); }; });
}

}  // namespace memwall::cli
