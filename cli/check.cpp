// memwall check: sizing checks for CI.
#include "devices/check.h"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <iostream>
#include <map>
#include <memory>

#include "cli/command.h"
#include "cli/report/check_report.h"
#include "core/base/byte_source.h"
#include "core/base/error.h"

namespace memwall::cli {
namespace {

struct Options {
    std::string file, baseline, format = "text", output, undecided;
    std::vector<std::string> models, devices;
    bool init = false, update = false, fail_on_regression = false, json = false;
};

void write_file(const std::string& path, const std::string& text) {
    std::ofstream out(path, std::ios::binary);
    out << text;
    out.close();
    if (!out) throw Error(path, "cannot be written", "a path that can");
}

int init(const Options& o) {
    if (::access(o.file.c_str(), F_OK) == 0) throw Error(o.file, "exists already", "a new file for --init");
    std::vector<std::string> models = o.models, devices = o.devices;
    if (models.empty()) models = {"llama-3.2-3b"};
    if (devices.empty()) devices = {"pixel-9-pro", "raspberry-pi-5:8GiB"};
    const std::string text = plan::first_budgets(models, devices);
    for (const devices::CheckResult& r : devices::run_checks(plan::read_budgets(text, o.file)))
        if (!r.error.empty()) throw Error("--init", r.error);
    write_file(o.file, text);
    std::cerr << fmt::format("memwall: wrote {}; run 'memwall check {}'\n", o.file, o.file);
    return kDone;
}

int run(const Options& o) {
    if (o.init) return init(o);
    // Said first: a pipeline without its baseline must not look as if it compared.
    for (const auto& [given, name] :
         {std::pair(o.update, "--update-baseline"), std::pair(o.fail_on_regression, "--fail-on-regression")})
        if (given && o.baseline.empty()) throw Error(name, "no --baseline FILE", "the file of the baseline");
    if (!o.update && !o.baseline.empty() && ::access(o.baseline.c_str(), F_OK) != 0)
        throw Error(o.baseline, "no such file", "a baseline", "--update-baseline writes a first one");
    const plan::BudgetFile file = plan::read_budgets(read_text_file(o.file), o.file);
    std::vector<devices::Difference> differences;
    const std::vector<devices::CheckResult> results = devices::run_checks(file);
    if (!o.baseline.empty() && !o.update)
        differences =
            devices::compare(results, devices::read_baseline(read_text_file(o.baseline), o.baseline));

    using Form = std::string (*)(const CheckRun&);
    static const std::map<std::string, Form> forms{{"json", check_json},         {"junit", check_junit},
                                                   {"sarif", check_sarif},       {"github", check_github},
                                                   {"markdown", check_markdown}, {"text", nullptr}};
    const CheckRun checked{file, results, differences, o.undecided == "pass"};
    const Form form = forms.at(o.json ? "json" : o.format);
    const std::string text =
        form ? form(checked)
             : check_text(checked, o.output.empty() && colour_output(), o.output.empty() ? table_width() : 0);
    if (o.output.empty())
        std::cout << text;
    else
        write_file(o.output, text);
    if (o.update) write_file(o.baseline, devices::write_baseline(results));
    bool failed = false, undecided = false;
    for (const devices::CheckResult& r : results) {
        failed = failed || r.outcome == devices::Outcome::failed;
        undecided = undecided || r.outcome == devices::Outcome::undecided;
    }
    if (o.fail_on_regression)
        for (const devices::Difference& d : differences) failed = failed || (d.regression && !d.data);
    if (failed || (undecided && o.undecided == "fail")) return kFailed;
    return undecided && o.undecided != "pass" ? kUndecided : kDone;
}

}  // namespace

void add_check(Command command) {
    auto o = std::make_shared<Options>();
    CLI::App* app = command.app.add_subcommand(
        "check", "Sizing checks for CI: deployments x devices x limits from a file");
    app->add_option("BUDGETS", o->file, "budget file (memwall/budgets/1)")->required();
    app->add_flag("--init", o->init, "write a first budget file");
    app->add_option("--model", o->models, "with --init: a model to check; may be repeated")
        ->allow_extra_args(false);
    app->add_option("--device", o->devices, "with --init: a device to check on; may be repeated")
        ->allow_extra_args(false);
    app->add_option("--baseline", o->baseline, "report what changed against FILE")->type_name("FILE");
    app->add_flag("--update-baseline", o->update, "write the baseline instead of comparing with it");
    app->add_flag("--fail-on-regression", o->fail_on_regression,
                  "exit 1 when a check needs more memory or got slower than the baseline, changed data of "
                  "memwall excepted");
    app->add_option("--undecided", o->undecided,
                    "what a limit inside an interval counts as: pass or fail (exit 3)")
        ->check(CLI::IsMember({"pass", "fail"}));
    app->add_option("--format", o->format, "text, json, junit, sarif, github or markdown (text)")
        ->check(CLI::IsMember({"text", "json", "junit", "sarif", "github", "markdown"}))
        ->group("Output");
    app->add_option("--output", o->output, "write to FILE instead of standard output")
        ->type_name("FILE")
        ->group("Output");
    app->add_flag("--json", o->json, "the same as --format json")->group("Output");
    app->footer(
        "Exit status: 0 all passed, 1 a check failed, 2 a broken file, 3 undecided.\n"
        "Examples:\n"
        "  memwall check budgets.yaml --init --model llama-3.2-3b --device pixel-9-pro\n"
        "  memwall check budgets.yaml\n"
        "  memwall check budgets.yaml --baseline budgets.json --fail-on-regression --format github");
    app->callback([o, &action = command.action] { action = [o] { return run(*o); }; });
}

}  // namespace memwall::cli
