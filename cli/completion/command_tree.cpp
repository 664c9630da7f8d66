#include "cli/completion/command_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "core/model/catalog.h"
#include "core/plan/decide.h"
#include "core/quality/scores.h"
#include "core/quant/kv_type.h"
#include "core/quant/recipe.h"
#include "core/runtime/profile.h"
#include "devices/catalog.h"
#include "devices/fit.h"

namespace memwall::cli {
namespace {

/// As resolve_device() reads it: "8GiB", "512MiB".
std::string sized(const std::string& name, Bytes size) {
    const bool small = size.value % (std::int64_t{1} << 30) != 0;
    return fmt::format("{}:{}{}", name, size.value >> (small ? 20 : 30), small ? "MiB" : "GiB");
}

std::vector<std::string> device_names() {
    std::vector<std::string> names{"host"};
    for (const std::string_view id : devices::catalog_ids()) names.emplace_back(id);
    for (const devices::Product& p : devices::list_products()) {
        if (p.sizes.size() < 2) names.push_back(p.alias);
        for (const Bytes size : p.sizes)
            if (p.sizes.size() > 1) names.push_back(sized(p.alias, size));
    }
    for (const devices::DeviceSummary& d : devices::list_devices())
        if (d.sizes.size() > 1)
            for (const Bytes size : d.sizes) names.push_back(sized(d.id, size));
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

std::vector<std::string> kv_type_names() {
    std::vector<std::string> names;
    for (const std::string& runtime : runtime::profile_names())
        for (const std::string& type : runtime::select_profile(runtime, "").profile->kv_types)
            if (std::find(names.begin(), names.end(), type) == names.end()) names.push_back(type);
    return names;
}

/// Placeholders, or options whose placeholder says too little, and what stands for them. The first that the
/// placeholder starts with, or the option's name, wins.
struct Meaning {
    std::string_view word;
    Values values;
};
const std::vector<Meaning>& meanings() {
    static const std::vector<Meaning> table = [] {
        std::vector<std::string> goals, presets, lanes;
        for (std::size_t g = 0; g < plan::kGoals; ++g)
            goals.emplace_back(plan::goal_name(static_cast<plan::Goal>(g)));
        for (const plan::Preset& p : plan::presets()) presets.emplace_back(p.name);
        for (std::size_t i = 0; i < quality::kLanes; ++i)
            lanes.emplace_back(quality::lane_name(static_cast<quality::Lane>(i)));
        return std::vector<Meaning>{{"--preset", {"", presets, false}},
                                    {"--emit", {"", {"llama.cpp"}, false}},
                                    {"MODEL", {"models", {}, true}},
                                    {"DEVICE", {"devices", {}, true}},
                                    {"RECIPE", {"recipes", {}, false}},
                                    {"NAME[@RELEASE]", {"runtimes", {}, false}},
                                    {"NAME", {"runtimes", {}, false}},
                                    {"TYPE", {"kv_types", {}, false}},
                                    {"GOAL", {"", goals, false}},
                                    {"LANE", {"", lanes, false}},
                                    {"FILE", {"", {}, true}},
                                    {"FOLDER", {"", {}, true}},
                                    {"BUDGETS", {"", {}, true}},
                                    {"SOURCE", {"", {}, true}},
                                    {"RUN", {"", {}, true}}};
    }();
    return table;
}

/// "on|off|auto", "TEXT:{pass,fail}": the lower-case alternatives.
std::vector<std::string> alternatives(const std::string& placeholder) {
    std::vector<std::string> words;
    const std::size_t brace = placeholder.find('{');
    const bool set = brace != std::string::npos;
    if (!set && placeholder.find('|') == std::string::npos) return words;
    std::string word;
    for (const char c : (set ? placeholder.substr(brace + 1) : placeholder) + "|") {
        if (c != '|' && c != ',' && c != '}') {
            word += c;
            continue;
        }
        if (std::any_of(word.begin(), word.end(), [](unsigned char x) { return std::islower(x); }))
            words.push_back(word);
        word.clear();
    }
    return words;
}

Values values_of(const OptionWords& o) {
    const std::string& placeholder = o.positional ? o.names.front() : o.value;
    for (const Meaning& m : meanings()) {
        const bool named = std::find(o.names.begin(), o.names.end(), m.word) != o.names.end();
        if (named || (!m.word.starts_with('-') && placeholder.starts_with(m.word))) {
            Values v = m.values;
            for (std::string& word : alternatives(placeholder)) v.words.push_back(std::move(word));
            return v;
        }
    }
    // check --init takes plain options of these names.
    for (const auto& [name, values] : {std::pair("--model", Values{"models", {}, true}),
                                       std::pair("--device", Values{"devices", {}, true})})
        if (o.names.front() == name) return values;
    return {"", alternatives(placeholder), false};
}

}  // namespace

CommandWords words_of(const CLI::App& app) {
    CommandWords c{app.get_name(), app.get_description(), app.get_footer(), {}, {}};
    for (const CLI::Option* option : app.get_options()) {
        OptionWords o;
        o.positional = option->get_positional();
        if (o.positional)
            o.names = {option->get_name(true)};
        else
            for (const std::string& name : option->get_lnames()) o.names.push_back("--" + name);
        if (!o.positional)
            for (const std::string& name : option->get_snames()) o.names.push_back("-" + name);
        if (!o.positional && option->get_items_expected_max() > 0) {
            o.value = option->get_type_name();
            // A checked option reads "TEXT:{pass,fail}".
            if (const std::size_t at = o.value.find(":{"); at != std::string::npos) {
                o.value = o.value.substr(at + 2, o.value.size() - at - 3);
                std::replace(o.value.begin(), o.value.end(), ',', '|');
            }
            if (o.value == "TEXT") o.value = "VALUE";
        }
        o.help = option->get_description();
        o.group = option->get_group();
        o.required = option->get_required();
        o.many = option->get_items_expected_max() > 1;
        if (o.positional || !o.value.empty()) o.values = values_of(o);
        if (o.values.empty()) o.values.words = alternatives(option->get_type_name());
        c.options.push_back(std::move(o));
    }
    for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
        c.subcommands.push_back(words_of(*sub));
    for (CommandWords& sub : c.subcommands)
        for (OptionWords& o : sub.options)
            if (o.names.front() == "SUBCOMMAND")
                for (const CommandWords& s : c.subcommands) o.values.words.push_back(s.name);
    return c;
}

const std::vector<NamedValues>& named_values() {
    static const std::vector<NamedValues> all = [] {
        std::vector<std::string> models, recipes;
        for (const std::string_view id : model::catalog_ids()) models.emplace_back(id);
        for (const quant::RecipeInfo& r : quant::recipes()) recipes.push_back(r.name);
        return std::vector<NamedValues>{{"models", models},
                                        {"devices", device_names()},
                                        {"recipes", recipes},
                                        {"runtimes", runtime::profile_names()},
                                        {"kv_types", kv_type_names()}};
    }();
    return all;
}

}  // namespace memwall::cli
