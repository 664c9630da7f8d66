#include "cli/usage_error.h"

#include <fmt/format.h>

#include <vector>

#include "core/base/edit_distance.h"

namespace memwall::cli {
namespace {

constexpr std::size_t kLongest = 40;  // longer words are nobody's typing error

/// The name nearest to what was typed, if it is near; else "".
std::string nearest(const std::string& typed, const std::vector<std::string>& names) {
    std::string best;
    std::size_t least = typed.size() / 3 + 1;
    if (typed.size() > kLongest) return best;
    for (const std::string& name : names)
        if (const std::size_t d = edit_distance(typed, name); d < least + (best.empty() ? 1 : 0)) {
            least = d;
            best = name;
        }
    return best;
}

}  // namespace

std::string unknown_subcommand(const CLI::App& app, const std::string& name) {
    std::vector<std::string> names;
    for (const CLI::App* a : app.get_subcommands([](const CLI::App*) { return true; }))
        names.push_back(a->get_name());
    const std::string meant = nearest(name, names);
    return meant.empty() ? fmt::format("unknown subcommand '{}'; 'memwall --help' lists them", name)
                         : fmt::format("unknown subcommand '{}'; did you mean {}?", name, meant);
}

std::string usage_error(const CLI::App& app, const CLI::ParseError& error) {
    const auto parsed = app.get_subcommands();
    const CLI::App& sub = parsed.empty() ? app : *parsed.front();
    const std::string help = fmt::format("'memwall {}--help'", parsed.empty() ? "" : sub.get_name() + " ");
    if (dynamic_cast<const CLI::ExtrasError*>(&error) == nullptr)
        return fmt::format("{}; see {}", error.what(), help);
    for (const std::string& extra : sub.remaining(true)) {
        if (!extra.starts_with("-")) continue;
        const std::string typed = extra.substr(0, extra.find('='));
        std::vector<std::string> names;
        for (const CLI::Option* o : sub.get_options())
            for (const std::string& name : o->get_lnames()) names.push_back("--" + name);
        const std::string meant = nearest(typed, names);
        return meant.empty() ? fmt::format("unknown option '{}'; see {}", typed, help)
                             : fmt::format("unknown option '{}'; did you mean {}?", typed, meant);
    }
    return fmt::format("'{}' is one argument too many; see {}", sub.remaining(true).front(), help);
}

}  // namespace memwall::cli
