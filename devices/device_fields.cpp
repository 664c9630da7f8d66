#include "devices/device_fields.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <optional>

#include "core/base/error.h"
#include "devices/device_numbers.h"
#include "devices/efficiency_class.h"
#include "devices/isa.h"
#include "devices/nearest_name.h"
#include "devices/quantity.h"
#include "devices/usable_rules.h"

namespace memwall::devices {
namespace {

constexpr std::array kWords{"class", "os", "isa", "name"};

[[noreturn]] void refuse_field(const std::string& field, const std::string& place) {
    std::vector<std::string> known = number_names();
    known.insert(known.end(), kWords.begin(), kWords.end());
    const std::vector<std::string> nearest = nearest_names(field, known, 1);
    throw Error(place, fmt::format("unknown field '{}'", field),
                fmt::format("one of {}; with a pool (vram_bandwidth) or a processor (gpu.fp16) in front",
                            fmt::join(known, ", ")),
                nearest.empty() ? "" : fmt::format("did you mean {}?", nearest.front()));
}

double changed(const Number& number, const std::string& value, const std::string& field,
               const std::string& place) {
    if (value.empty()) throw Error(place, fmt::format("no value for '{}'", field));
    const char first = value.front();
    const bool relative = first == '+' || first == '-' || first == 'x' || first == '*';
    if (!relative) return number.parse(value, place);
    const double now = number.get();
    if (now == 0)
        throw Error(place, fmt::format("'{}' changes '{}', which is unknown here", value, field), "a value");
    const std::string_view amount = std::string_view(value).substr(1);
    if (first == '+') return now + number.parse(amount, place);
    if (first == '-') return now - number.parse(amount, place);
    return now * parse_number(amount, place);
}

void set_class(device::Device& device, const std::string& value, const std::string& place) {
    const EfficiencyClass& c = efficiency_class(value, place);
    device::Processor* p = find_processor(device, c.kind);
    if (!p) {
        p = &device.processors.emplace_back();
        p->kind = c.kind;
        p->pool = device.default_pool(c.kind);
    }
    p->efficiency_class = c.name;
}

/// Fields that are words. False when `field` is none of them.
bool set_word(device::Device& device, const std::string& field, const std::string& value,
              const std::string& place) {
    if (field == "name") {
        device.name = value;
    } else if (field == "class") {
        set_class(device, value, place);
    } else if (field == "os") {
        device.os = check_os(value, place);
        for (device::Pool& pool : device.pools)
            if (pool.name == "ram") {
                pool.variants.clear();
                apply_default_rule(device, pool);
            }
    } else if (field == "isa" || field == "cpu.isa") {
        device::Processor* cpu = find_processor(device, device::ProcessorKind::cpu);
        if (!cpu) throw Error(place, "'isa' on a device without a CPU");
        cpu->isa = parse_isa(value, place);
    } else if (field == "usable" && !device.pools.empty() && device.pools.front().variant(value)) {
        device::Pool& pool = device.pools.front();
        pool.usable = pool.variant(value)->usable;
        pool.usable_rule.clear();
        pool.variants.clear();
    } else {
        return false;
    }
    return true;
}

}  // namespace

void set_field(device::Device& device, const std::string& name, const std::string& value,
               const std::string& place) {
    const std::string field = name.starts_with("device.") ? name.substr(7) : name;
    const std::string where = fmt::format("{} {}", place, name);
    std::string source_key = field;
    if (!set_word(device, field, value, where)) {
        const std::optional<Number> number = find_number(device, field, where);
        if (!number) refuse_field(field, place);
        const double to = changed(*number, value, field, where);
        if (!(to > 0) || to > number->highest)
            throw Error(
                where, fmt::format("'{}' makes it {}", value, number->text(to)),
                "more than 0" + (number->highest < kNoEnd ? ", at most " + number->text(number->highest)
                                                          : std::string()));
        number->set(to);
        source_key = number->source_key;
    }
    device.sources[source_key] = fmt::format("{} {}={}", place, name, value);
    for (device::Pool& pool : device.pools) set_usable_source(device, pool);
    refresh_usable_notes(device);
}

}  // namespace memwall::devices
