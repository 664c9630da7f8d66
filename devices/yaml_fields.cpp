#include "devices/yaml_fields.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/size_text.h"
#include "devices/quantity.h"

namespace memwall::devices {
namespace {

constexpr std::size_t kMaxYamlBytes = std::size_t{256} << 10;  // a device needs 2 KiB
constexpr std::size_t kShownText = 60;                         // of a bad value in a message

std::string shortened(const std::string& text) {
    return text.size() <= kShownText ? text : text.substr(0, kShownText) + "...";
}

double plain_number(const std::string& text, const std::string& place, double high) {
    const double value = parse_number(text, place);
    if (value > high) throw Error(place, fmt::format("'{}'", text), fmt::format("a number up to {}", high));
    return value;
}

}  // namespace

YAML::Node parse_yaml(std::string_view text, const std::string& file) {
    if (text.size() > kMaxYamlBytes)
        throw Error(file, fmt::format("{} bytes", text.size()),
                    fmt::format("at most {} bytes of YAML", kMaxYamlBytes));
    try {
        return YAML::Load(std::string(text));
    } catch (const YAML::Exception& e) {
        throw Error(fmt::format("{}:{}", file, e.mark.line + 1), "not readable as YAML: " + e.msg);
    }
}

std::string place_of(const YAML::Node& node, const std::string& file) {
    return fmt::format("{}:{}", file, std::max(0, node.Mark().line) + 1);  // an empty document has no mark
}

std::string scalar_text(const YAML::Node& node, const std::string& file) {
    if (!node.IsScalar())
        throw Error(place_of(node, file),
                    node.IsMap()        ? "a mapping"
                    : node.IsSequence() ? "a list"
                                        : "no value",
                    "a single value");
    return node.Scalar();
}

std::vector<std::string> scalar_list(const YAML::Node& node, const std::string& file) {
    if (!node.IsSequence()) return {scalar_text(node, file)};
    std::vector<std::string> list;
    for (const YAML::Node& element : node) list.push_back(scalar_text(element, file));
    return list;
}

YAML::Node list_of(const YAML::Node& node, const std::string& file) {
    if (!node.IsSequence()) throw Error(place_of(node, file), "no list", "lines of the form '- ...'");
    return node;
}

YamlFields::YamlFields(const YAML::Node& node, std::string file)
    : file_(std::move(file)), place_(place_of(node, file_)) {
    if (!node.IsMap()) throw Error(place_, "no mapping", "lines of the form 'key: value'");
    for (const auto& pair : node) {
        const std::string key = scalar_text(pair.first, file_);
        if (!entries_.emplace(key, Entry{pair.first, pair.second}).second)
            throw Error(place_of(pair.first, file_), fmt::format("'{}' for the second time", shortened(key)),
                        "every key once");
    }
}

YAML::Node YamlFields::take(const std::string& key) {
    if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.push_back(key);
    const auto it = entries_.find(key);
    if (it == entries_.end()) return YAML::Node(YAML::NodeType::Undefined);
    it->second.asked = true;
    return it->second.value;
}

std::string YamlFields::place(const std::string& key) const {
    const auto it = entries_.find(key);
    return it == entries_.end() ? place_ : place_of(it->second.value, file_);
}

YAML::Node YamlFields::require(const std::string& key) {
    YAML::Node node = take(key);
    if (!node) throw Error(place_, fmt::format("no '{}'", key), fmt::format("'{}: ...'", key));
    return node;
}

void YamlFields::read(const std::string& key, std::string& to) {
    if (const YAML::Node node = take(key)) to = scalar_text(node, file_);
}

void YamlFields::read(const std::string& key, Bytes& to) {
    if (const YAML::Node node = take(key)) to = parse_size(scalar_text(node, file_), place_of(node, file_));
}

void YamlFields::read(const std::string& key, BytesPerSecond& to) {
    if (const YAML::Node node = take(key))
        to = parse_bytes_per_second(scalar_text(node, file_), place_of(node, file_));
}

void YamlFields::read(const std::string& key, OpsPerSecond& to) {
    if (const YAML::Node node = take(key))
        to = parse_ops_per_second(scalar_text(node, file_), place_of(node, file_));
}

void YamlFields::read(const std::string& key, Watts& to) {
    read(key, to.value, parse_watts);
}

void YamlFields::read(const std::string& key, Seconds& to) {
    read(key, to.value, parse_seconds);
}

void YamlFields::read(const std::string& key, int& to, int high) {
    std::int64_t value = to;
    read(key, value, std::int64_t{high});
    to = static_cast<int>(value);
}

void YamlFields::read(const std::string& key, std::int64_t& to, std::int64_t high) {
    const YAML::Node node = take(key);
    if (!node) return;
    const std::string text = scalar_text(node, file_);
    const double value = plain_number(text, place_of(node, file_), static_cast<double>(high));
    if (value != std::floor(value))
        throw Error(place_of(node, file_), fmt::format("'{}'", text), "a whole number");
    to = static_cast<std::int64_t>(value);
}

void YamlFields::read(const std::string& key, double& to, double high) {
    if (const YAML::Node node = take(key))
        to = plain_number(scalar_text(node, file_), place_of(node, file_), high);
}

void YamlFields::read(const std::string& key, double& to,
                      double (*parse)(std::string_view, std::string_view)) {
    if (const YAML::Node node = take(key)) to = parse(scalar_text(node, file_), place_of(node, file_));
}

void YamlFields::done() const {
    for (const auto& [key, entry] : entries_)
        if (!entry.asked)
            throw Error(place_of(entry.key, file_), fmt::format("unknown key '{}'", shortened(key)),
                        fmt::format("one of {}", fmt::join(known_, ", ")));
}

}  // namespace memwall::devices
