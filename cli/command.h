// What the subcommands share: how they are registered, where results go, and the option table as CLI11
// options.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/plan/deployment.h"

namespace memwall::cli {

// Exit statuses of the contract (DESIGN section 7).
enum Exit : int { kDone = 0, kFailed = 1, kUsage = 2, kUndecided = 3, kInternal = 70 };

/// Runs after parsing; returns the exit status.
using Action = std::function<int()>;

/// The chosen subcommand's action; main() runs it.
struct Command {
    CLI::App& app;
    Action& action;
};

// One function a subcommand, in the file of that name.
void add_plan(Command command);
void add_explain(Command command);
void add_inspect(Command command);
void add_models(Command command);
void add_devices(Command command);
void add_runtimes(Command command);
void add_compare(Command command);
void add_fit(Command command);
void add_recommend(Command command);
void add_sweep(Command command);
void add_require(Command command);
void add_check(Command command);
void add_report(Command command);
void add_completion(Command command);
void add_man(Command command);
void add_quantize_lab(Command command);
void add_calibrate(Command command);
void add_simulate(Command command);
void add_verify(Command command);

/// Option texts given on one command line, applied to a deployment in the order of the table.
class DeploymentOptions {
  public:
    /// Adds MODEL and every option of core/plan/options.h. With `model_required` false MODEL may be left out.
    void add_to(CLI::App& app, bool model_required = true);
    /// The options alone: for subcommands that take no MODEL.
    void add_options_to(CLI::App& app);
    /// Defaults, then a deployment file given in place of MODEL, then the options given. Throws Error.
    plan::Deployment deployment() const;
    const std::vector<std::string>& models() const { return models_; }
    /// MODEL as typed; empty where it was left out.
    const std::string& given() const { return model_; }
    /// The same for another MODEL (compare).
    plan::Deployment deployment(const std::string& model) const;
    void allow_many_models() { many_ = true; }

  private:
    std::string model_;
    std::vector<std::string> models_;  // with allow_many_models()
    bool many_ = false;
    std::vector<std::vector<std::string>> values_;  // parallel to plan::options()
};

/// "on a terminal, and NO_COLOR is not set" (https://no-color.org).
bool colour_output();
/// Columns of the terminal or of $COLUMNS, for running text: 100 when standard output is no terminal.
int terminal_width();
/// The same for tables: 0 when standard output is no terminal, so that what reads them gets whole rows.
std::size_t table_width();

}  // namespace memwall::cli
