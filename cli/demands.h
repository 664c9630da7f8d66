// The options of decisions on a command line.
#pragma once

#include "cli/command.h"
#include "core/plan/decision_options.h"

namespace memwall::cli {

class DemandOptions {
  public:
    void add_to(CLI::App& app);
    /// As typed, the preset applied to them and to `deployment`. Throws Error.
    plan::Demands demands(plan::Deployment& deployment) const;

    /// --axis, for subcommands that search more than the default grid.
    void add_axes_to(CLI::App& app);
    plan::Axes axes() const;

  private:
    std::vector<std::string> values_;  // parallel to plan::decision_options()
    std::vector<std::string> axes_;
};

}  // namespace memwall::cli
