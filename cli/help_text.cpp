#include "cli/help_text.h"

#include <sstream>

#include "core/view/text_table.h"

namespace memwall::cli {
namespace {

constexpr std::size_t kWide = 80;     // names and words side by side
constexpr std::size_t kNames = 34;    // columns of names then
constexpr std::size_t kIndented = 6;  // words below the names

std::string filled(const std::string& text, std::size_t width) {
    std::string out;
    for (const std::string& line : view::wrapped(text, width)) out += line + "\n";
    return out;
}

/// A command line, broken before options.
std::string broken(const std::string& line, std::size_t width) {
    std::string out;
    std::size_t start = 0;
    std::string indent;
    while (line.size() - start + indent.size() > width) {
        std::size_t at = std::string::npos;
        for (std::size_t next = line.find(" --", start + 1);
             next != std::string::npos && next - start + indent.size() + 2 <= width;
             next = line.find(" --", next + 1))
            at = next;
        if (at == std::string::npos) break;
        out += indent + line.substr(start, at - start) + " \\\n";
        start = at + 1;
        indent = "      ";
    }
    return out + indent + line.substr(start) + "\n";
}

}  // namespace

HelpText::HelpText(std::size_t width) : width_(width) {
    column_width(kNames);
}

std::string HelpText::entry(const std::string& name, const std::string& words) const {
    const std::string head = "  " + name;
    const bool wide = width_ >= kWide;
    const std::size_t indent = wide ? kNames : kIndented;
    std::string out = head;
    // A name that leaves no gap stands alone.
    const bool alone = !wide || head.size() + 1 > indent;
    if (alone) out += "\n";
    bool first = !alone;
    for (const std::string& line : view::wrapped(words, width_ - indent)) {
        out += std::string(first ? indent - head.size() : indent, ' ') + line + "\n";
        first = false;
    }
    return out.back() == '\n' ? out : out + "\n";
}

std::string HelpText::make_description(const CLI::App* app) const {
    return filled(app->get_description(), width_);
}

std::string HelpText::make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const {
    // The base class puts two empty lines between groups.
    std::string out = CLI::Formatter::make_help(app, std::move(name), mode);
    for (std::size_t at = 0; (at = out.find("\n\n\n", at)) != std::string::npos;) out.erase(at, 1);
    return out;
}

std::string HelpText::make_option(const CLI::Option* option, bool is_positional) const {
    return entry(make_option_name(option, is_positional) + make_option_opts(option),
                 make_option_desc(option));
}

std::string HelpText::make_subcommand(const CLI::App* sub) const {
    return entry(sub->get_name(), sub->get_description());
}

std::string HelpText::make_footer(const CLI::App* app) const {
    // Indented lines are examples; the others are paragraphs, as long as they do not end in a colon.
    std::istringstream lines(app->get_footer());
    std::string out, paragraph;
    const auto close = [&] {
        out += filled(paragraph, width_);
        paragraph.clear();
    };
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with(" ")) {
            close();
            out += broken(line, width_);
            continue;
        }
        if (line.ends_with(":")) close();
        paragraph += (paragraph.empty() ? "" : " ") + line;
        if (line.ends_with(":")) close();
    }
    close();
    return out;
}

}  // namespace memwall::cli
