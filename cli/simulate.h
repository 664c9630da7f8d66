// What subcommands share that simulate a scenario.
#pragma once

#include <string>

#include "cli/command.h"
#include "sim/scenario.h"

namespace memwall::cli {

/// Puts a MODEL, unless it is empty, and the options of the command line over a scenario's own.
void override_deployment(sim::Scenario& scenario, const DeploymentOptions& options, const std::string& model);

}  // namespace memwall::cli
