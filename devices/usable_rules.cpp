#include "devices/usable_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>

#include "core/base/embedded.h"
#include "core/base/error.h"
#include "core/base/size_text.h"
#include "devices/efficiency_class.h"
#include "devices/quantity.h"
#include "devices/yaml_fields.h"

namespace memwall::devices {
namespace {

constexpr std::string_view kFolder = "devices/rules/";
constexpr std::string_view kYaml = ".yaml";

/// "0.5", or {4GiB: 0.6, above: 0.75} in rising order.
std::vector<UsableRule::Share::Step> read_steps(const YAML::Node& node, const std::string& file) {
    if (node.IsScalar()) return {{Bytes(0), parse_number(node.Scalar(), place_of(node, file))}};
    std::vector<UsableRule::Share::Step> steps;
    for (const auto& pair : node) {
        const std::string key = scalar_text(pair.first, file);
        const std::string place = place_of(pair.first, file);
        steps.push_back({key == "above" ? Bytes(0) : parse_size(key, place),
                         parse_number(scalar_text(pair.second, file), place)});
    }
    return steps;
}

UsableRule::Share read_share(YamlFields& fields) {
    UsableRule::Share share;
    if (const YAML::Node fraction = fields.take("fraction"))
        share.steps = read_steps(fraction, fields.file());
    std::string minus_os;
    fields.read("minus_os_reserved", minus_os);
    share.minus_os_reserved = minus_os == "true";
    fields.read("minus", share.minus);
    return share;
}

std::string rule_name(const EmbeddedFile& file) {
    return std::string(file.path.substr(kFolder.size(), file.path.size() - kFolder.size() - kYaml.size()));
}

UsableRule read_rule(const EmbeddedFile& embedded) {
    const std::string file(embedded.path);
    YamlFields fields(parse_yaml(embedded.text(), file), file);
    fields.require("schema");
    UsableRule rule;
    rule.name = rule_name(embedded);
    fields.read("text", rule.text);
    fields.read("note", rule.note);
    fields.read("default_os_reserved", rule.default_os_reserved);
    rule.share = read_share(fields);
    if (const YAML::Node variants = fields.take("variants"))
        for (const auto& pair : variants) {
            YamlFields variant(pair.second, file);
            UsableRule::Variant v;
            v.name = scalar_text(pair.first, file);
            variant.read("text", v.condition);
            v.share = read_share(variant);
            variant.done();
            rule.variants.push_back(std::move(v));
        }
    for (const std::string& source : scalar_list(fields.require("sources"), file))
        rule.sources += (rule.sources.empty() ? "" : "; ") + source;
    fields.done();
    return rule;
}

void set_variant(device::Pool& pool, const UsableRule::Variant& rule, Bytes usable) {
    for (device::UsableVariant& v : pool.variants)
        if (v.name == rule.name) {
            v.usable = usable;
            return;
        }
    pool.variants.push_back({rule.name, usable, rule.condition});
}

std::string note_prefix(const device::Pool& pool) {
    return pool.name + ": ";
}

std::string usable_note(const device::Pool& pool) {
    const UsableRule* rule = find_usable_rule(pool.usable_rule);
    std::string note = rule ? rule->note : "";
    if (!rule && pool.usable == pool.capacity)
        note = "all of it, nothing is kept back for an operating system";
    for (const device::UsableVariant& v : pool.variants)
        note += fmt::format("{}{} {}", note.empty() ? "" : "; ", bytes_text(v.usable), v.condition);
    return note.empty() ? note
                        : fmt::format("{}{} usable; {}", note_prefix(pool), bytes_text(pool.usable), note);
}

}  // namespace

Bytes UsableRule::Share::bytes(Bytes memory, Bytes os_reserved) const {
    double fraction = 1;
    for (const Step& step : steps) {
        fraction = step.fraction;
        if (step.up_to.value == 0 || memory <= step.up_to) break;
    }
    const Bytes part(static_cast<std::int64_t>(std::floor(fraction * memory.as_double())));
    return std::max(Bytes(0), part - minus - (minus_os_reserved ? os_reserved : Bytes(0)));
}

const UsableRule::Variant* UsableRule::variant(const std::string& wanted) const {
    const auto it =
        std::find_if(variants.begin(), variants.end(), [&](const Variant& v) { return v.name == wanted; });
    return it == variants.end() ? nullptr : &*it;
}

std::vector<std::string> usable_rule_names() {
    std::vector<std::string> names;
    for (const EmbeddedFile& file : embedded_devices())
        if (file.path.starts_with(kFolder)) names.push_back(rule_name(file));
    return names;
}

const UsableRule* find_usable_rule(const std::string& name) {
    static std::mutex mutex;
    static std::map<std::string, UsableRule> read;  // nodes never move
    const std::lock_guard lock(mutex);
    if (const auto it = read.find(name); it != read.end()) return &it->second;
    const EmbeddedFile* file = embedded_devices().find(fmt::format("{}{}{}", kFolder, name, kYaml));
    return file ? &read.emplace(name, read_rule(*file)).first->second : nullptr;
}

void apply_usable_rule(device::Device& device, device::Pool& pool) {
    const UsableRule* rule = find_usable_rule(pool.usable_rule);
    if (!rule) return;
    if (device.os_reserved.value == 0 && rule->default_os_reserved.value) {
        device.os_reserved = rule->default_os_reserved;
        device.sources["os_reserved"] = "assumed: default of rule " + rule->name;
    }
    pool.usable = rule->share.bytes(pool.capacity, device.os_reserved);
    for (const UsableRule::Variant& v : rule->variants)
        if (!v.share.steps.empty()) set_variant(pool, v, v.share.bytes(pool.capacity, device.os_reserved));
    set_usable_source(device, pool);
}

void set_usable_source(const device::Device& device, device::Pool& pool) {
    const auto own = device.sources.find(usable_source_key(device, pool));
    const UsableRule* rule = find_usable_rule(pool.usable_rule);
    pool.usable_source = own != device.sources.end() ? own->second : rule ? rule->sources : "";
}

void apply_default_rule(device::Device& device, device::Pool& pool) {
    if (pool.name == "vram")
        pool.usable_rule = "dgpu-94";
    else if (pool.name == "module")
        pool.usable_rule = "module-minus-fw";
    else
        pool.usable_rule = default_usable_rule(device);
    if (pool.usable_rule.empty())
        pool.usable = pool.capacity;
    else
        apply_usable_rule(device, pool);
}

void refresh_usable_notes(device::Device& device) {
    std::erase_if(device.notes, [&](const std::string& note) { return is_usable_note(device, note); });
    for (const device::Pool& pool : device.pools)
        if (std::string note = usable_note(pool); !note.empty()) device.notes.push_back(std::move(note));
}

bool is_usable_note(const device::Device& device, const std::string& note) {
    return std::any_of(device.pools.begin(), device.pools.end(),
                       [&](const device::Pool& pool) { return note.starts_with(note_prefix(pool)); });
}

std::string usable_source_key(const device::Device& device, const device::Pool& pool) {
    const bool first = !device.pools.empty() && device.pools.front().name == pool.name;
    return first ? "usable" : pool.name + "_usable";
}

}  // namespace memwall::devices
