// memwall runtimes: the engines whose rules are known.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iostream>
#include <memory>

#include "cli/command.h"
#include "core/quant/recipe.h"
#include "core/runtime/profile.h"
#include "core/view/json.h"
#include "core/view/text_table.h"

namespace memwall::cli {
namespace {

struct Options {
    std::string name;
    bool json = false;
};

int list() {
    view::TextTable table{{"runtime", "release", "processors", "KV types", "about"}, {}};
    for (const std::string& name : runtime::profile_names()) {
        const runtime::Profile& p = *runtime::select_profile(name, "").profile;
        table.rows.push_back({p.name, p.release.empty() ? "-" : p.release,
                              fmt::format("{}", fmt::join(p.processors, " ")),
                              fmt::format("{}", fmt::join(p.kv_types, " ")), p.about});
    }
    std::cout << view::plain_table(table, colour_output());
    return kDone;
}

int show(const std::string& name) {
    const runtime::Profile& p = *runtime::select_profile(name, "NAME").profile;
    std::cout << p.name << (p.release.empty() ? "" : " " + p.release) << "\n  " << p.about << "\n";
    std::cout << "  usual recipe   " << p.default_recipe << "\n";
    std::vector<std::string> recipes;
    for (const quant::RecipeInfo& r : quant::recipes())
        if (r.runtimes == "any" || r.runtimes.find(p.name) != std::string_view::npos)
            recipes.push_back(r.name);
    std::cout << "  recipes\n";
    for (const std::string& line : view::wrapped(fmt::format("{}", fmt::join(recipes, " ")), 90))
        std::cout << "    " << line << "\n";
    std::cout << fmt::format("  KV types       {} (first is the default)\n", fmt::join(p.kv_types, " "));
    std::cout << "  compute buffer "
              << (p.compute == runtime::ComputeRule::replay ? "replay of the engine's allocator"
                                                            : "closed form of the family, an interval")
              << "\n";
    std::cout << "  sources\n";
    for (const std::string& s : p.sources) std::cout << "    " << s << "\n";
    return kDone;
}

}  // namespace

void add_runtimes(Command command) {
    auto o = std::make_shared<Options>();
    CLI::App* app = command.app.add_subcommand(
        "runtimes", "The engines whose memory rules are known, and where each rule comes from");
    app->add_option("NAME", o->name, "show one runtime");
    app->footer("Examples:\n  memwall runtimes\n  memwall runtimes llama.cpp");
    app->callback(
        [o, &action = command.action] { action = [o] { return o->name.empty() ? list() : show(o->name); }; });
}

}  // namespace memwall::cli
