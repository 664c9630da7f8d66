// memwall sweep: a grid over any options, as a table, CSV, Markdown or JSON.
#include "devices/sweep.h"

#include <iostream>
#include <memory>

#include "cli/command.h"
#include "cli/progress.h"
#include "cli/sweep_view.h"
#include "core/base/error.h"

namespace memwall::cli {
namespace {

struct Options {
    DeploymentOptions deployment;
    std::vector<std::string> axes;
    bool json = false, csv = false, markdown = false;
};

int run(const Options& o) {
    if (o.axes.empty()) throw Error("--axis", "no axis", "at least one: --axis context=1024..32768*2");
    std::vector<devices::Axis> axes;
    for (const std::string& text : o.axes) axes.push_back(devices::parse_axis(text, "--axis"));
    const auto points = devices::sweep(o.deployment.deployment(), axes, progress_bar("sweep"));
    std::cout << (o.json  ? sweep_json(axes, points)
                  : o.csv ? sweep_csv(axes, points)
                          : sweep_text(axes, points, o.markdown, colour_output(), table_width()));
    for (const devices::SweepPoint& p : points)
        if (p.failure.empty()) return kDone;
    throw Error("sweep", "no point has a plan: " + points.front().failure, "at least one that does");
}

}  // namespace

void add_sweep(Command command) {
    auto o = std::make_shared<Options>();
    CLI::App* app = command.app.add_subcommand("sweep", "A grid over any options, what-ifs included");
    o->deployment.add_to(*app, false);
    app->add_option("--axis", o->axes, "an option or field and its values; may be repeated")
        ->type_name("NAME=V1,V2..|FROM..TO*F")
        ->allow_extra_args(false);
    app->add_flag("--json", o->json, "print one JSON document")->group("Output");
    app->add_flag("--csv", o->csv, "print comma-separated values, numbers in base units")->group("Output");
    app->add_flag("--markdown", o->markdown, "print a Markdown table")->group("Output");
    app->footer(
        "Examples:\n"
        "  memwall sweep qwen2.5-7b --device raspberry-pi-5:8GiB --axis quant=Q4_K_M,Q8_0 --axis "
        "context=1024..32768*2\n"
        "  memwall sweep llama-3.1-8b --device pixel-9-pro --axis device.bandwidth=+0GB/s,+8GB/s,+16GB/s "
        "--csv\n"
        "  memwall sweep --axis model=qwen3-4b,gemma-3-4b --axis device=iphone-16-pro,pixel-9-pro --quant "
        "Q4_K_M");
    app->callback([o, &action = command.action] { action = [o] { return run(*o); }; });
}

}  // namespace memwall::cli
