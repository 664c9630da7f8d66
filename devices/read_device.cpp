#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/error.h"
#include "devices/calibration_yaml.h"
#include "devices/device_yaml.h"
#include "devices/efficiency_class.h"
#include "devices/isa.h"
#include "devices/pool_yaml.h"
#include "devices/quantity.h"
#include "devices/usable_rules.h"
#include "devices/yaml_fields.h"

namespace memwall::devices {
namespace {

constexpr const char* kSchema = "memwall/device/1";
constexpr std::array kPools{"ram", "vram", "module"};
constexpr std::array kKinds{"cpu", "gpu", "npu"};  // in the order of device::ProcessorKind

YamlFields open_document(std::string_view text, const std::string& file) {
    YamlFields top(parse_yaml(text, file), file);
    const YAML::Node schema = top.require("schema");
    const std::string found = scalar_text(schema, file);
    if (found != kSchema)
        throw Error(place_of(schema, file), fmt::format("schema '{}'", found), fmt::format("'{}'", kSchema));
    return top;
}

device::Processor read_processor(const YAML::Node& node, const device::Device& device,
                                 const std::string& file) {
    YamlFields fields(node, file);
    device::Processor p;
    const YAML::Node kind = fields.require("kind");
    const std::string kind_name = scalar_text(kind, file);
    const auto at = std::find(kKinds.begin(), kKinds.end(), kind_name);
    if (at == kKinds.end())
        throw Error(place_of(kind, file), fmt::format("kind '{}'", kind_name), "cpu, gpu or npu");
    p.kind = static_cast<device::ProcessorKind>(at - kKinds.begin());
    fields.read("name", p.name);
    fields.read("cores", p.cores, 1 << 16);
    if (const YAML::Node isa = fields.take("isa")) {
        p.isa = scalar_list(isa, file);
        for (const std::string& name : p.isa) check_isa(name, place_of(isa, file));
    }
    fields.read("fp32", p.fp32);
    fields.read("fp16", p.fp16);
    fields.read("int8", p.int8);
    fields.read("int4", p.int4);
    fields.read("rate_deviation", p.rate_deviation, 10.0);
    fields.read("rate_kind", p.rate_kind);
    if (const YAML::Node c = fields.take("efficiency_class"))
        p.efficiency_class = efficiency_class(scalar_text(c, file), place_of(c, file)).name;
    fields.read("max_allocation", p.max_allocation);
    fields.read("max_session", p.max_session);
    if (const YAML::Node caches = fields.take("caches"))
        for (const YAML::Node& c : list_of(caches, file)) {
            YamlFields cache(c, file);
            device::Cache& to = p.caches.emplace_back();
            cache.read("level", to.level, 16);
            cache.read("type", to.type);
            cache.read("size", to.size);
            cache.read("count", to.count, 1 << 16);
            cache.done();
        }
    p.pool = device.default_pool(p.kind);
    if (const YAML::Node pool = fields.take("pool")) {
        p.pool = scalar_text(pool, file);
        if (!device.pool(p.pool))
            throw Error(place_of(pool, file), fmt::format("pool '{}'", p.pool), "a pool of this device");
    }
    fields.done();
    return p;
}

device::Measurement read_measurement(const YAML::Node& node, const std::string& file) {
    YamlFields fields(node, file);
    device::Measurement m;
    fields.read("model", m.model);
    fields.read("quant", m.quant);
    fields.read("context", m.context, std::int64_t{1} << 40);
    fields.read("prompt", m.prompt, std::int64_t{1} << 40);
    fields.read("prefill_per_second", m.prefill_per_second, 1e9);
    fields.read("decode_per_second", m.decode_per_second, 1e9);
    fields.read("source", m.source);
    fields.done();
    return m;
}

/// Power, heat, battery, storage, link.
void read_surroundings(YamlFields& top, device::Device& device) {
    const std::string& file = top.file();
    if (const YAML::Node node = top.take("link")) {
        YamlFields fields(node, file);
        device::Link& link = device.link.emplace();
        fields.read("type", link.name);
        fields.read("bandwidth", link.bandwidth);
        fields.read("latency", link.latency);
        fields.done();
    }
    if (const YAML::Node node = top.take("storage")) {
        YamlFields fields(node, file);
        fields.read("type", device.storage.type);
        fields.read("read", device.storage.read);
        fields.read("interface", device.storage.interface_limit);
        fields.done();
    }
    if (const YAML::Node node = top.take("power")) {
        YamlFields fields(node, file);
        fields.read("max", device.max_power);
        fields.read("sustained", device.sustained_power);
        fields.done();
    }
    if (const YAML::Node node = top.take("energy")) {
        YamlFields fields(node, file);
        fields.read("per_gb_read", device.energy_per_gb_read, parse_joules_per_gb);
        fields.read("static_power", device.static_power);
        fields.done();
    }
    top.read("battery", device.battery_watt_hours, parse_watt_hours);
    top.read("sustained_fraction", device.sustained_fraction, 1.0);
}

void read_words(YamlFields& top, device::Device& device) {
    const std::string& file = top.file();
    if (const YAML::Node node = top.take("notes")) device.notes = scalar_list(node, file);
    if (const YAML::Node node = top.take("sources")) {
        if (!node.IsMap()) throw Error(place_of(node, file), "no mapping", "'field: where it comes from'");
        for (const auto& pair : node) {
            std::string& source = device.sources[scalar_text(pair.first, file)];
            for (const std::string& text : scalar_list(pair.second, file))
                source += (source.empty() ? "" : "; ") + text;
        }
    }
}

void read_labels(YamlFields& top, device::Device& device) {
    top.read("id", device.id);
    top.read("name", device.name);
    top.read("class", device.device_class);
    if (const YAML::Node os = top.take("os"))
        device.os = check_os(scalar_text(os, top.file()), place_of(os, top.file()));
    top.read("year", device.year, 9999);
    top.read("soc", device.soc);
    top.read("confidence", device.confidence);
}

}  // namespace

DeviceSummary read_device_summary(std::string_view text, const std::string& file) {
    YamlFields top = open_document(text, file);
    device::Device device;
    read_labels(top, device);
    DeviceSummary summary{device.id, device.name, device.device_class, device.year, device.confidence, "",
                          {},        {}};
    for (const char* name : kPools)
        if (const YAML::Node node = top.take(name)) {
            summary.pool = name;
            summary.sizes = pool_sizes(node, file);
            summary.bandwidth = BytesPerSecond();
            if (node.IsMap()) YamlFields(node, file).read("bandwidth", summary.bandwidth);
        }
    if (summary.pool.empty()) throw Error(top.place(), "no memory", "'ram:', 'vram:' or 'module:'");
    return summary;
}

device::Device read_device_yaml(std::string_view text, const std::string& file, const SizeChoice& choice) {
    YamlFields top = open_document(text, file);
    device::Device device;
    read_labels(top, device);
    top.read("os_reserved", device.os_reserved);
    read_words(top, device);

    std::vector<YAML::Node> pools;
    for (const char* name : kPools)
        if (YAML::Node node = top.take(name)) {
            pools.push_back(node);
            device.pools.emplace_back().name = name;
        }
    if (pools.empty()) throw Error(top.place(), "no memory", "'ram:', 'vram:' or 'module:'");

    for (const YAML::Node& node : list_of(top.require("processors"), file))
        device.processors.push_back(read_processor(node, device, file));
    if (device.processors.empty()) throw Error(top.place(), "no processor", "at least one");

    // The last pool is the one that comes in several sizes: a card's memory, not the host's.
    for (std::size_t i = 0; i < pools.size(); ++i)
        read_pool(pools[i], device, device.pools[i], i + 1 == pools.size() ? choice : SizeChoice{}, file);
    read_surroundings(top, device);
    if (const YAML::Node node = top.take("measurements"))
        for (const YAML::Node& m : list_of(node, file))
            device.measurements.push_back(read_measurement(m, file));
    if (const YAML::Node node = top.take("calibration")) device.calibration = read_calibration(node, file);
    top.done();
    refresh_usable_notes(device);
    return device;
}

}  // namespace memwall::devices
