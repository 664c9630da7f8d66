// The one table of options. The command line, deployment files, completion, man pages and the explorer are
// made from it, so an option has the same name, default and words everywhere.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/plan/deployment.h"

namespace memwall::plan {

struct Option {
    std::string_view name;   ///< "kv-k"; the option is --kv-k, the YAML key kv_k
    std::string_view group;  ///< heading in --help
    std::string_view value;  ///< placeholder: "N", "TYPE", "on|off|auto"
    std::string_view help;   ///< one line; says the default
    bool repeatable;
    /// Parses and stores. Throws Error with `place` on bad text.
    void (*set)(Deployment&, std::string_view text, std::string_view place);
    /// The value as text that set() reads again; empty = default.
    std::string (*get)(const Deployment&);
};

std::span<const Option> options();
/// nullptr if there is none; underscores and dashes are the same.
const Option* find_option(std::string_view name);

/// Reads `schema: memwall/deployment/1`. Errors name file and line. Values already set are kept as defaults.
Deployment read_deployment(const std::string& text, const std::string& place);
/// Only what differs from the defaults, in table order.
std::string write_deployment(const Deployment& deployment);
/// The command line that gives this deployment: "memwall plan MODEL --option value ...".
std::string command_line(const Deployment& deployment);

}  // namespace memwall::plan
