// What is wrong with a command line, in one line that names what was probably meant.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace memwall::cli {

/// Of a subcommand that does not exist.
std::string unknown_subcommand(const CLI::App& app, const std::string& name);
/// Of what the parser refused; the subcommand it was reading is known to `app`.
std::string usage_error(const CLI::App& app, const CLI::ParseError& error);

}  // namespace memwall::cli
