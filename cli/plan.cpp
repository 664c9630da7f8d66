// memwall plan: one configuration.
#include <iostream>
#include <memory>

#include "cli/command.h"
#include "core/base/error.h"
#include "core/plan/explain.h"
#include "core/view/engine_flags.h"
#include "core/view/json.h"
#include "core/view/plan_text.h"
#include "devices/planning.h"

namespace memwall::cli {
namespace {

struct Options {
    DeploymentOptions deployment;
    bool json = false, ledger = false, require_fit = false;
    std::string undecided, emit;
};

int verdict_status(const Options& o, plan::Verdict verdict) {
    if (!o.require_fit || verdict == plan::Verdict::fits) return kDone;
    if (verdict != plan::Verdict::too_close_to_call) return kFailed;
    return o.undecided == "pass" ? kDone : o.undecided == "fail" ? kFailed : kUndecided;
}

int run(const Options& o) {
    const devices::Planned p = devices::make_plan(o.deployment.deployment());
    if (!o.emit.empty()) {
        std::cout << view::engine_flags(o.emit, p.prepared, p.knobs, p.target) << "\n";
    } else if (o.json) {
        LedgerItem ledger;
        if (o.ledger) ledger = plan::explain(p.prepared, p.knobs, p.target, p.plan);
        std::cout << view::plan_json(p.prepared, p.knobs, p.target, p.plan, p.advice,
                                     o.ledger ? &ledger : nullptr);
    } else {
        std::cout << view::plan_text(p.prepared, p.knobs, p.target, p.plan, p.advice, colour_output(),
                                     static_cast<std::size_t>(terminal_width()));
    }
    return verdict_status(o, p.plan.verdict);
}

}  // namespace

void add_plan(Command command) {
    auto o = std::make_shared<Options>();
    CLI::App* app = command.app.add_subcommand(
        "plan", "One configuration: memory, speed, verdict, and the smallest changes that would make it fit");
    o->deployment.add_to(*app);
    app->add_flag("--json", o->json, "print one JSON document (docs/schema/plan.schema.json)")
        ->group("Output");
    app->add_flag("--ledger", o->ledger, "with --json: where every number comes from")->group("Output");
    app->add_option("--emit", o->emit, "print ready engine flags instead: llama.cpp")
        ->type_name("ENGINE")
        ->group("Output");
    app->add_flag("--require-fit", o->require_fit,
                  "exit 1 when it does not fit, 3 when it is too close to call")
        ->group("Decision");
    app->add_option("--undecided", o->undecided, "what too close to call counts as: pass or fail")
        ->check(CLI::IsMember({"pass", "fail"}))
        ->group("Decision");
    app->footer(
        "Examples:\n"
        "  memwall plan qwen2.5-7b --quant Q4_K_M --device raspberry-pi-5:8GiB --context 4096\n"
        "  memwall plan model.gguf --kv q8_0 --context 16384 --device iphone-16-pro --json\n"
        "  memwall plan deployment.yaml --set device.bandwidth=+8GB/s\n"
        "  memwall plan llama-3.1-8b --device rtx-4090 --emit llama.cpp");
    app->callback([o, &action = command.action] { action = [o] { return run(*o); }; });
}

}  // namespace memwall::cli
