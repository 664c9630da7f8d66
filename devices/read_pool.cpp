#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/base/error.h"
#include "devices/pool_yaml.h"
#include "devices/quantity.h"
#include "devices/usable_rules.h"
#include "devices/yaml_fields.h"

namespace memwall::devices {
namespace {

std::vector<Bytes> read_sizes(const YAML::Node& node, const std::string& file) {
    std::vector<Bytes> sizes;
    if (!node) return sizes;
    const std::string place = place_of(node, file);
    for (const std::string& text : scalar_list(node, file)) {
        sizes.push_back(parse_size(text, place));
        const bool rising = sizes.size() < 2 || sizes[sizes.size() - 2] < sizes.back();
        if (sizes.back().value == 0 || !rising)
            throw Error(place, fmt::format("size '{}'", text), "memory sizes in rising order");
    }
    return sizes;
}

/// A number of bytes, or one for each memory size: "3GiB", {4GiB: 2254857830, 6GiB: 3350074490}.
std::optional<Bytes> bytes_for_size(const YAML::Node& node, Bytes capacity, const std::string& file) {
    if (!node.IsMap()) return parse_size(scalar_text(node, file), place_of(node, file));
    for (const auto& pair : node)
        if (parse_size(scalar_text(pair.first, file), place_of(pair.first, file)) == capacity)
            return parse_size(scalar_text(pair.second, file), place_of(pair.second, file));
    return std::nullopt;
}

/// {NAME: bytes} with the rule's words, or {NAME: {bytes: ..., text: ...}} with its own.
void read_variants(const YAML::Node& node, device::Pool& pool, const std::string& file) {
    if (!node.IsMap()) throw Error(place_of(node, file), "no mapping", "'NAME: bytes'");
    const UsableRule* rule = find_usable_rule(pool.usable_rule);
    for (const auto& pair : node) {
        device::UsableVariant v;
        v.name = scalar_text(pair.first, file);
        if (pool.variant(v.name))
            throw Error(place_of(pair.first, file), fmt::format("variant '{}' again", v.name), "each once");
        if (const UsableRule::Variant* known = rule ? rule->variant(v.name) : nullptr)
            v.condition = known->condition;
        std::optional<Bytes> usable;
        if (pair.second.IsMap() && pair.second["bytes"].IsDefined()) {
            YamlFields fields(pair.second, file);
            usable = bytes_for_size(fields.require("bytes"), pool.capacity, file);
            fields.read("text", v.condition);
            fields.done();
        } else {
            usable = bytes_for_size(pair.second, pool.capacity, file);
        }
        if (!usable) continue;  // said for other memory sizes only
        v.usable = *usable;
        pool.variants.push_back(std::move(v));
    }
}

std::string read_rule_name(const YAML::Node& node, const std::string& file) {
    std::string name = scalar_text(node, file);
    if (find_usable_rule(name)) return name;
    throw Error(place_of(node, file), fmt::format("unknown rule '{}'", name),
                fmt::format("one of {}", fmt::join(usable_rule_names(), ", ")));
}

/// "6GiB", {rule: NAME}, {rule: NAME, bytes: ..., variants: ...}, or nothing: then the system's usual rule.
void read_usable(const YAML::Node& node, device::Device& device, device::Pool& pool,
                 const std::string& file) {
    if (!node) return apply_default_rule(device, pool);
    std::optional<Bytes> given;
    if (node.IsMap()) {
        YamlFields fields(node, file);
        if (const YAML::Node rule = fields.take("rule")) pool.usable_rule = read_rule_name(rule, file);
        if (const YAML::Node variants = fields.take("variants")) read_variants(variants, pool, file);
        if (const YAML::Node bytes = fields.take("bytes")) given = bytes_for_size(bytes, pool.capacity, file);
        fields.done();
        if (!given && pool.usable_rule.empty())
            throw Error(place_of(node, file), "neither 'rule' nor 'bytes'", "what one process may use");
    } else {
        given = parse_size(scalar_text(node, file), place_of(node, file));
    }
    if (!given) return apply_usable_rule(device, pool);
    if (*given > pool.capacity)
        throw Error(place_of(node, file),
                    fmt::format("{} usable of {}", exact_text(*given), exact_text(pool.capacity)),
                    "at most the pool's size");
    pool.usable = *given;
    set_usable_source(device, pool);
}

Bytes chosen_size(const std::vector<Bytes>& sizes, const SizeChoice& choice, const std::string& file,
                  const std::string& file_place) {
    const std::string place = choice.place.empty() ? file_place : choice.place;
    const std::string name = choice.name.empty() ? file : choice.name;
    if (sizes.empty()) {
        if (choice.size) return *choice.size;
        throw Error(place, fmt::format("the memory size of '{}' is not known", name), "it after a colon",
                    fmt::format("such as {}:16GiB", name));
    }
    if (!choice.size) {
        if (sizes.size() == 1) return sizes.front();
        throw Error(place, fmt::format("'{}' has no memory size", name), sizes_text(sizes) + " after a colon",
                    fmt::format("such as {}:{}", name, exact_text(sizes.back())));
    }
    if (std::find(sizes.begin(), sizes.end(), *choice.size) == sizes.end())
        throw Error(place, fmt::format("'{}' has no {} version", name, exact_text(*choice.size)),
                    sizes_text(sizes), "--set device.ram=SIZE asks what another size would do");
    return *choice.size;
}

}  // namespace

std::vector<Bytes> pool_sizes(const YAML::Node& pool, const std::string& file) {
    if (!pool.IsMap()) return read_sizes(pool, file);
    return read_sizes(YamlFields(pool, file).take("size"), file);
}

void read_pool(const YAML::Node& node, device::Device& device, device::Pool& pool, const SizeChoice& choice,
               const std::string& file) {
    const std::vector<Bytes> sizes = pool_sizes(node, file);
    pool.capacity = chosen_size(sizes, choice, file, place_of(node, file));
    if (sizes.empty()) device.sources[pool.name] = choice.place;
    if (!node.IsMap()) return apply_default_rule(device, pool);
    YamlFields fields(node, file);
    fields.take("size");
    fields.read("type", pool.memory_type);
    fields.read("bus_bits", pool.bus_bits, 1 << 16);
    fields.read("mtps", pool.mega_transfers, 1e6);
    fields.read("bandwidth", pool.bandwidth);
    fields.read("bandwidth_deviation", pool.bandwidth_deviation, 10.0);
    if (const YAML::Node measured = fields.take("measured")) {
        YamlFields m(measured, file);
        m.read("bandwidth", pool.measured_bandwidth);
        m.read("scope", pool.measured_scope);
        m.read("how", pool.measured_how);
        m.done();
    }
    fields.read("max_allocation", pool.max_allocation);
    fields.read("max_mapping", pool.max_mapping);
    read_usable(fields.take("usable"), device, pool, file);
    fields.done();
}

std::string sizes_text(const std::vector<Bytes>& sizes) {
    std::string text;
    for (std::size_t i = 0; i < sizes.size(); ++i)
        text += (i == 0 ? "" : i + 1 == sizes.size() ? " or " : ", ") + exact_text(sizes[i]);
    return text;
}

}  // namespace memwall::devices
