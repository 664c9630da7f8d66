#include <fmt/format.h>

#include "cli/completion/command_tree.h"

namespace memwall::cli {
namespace {

/// Inside single quotes, with `special` escaped.
std::string in_quotes(std::string_view text, std::string_view special) {
    std::string out;
    for (const char c : text) {
        if (c == '\'')
            out += "'\\''";
        else if (special.find(c) != std::string_view::npos)
            out += std::string("\\") + c;
        else
            out += c;
    }
    return out;
}

/// The action of an _arguments specification.
std::string action(const Values& v) {
    std::string words;
    for (const std::string& w : v.words) words += " " + in_quotes(w, ":\\");
    if (!v.name.empty()) return fmt::format("_memwall_values {}{}{}", v.name, v.files ? " files" : "", words);
    if (!words.empty()) return fmt::format("({})", words.substr(1));
    return v.files ? "_files" : " ";
}

std::string specifications(const CommandWords& c) {
    std::string out;
    bool positional = false;
    for (const OptionWords& o : c.options) {
        if (o.positional) {
            out += fmt::format(" \\\n            '{}:{}:{}'", o.many ? "*" : "",
                               in_quotes(o.names.front(), ":[]"), action(o.values));
            positional = true;
            continue;
        }
        for (const std::string& n : o.names)
            out += fmt::format(
                " \\\n            '*{}[{}]{}'", n, in_quotes(o.help, "[]\\:"),
                o.value.empty() ? "" : fmt::format(":{}:{}", in_quotes(o.value, ":[]\\"), action(o.values)));
    }
    for (const CommandWords& s : c.subcommands)
        if (!positional) out += fmt::format(" \\\n            '1:command:({})'", s.name);
    return out;
}

std::string described(const std::vector<CommandWords>& commands) {
    std::string out;
    for (const CommandWords& c : commands)
        out += fmt::format("        '{}:{}'\n", c.name, in_quotes(c.about, ":\\"));
    return out;
}

}  // namespace

std::string zsh_completion(const CommandWords& root) {
    std::string out =
        "#compdef memwall\n# zsh completion of memwall; written by 'memwall completion zsh'\n\n";
    out += "_memwall_values() {\n    local name=$1; shift\n    case $name in\n";
    for (const NamedValues& v : named_values()) {
        out += fmt::format("        {}) compadd --", v.name);
        for (const std::string& w : v.words) out += fmt::format(" '{}'", in_quotes(w, ""));
        out += " ;;\n";
    }
    out +=
        "    esac\n    if [[ $1 == files ]]; then shift; _files; fi\n    (( $# )) && compadd -- $@\n    "
        "return 0\n}\n\n";
    out +=
        "_memwall() {\n    local -a commands\n    commands=(\n" + described(root.subcommands) +
        "    )\n    if (( CURRENT == 2 )); then\n        _describe command commands\n        return\n    fi\n"
        "    local command=$words[2]\n    shift words\n    (( CURRENT-- ))\n    case $command in\n";
    for (const CommandWords& c : root.subcommands) {
        for (const CommandWords& s : c.subcommands)
            out += fmt::format(
                "        {0})\n            if [[ $words[2] == {1} && CURRENT -gt 2 ]]; then\n            "
                "shift words; (( CURRENT-- "
                "))\n            _arguments{2}\n            return\n            fi\n            "
                "_arguments{3} ;;\n",
                c.name, s.name, specifications(s), specifications(c));
        if (c.subcommands.empty())
            out += fmt::format("        {})\n            _arguments{} ;;\n", c.name, specifications(c));
    }
    return out +
           "    esac\n}\n\n[[ $zsh_eval_context[-1] == loadautofunc ]] && _memwall \"$@\" || compdef "
           "_memwall memwall\n";
}

}  // namespace memwall::cli
