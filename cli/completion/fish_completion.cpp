#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/completion/command_tree.h"

namespace memwall::cli {
namespace {

std::string in_quotes(std::string_view text) {
    std::string out = "'";
    for (const char c : text) {
        if (c == '\'' || c == '\\') out += '\\';
        out += c;
    }
    return out + "'";
}

/// `-x` takes no file, `-r` takes files beside the words.
std::string argument(const Values& v) {
    std::string out = v.files ? " -r -F" : " -x";
    std::string words = v.name.empty() ? "" : fmt::format("$__memwall_{}", v.name);
    for (const std::string& w : v.words) words += (words.empty() ? "" : " ") + w;
    return words.empty() ? out : out + fmt::format(" -a \"{}\"", words);
}

void add(std::string& out, const CommandWords& c, const std::string& condition) {
    for (const OptionWords& o : c.options) {
        if (o.positional) {
            if (!o.values.empty())
                out += fmt::format("complete -c memwall -n {}{}\n", in_quotes(condition), argument(o.values));
            continue;
        }
        std::string names;
        for (const std::string& n : o.names)
            names += n.starts_with("--") ? " -l " + n.substr(2) : " -s " + n.substr(1);
        out += fmt::format("complete -c memwall -n {}{}{} -d {}\n", in_quotes(condition), names,
                           o.value.empty() ? " -f" : argument(o.values), in_quotes(o.help));
    }
}

}  // namespace

std::string fish_completion(const CommandWords& root) {
    std::string out =
        "# fish completion of memwall; written by 'memwall completion fish'\ncomplete -c memwall -f\n";
    for (const NamedValues& v : named_values())
        out += fmt::format("set -g __memwall_{} {}\n", v.name, fmt::join(v.words, " "));
    for (const CommandWords& c : root.subcommands)
        out += fmt::format("complete -c memwall -n __fish_use_subcommand -f -a {} -d {}\n", c.name,
                           in_quotes(c.about));
    add(out, root, "__fish_use_subcommand");
    for (const CommandWords& c : root.subcommands) {
        std::string here = "__fish_seen_subcommand_from " + c.name;
        for (const CommandWords& s : c.subcommands) {
            const std::string there = here + "; and __fish_seen_subcommand_from " + s.name;
            out += fmt::format("complete -c memwall -n {} -f -a {} -d {}\n",
                               in_quotes(here + "; and not __fish_seen_subcommand_from " + s.name), s.name,
                               in_quotes(s.about));
            add(out, s, there);
            here += "; and not __fish_seen_subcommand_from " + s.name;
        }
        add(out, c, here);
    }
    return out;
}

}  // namespace memwall::cli
