// What subcommands share that simulate a scenario.
#pragma once

#include <string>

#include "cli/command.h"

namespace memwall::cli {

/// Puts a MODEL, unless it is empty, and the options of the command line over a scenario's own.
void override_deployment(plan::Deployment& deployment, const DeploymentOptions& options,
                         const std::string& model);

}  // namespace memwall::cli
