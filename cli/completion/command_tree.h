// The command's own definitions as data: what completion scripts and man pages are made from, so that no
// option is written down twice.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace memwall::cli {

/// What may stand for a value; `files` goes with the others.
struct Values {
    std::string_view name;  ///< "models", "devices", "recipes", "runtimes", "kv_types"; "" = `words` alone
    std::vector<std::string> words;
    bool files = false;
    bool empty() const { return name.empty() && words.empty() && !files; }
};

struct OptionWords {
    std::vector<std::string> names;  ///< "--device", "-h"; for a positional its placeholder
    std::string value;               ///< placeholder; empty for a flag
    std::string help, group;
    bool positional = false, required = false, many = false;
    Values values;
};

struct CommandWords {
    std::string name, about, footer;
    std::vector<OptionWords> options;  ///< positionals among them
    std::vector<CommandWords> subcommands;
};

CommandWords words_of(const CLI::App& app);

/// The words behind Values::name.
struct NamedValues {
    std::string_view name;
    std::vector<std::string> words;
};
const std::vector<NamedValues>& named_values();

std::string bash_completion(const CommandWords& root);
std::string zsh_completion(const CommandWords& root);
std::string fish_completion(const CommandWords& root);

/// memwall.1 for the root itself, memwall-NAME.1 for one of its subcommands.
std::string man_page(const CommandWords& root, const CommandWords& command);

}  // namespace memwall::cli
