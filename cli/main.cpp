// The memwall command. Each subcommand lives in the file of its name.
#include <algorithm>
#include <exception>
#include <iostream>

#include "cli/command.h"
#include "cli/help_text.h"
#include "cli/usage_error.h"
#include "core/base/error.h"
#include "core/base/version.h"

int main(int argc, char** argv) {
    using namespace memwall::cli;
    CLI::App app{"memwall: does this model fit this device, how fast will it be, and what makes it work?"};
    app.set_version_flag("--version", std::string("memwall ") + memwall::kVersion);
    app.name("memwall");  // in usage lines, wherever the program was found
    app.require_subcommand(1);
    app.formatter(std::make_shared<HelpText>(static_cast<std::size_t>(terminal_width())));
    app.footer(
        "Examples:\n"
        "  memwall plan qwen2.5-7b --quant Q4_K_M --device raspberry-pi-5:8GiB --context 4096\n"
        "  memwall explain qwen2.5-7b kv_cache\n"
        "  memwall devices show iphone-16-pro\n"
        "'memwall SUBCOMMAND --help' explains each subcommand.");

    Action action;
    const Command command{app, action};
    add_plan(command);
    add_explain(command);
    add_inspect(command);
    add_models(command);
    add_devices(command);
    add_runtimes(command);
    add_compare(command);
    add_fit(command);
    add_recommend(command);
    add_sweep(command);
    add_require(command);
    add_check(command);
    add_report(command);
    add_quantize_lab(command);
    add_calibrate(command);
    add_simulate(command);
    add_verify(command);
    add_completion(command);
    add_man(command);

    const auto subcommands = app.get_subcommands(static_cast<bool (*)(CLI::App*)>(nullptr));
    const auto known = [&](const std::string& name) {
        return std::any_of(subcommands.begin(), subcommands.end(),
                           [&](const CLI::App* a) { return a->get_name() == name; });
    };
    if (argc > 1 && argv[1][0] != '-' && !known(argv[1])) {
        std::cerr << "memwall: " << unknown_subcommand(app, argv[1]) << "\n";
        return kUsage;
    }
    try {
        app.parse(argc, argv);
    } catch (const CLI::CallForHelp& e) {
        return app.exit(e);
    } catch (const CLI::CallForVersion& e) {
        return app.exit(e);
    } catch (const CLI::ParseError& e) {
        std::cerr << "memwall: " << usage_error(app, e) << "\n";
        return kUsage;
    }
    try {
        const int status = action ? action() : kUsage;
        // A full disk or a closed descriptor must not pass for an answer.
        if (std::cout.flush()) return status;
        std::cerr << "memwall: standard output took no more\n";
        return kInternal;
    } catch (const memwall::Error& e) {
        std::cerr << "memwall: " << e.what() << "\n";
        return kUsage;
    } catch (const std::exception& e) {
        std::cerr << "memwall: internal error: " << e.what() << "\n";
        return kInternal;
    }
}
