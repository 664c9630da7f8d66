#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/error.h"
#include "devices/device_fields.h"
#include "devices/efficiency_class.h"

namespace memwall::devices {
namespace {

using device::Device;
using device::ProcessorKind;

struct Assignment {
    std::string field, value;
};

std::vector<Assignment> split(const std::string& argument, const std::string& place) {
    std::vector<Assignment> list;
    std::string_view rest = argument;
    while (true) {
        const auto comma = rest.find(',');
        const std::string_view part = rest.substr(0, comma);
        const auto equals = part.find('=');
        if (equals == std::string_view::npos || equals == 0)
            throw Error(place, fmt::format("'{}'", part), "FIELD=VALUE, such as ram=8GiB");
        std::string field(part.substr(0, equals));
        for (const Assignment& a : list)
            if (a.field == field) throw Error(place, fmt::format("'{}' for the second time", field));
        list.push_back({std::move(field), std::string(part.substr(equals + 1))});
        if (comma == std::string_view::npos) return list;
        rest.remove_prefix(comma + 1);
    }
}

/// The value of a field, nullptr when it is not given.
const std::string* value_of(const std::vector<Assignment>& list, std::string_view field) {
    const auto it =
        std::find_if(list.begin(), list.end(), [&](const Assignment& a) { return a.field == field; });
    return it == list.end() ? nullptr : &it->value;
}

void add_processor(Device& device, ProcessorKind kind) {
    if (!device.processor(kind)) device.processors.emplace_back().kind = kind;
}

/// The processors that the fields speak of; the main one first.
void add_processors(Device& device, const std::vector<Assignment>& list, const std::string& place) {
    using enum ProcessorKind;
    if (const std::string* name = value_of(list, "class")) {
        const EfficiencyClass& c = efficiency_class(*name, place + " class");
        add_processor(device, c.kind);
        device.device_class = c.device_class;
        device.os = c.os;
    } else {
        add_processor(device, value_of(list, "vram") ? gpu : value_of(list, "module") ? npu : cpu);
    }
    for (const Assignment& a : list) {
        if (a.field == "cores" || a.field == "isa" || a.field.starts_with("cpu.")) add_processor(device, cpu);
        if (a.field.starts_with("gpu.")) add_processor(device, gpu);
        if (a.field.starts_with("npu.")) add_processor(device, npu);
    }
}

}  // namespace

Device inline_device(const std::string& argument, const std::string& place) {
    // What other fields build on comes first: the system before the rule for usable bytes, pools before their
    // bandwidth.
    constexpr std::array kFirst{"class", "os", "os_reserved", "ram", "vram", "module"};
    std::vector<Assignment> list = split(argument, place);
    const auto rank = [&](const Assignment& a) {
        return std::find(kFirst.begin(), kFirst.end(), a.field) - kFirst.begin();
    };
    std::stable_sort(list.begin(), list.end(),
                     [&](const Assignment& a, const Assignment& b) { return rank(a) < rank(b); });

    Device device;
    device.id = "inline";
    device.name = argument;
    add_processors(device, list, place);
    for (const Assignment& a : list) set_field(device, a.field, a.value, place);
    if (device.pools.empty())
        throw Error(place, fmt::format("'{}' has no memory", argument), "ram=SIZE, vram=SIZE or module=SIZE");
    return device;
}

}  // namespace memwall::devices
