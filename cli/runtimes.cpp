// memwall runtimes: the engines whose rules are known.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iostream>
#include <memory>

#include "cli/command.h"
#include "core/quant/recipe.h"
#include "core/runtime/profile.h"
#include "core/view/json_parts.h"
#include "core/view/text_table.h"

namespace memwall::cli {
namespace {

struct Options {
    std::string name;
    bool json = false;
};

std::vector<std::string> recipes_of(const runtime::Profile& p) {
    std::vector<std::string> recipes;
    for (const quant::RecipeInfo& r : quant::recipes())
        if (r.runtimes == "any" || r.runtimes.find(p.name) != std::string_view::npos)
            recipes.push_back(r.name);
    return recipes;
}

std::string json(const std::vector<std::string>& names) {
    view::Json j = view::document("memwall/runtimes/1");
    j["runtimes"] = view::Json::array();
    for (const std::string& name : names) {
        const runtime::Profile& p = *runtime::select_profile(name, "NAME").profile;
        j["runtimes"].push_back(
            {{"name", p.name},
             {"release", p.release},
             {"about", p.about},
             {"processors", p.processors},
             {"default_recipe", p.default_recipe},
             {"recipes", recipes_of(p)},
             {"kv_types", p.kv_types},
             {"compute_buffer", p.compute == runtime::ComputeRule::replay ? "replay" : "interval"},
             {"sources", p.sources}});
    }
    return j.dump(2, ' ', false, view::Json::error_handler_t::replace) + "\n";
}

int list() {
    view::TextTable table{{"runtime", "release", "processors", "KV types", "about"}, {}};
    for (const std::string& name : runtime::profile_names()) {
        const runtime::Profile& p = *runtime::select_profile(name, "").profile;
        table.rows.push_back({p.name, p.release.empty() ? "-" : p.release,
                              fmt::format("{}", fmt::join(p.processors, " ")),
                              fmt::format("{}", fmt::join(p.kv_types, " ")), p.about});
    }
    std::cout << view::plain_table(table, colour_output(), table_width());
    return kDone;
}

int show(const std::string& name) {
    const runtime::Profile& p = *runtime::select_profile(name, "NAME").profile;
    const auto width = static_cast<std::size_t>(terminal_width());
    std::cout << p.name << (p.release.empty() ? "" : " " + p.release) << "\n"
              << view::hung("  ", p.about, width);
    std::cout << "  usual recipe   " << p.default_recipe << "\n  recipes\n"
              << view::hung("    ", fmt::format("{}", fmt::join(recipes_of(p), " ")), width)
              << view::hung("  KV types       ",
                            fmt::format("{} (first is the default)", fmt::join(p.kv_types, " ")), width)
              << view::hung("  compute buffer ",
                            p.compute == runtime::ComputeRule::replay
                                ? "replay of the engine's allocator"
                                : "closed form of the family, an interval",
                            width)
              << "  sources\n";
    for (const std::string& s : p.sources) std::cout << view::hung("    ", s, width);
    return kDone;
}

int run(const Options& o) {
    if (!o.json) return o.name.empty() ? list() : show(o.name);
    std::cout << json(o.name.empty() ? runtime::profile_names() : std::vector{o.name});
    return kDone;
}

}  // namespace

void add_runtimes(Command command) {
    auto o = std::make_shared<Options>();
    CLI::App* app = command.app.add_subcommand(
        "runtimes", "The engines whose memory rules are known, and where each rule comes from");
    app->add_option("NAME", o->name, "show one runtime");
    app->add_flag("--json", o->json, "print one JSON document")->group("Output");
    app->footer("Examples:\n  memwall runtimes\n  memwall runtimes llama.cpp");
    app->callback([o, &action = command.action] { action = [o] { return run(*o); }; });
}

}  // namespace memwall::cli
