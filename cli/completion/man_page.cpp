#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "cli/completion/command_tree.h"
#include "core/base/version.h"

namespace memwall::cli {
namespace {

/// Text that roff prints as it is: no escapes, no requests, real hyphens that can be copied.
std::string roff(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '\\')
            out += "\\e";
        else if (c == '-')
            out += "\\-";
        else if (c == '\n')
            out += ' ';
        else
            out += c;
    }
    if (out.starts_with('.') || out.starts_with('\'')) out.insert(0, "\\&");
    return out;
}

std::string upper(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return text;
}

std::string name_of(const CommandWords& root, const CommandWords& c) {
    return &root == &c ? "memwall" : "memwall-" + c.name;
}

std::string synopsis(const CommandWords& c, const std::string& path) {
    std::string out = fmt::format(".B {}\n", roff(path));
    out += ".RI [ options ]\n";
    for (const OptionWords& o : c.options)
        if (o.positional) {
            const std::string name = roff(o.names.front()) + (o.many ? "..." : "");
            out += o.required ? ".I " + name + "\n" : ".RI [ " + name + " ]\n";
        }
    if (!c.subcommands.empty() && path == "memwall") out += ".I SUBCOMMAND\n";
    return out;
}

std::string options(const CommandWords& c) {
    std::string out;
    std::vector<std::string> groups;
    for (const OptionWords& o : c.options)
        if (!o.positional && std::find(groups.begin(), groups.end(), o.group) == groups.end())
            groups.push_back(o.group);
    for (const OptionWords& o : c.options)
        if (o.positional) out += fmt::format(".TP\n.I {}\n{}\n", roff(o.names.front()), roff(o.help));
    for (const std::string& g : groups) {
        if (groups.size() > 1) out += fmt::format(".SS {}\n", roff(g));
        for (const OptionWords& o : c.options) {
            if (o.positional || o.group != g) continue;
            std::string names;
            for (const std::string& n : o.names) names += (names.empty() ? "" : ", ") + n;
            out += ".TP\n";
            out += o.value.empty() ? fmt::format(".B {}\n", roff(names))
                                   : fmt::format(".BI \"{} \" {}\n", roff(names), roff(o.value));
            out += (o.help.empty() ? "\\&" : roff(o.help)) + "\n";
        }
    }
    return out;
}

/// A footer's sentences, its examples (indented lines) and its line on the exit status.
struct Footer {
    std::string notes, examples, status;

    explicit Footer(const std::string& text) {
        std::istringstream in(text);
        for (std::string line; std::getline(in, line);) {
            if (line == "Examples:" || line.empty()) continue;
            if (line.starts_with("  "))
                examples += roff(line.substr(2)) + "\n";
            else if (line.starts_with("Exit status"))
                status += roff(line) + "\n";
            else
                notes += roff(line) + "\n";
        }
    }
};

std::string others(const CommandWords& root, const CommandWords& c) {
    std::string out;
    if (&root != &c) out += ".BR memwall (1)";
    for (const CommandWords& s : root.subcommands)
        if (&s != &c) out += fmt::format("{}.BR memwall\\-{} (1)", out.empty() ? "" : ",\n", roff(s.name));
    return out + "\n";
}

}  // namespace

std::string man_page(const CommandWords& root, const CommandWords& c) {
    const std::string name = name_of(root, c);
    const std::string path = &root == &c ? "memwall" : "memwall " + c.name;
    std::string about =
        &root == &c ? "memory\\-budget planner for language models on devices" : roff(c.about);
    std::string out =
        fmt::format(".TH {} 1 \"{}\" \"memwall {}\" \"User Commands\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n{}",
                    upper(roff(name)), kDataVersion, kVersion, roff(name), about, synopsis(c, path));
    for (const CommandWords& s : c.subcommands)
        if (&root != &c) out += ".br\n" + synopsis(s, path + " " + s.name);
    const Footer footer(c.footer);
    out += fmt::format(".SH DESCRIPTION\n{}.\n{}", roff(c.about), footer.notes);
    if (&root == &c) {
        out += ".SH SUBCOMMANDS\n";
        for (const CommandWords& s : c.subcommands)
            out += fmt::format(".TP\n.BR memwall\\-{} (1)\n{}\n", roff(s.name), roff(s.about));
    }
    out += ".SH OPTIONS\n" + options(c);
    for (const CommandWords& s : c.subcommands)
        if (&root != &c)
            out += fmt::format(".SH \"{} {}\"\n{}\n{}", upper(roff(c.name)), upper(roff(s.name)),
                               roff(s.about), options(s));
    if (!footer.examples.empty()) out += ".SH EXAMPLES\n.nf\n" + footer.examples + ".fi\n";
    out += ".SH \"EXIT STATUS\"\n" +
           (footer.status.empty()
                ? std::string(
                      "0 done, 1 a check failed or nothing was found, 2 bad usage or bad input, 3 undecided, "
                      "70 an internal error.\n")
                : footer.status);
    return out + ".SH \"SEE ALSO\"\n" + others(root, c);
}

}  // namespace memwall::cli
