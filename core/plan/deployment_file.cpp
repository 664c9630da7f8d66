// Deployment files and command lines: two spellings of the same option table.
#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <vector>

#include "core/base/error.h"
#include "core/base/shell_word.h"
#include "core/plan/options.h"

namespace memwall::plan {
namespace {

constexpr std::string_view kSchema = "memwall/deployment/1";

std::vector<std::string> lines(const std::string& joined) {
    std::vector<std::string> parts;
    for (std::size_t from = 0; from < joined.size();) {
        const std::size_t to = std::min(joined.find('\n', from), joined.size());
        parts.push_back(joined.substr(from, to - from));
        from = to + 1;
    }
    return parts;
}

std::string yaml_key(std::string_view name) {
    std::string key(name);
    std::replace(key.begin(), key.end(), '-', '_');
    return key;
}

std::string line_place(const std::string& file, const YAML::Node& node) {
    return fmt::format("{}:{}", file, node.Mark().line + 1);
}

std::string scalar(const YAML::Node& node, const std::string& file) {
    if (!node.IsScalar()) throw Error(line_place(file, node), "a list or map", "a single value");
    return node.Scalar();
}

void apply(Deployment& d, const Option& option, const YAML::Node& value, const std::string& file) {
    const std::string place = line_place(file, value);
    if (value.IsMap()) {  // runtime_options: {n_ctx: 8192}
        for (const auto& item : value)
            option.set(d, scalar(item.first, file) + "=" + scalar(item.second, file),
                       line_place(file, item.first));
    } else if (value.IsSequence()) {
        if (!option.repeatable) throw Error(place, "a list", "a single value");
        for (const YAML::Node& item : value) option.set(d, scalar(item, file), line_place(file, item));
    } else {
        option.set(d, scalar(value, file), place);
    }
}

}  // namespace

Deployment read_deployment(const std::string& text, const std::string& place) {
    YAML::Node y;
    try {
        y = YAML::Load(text);
    } catch (const YAML::ParserException& e) {
        throw Error(fmt::format("{}:{}", place, e.mark.line + 1), e.msg, "YAML");
    }
    if (!y.IsMap() || !y["schema"] || !y["schema"].IsScalar() || y["schema"].Scalar() != kSchema)
        throw Error(place + ":1", "no deployment", fmt::format("'schema: {}'", kSchema));
    Deployment d;
    for (const auto& item : y) {
        const std::string key = scalar(item.first, place);
        if (key == "schema") continue;
        if (key == "model") {
            d.model = scalar(item.second, place);
            continue;
        }
        const Option* option = find_option(key == "runtime_options" ? "runtime-option" : key);
        if (!option)
            throw Error(line_place(place, item.first), fmt::format("unknown key '{}'", key),
                        "an option of 'memwall plan --help' with underscores");
        apply(d, *option, item.second, place);
    }
    if (d.model.empty()) throw Error(place + ":1", "no 'model:'", "the model to plan");
    return d;
}

std::string write_deployment(const Deployment& d) {
    YAML::Emitter out;
    out << YAML::BeginMap << YAML::Key << "schema" << YAML::Value << std::string(kSchema);
    out << YAML::Key << "model" << YAML::Value << d.model;
    for (const Option& o : options()) {
        const std::string value = o.get(d);
        if (value.empty()) continue;
        out << YAML::Key << yaml_key(o.name) << YAML::Value;
        if (o.repeatable)
            out << lines(value);
        else
            out << value;
    }
    out << YAML::EndMap;
    return std::string(out.c_str()) + "\n";
}

std::string command_line(const Deployment& d) {
    std::string line = "memwall plan " + shell_word(d.model);
    for (const Option& o : options())
        for (const std::string& value : lines(o.get(d)))
            line += fmt::format(" --{} {}", o.name, shell_word(value));
    return line;
}

}  // namespace memwall::plan
