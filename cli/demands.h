// The options of decisions on a command line.
#pragma once

#include "cli/command.h"
#include "core/plan/decision_options.h"
#include "core/view/decision_view.h"

namespace memwall::cli {

class DemandOptions {
  public:
    void add_to(CLI::App& app);
    /// As typed, the preset applied to them and to `deployment`. Throws Error.
    plan::Demands demands(plan::Deployment& deployment) const;

  private:
    std::vector<std::string> values_;  // parallel to plan::decision_options()
};

/// The default grid of the stated deployment, searched and decided. With `mixed` also, for the best
/// configuration by quality, the recipe of mixed formats that fills what it leaves of the budget. Throws
/// Error.
view::Recommendation recommendation(plan::Deployment stated, const DemandOptions& demands,
                                    bool mixed = false);

}  // namespace memwall::cli
