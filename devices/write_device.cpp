#include <yaml-cpp/yaml.h>

#include <algorithm>

#include "devices/calibration_yaml.h"
#include "devices/device_yaml.h"
#include "devices/quantity.h"
#include "devices/usable_rules.h"

namespace memwall::devices {
namespace {

/// A mapping that leaves out what is unknown.
class Mapping {
  public:
    explicit Mapping(YAML::Emitter& out, bool flow = false) : out_(out) {
        if (flow) out_ << YAML::Flow;
        out_ << YAML::BeginMap;
    }
    ~Mapping() { out_ << YAML::EndMap; }
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;

    YAML::Emitter& at(const std::string& key) { return out_ << YAML::Key << key << YAML::Value; }
    void put(const std::string& key, const std::string& text) {
        if (!text.empty()) at(key) << text;
    }
    void put(const std::string& key, std::int64_t value) {
        if (value != 0) at(key) << value;
    }
    void put(const std::string& key, double value, const std::string& unit = "") {
        if (value != 0) at(key) << exact_text(value) + unit;
    }
    void put(const std::string& key, Bytes bytes) {
        if (bytes.value != 0) at(key) << exact_text(bytes);
    }
    void put(const std::string& key, BytesPerSecond rate) {
        if (rate.value != 0) at(key) << exact_text(rate);
    }
    void put(const std::string& key, OpsPerSecond rate, const char* noun) {
        if (rate.value != 0) at(key) << exact_text(rate, noun);
    }

  private:
    YAML::Emitter& out_;
};

void write_usable(YAML::Emitter& out, const device::Pool& pool) {
    Mapping usable(out);
    usable.put("rule", pool.usable_rule);
    usable.at("bytes") << exact_text(pool.usable);
    if (pool.variants.empty()) return;
    usable.at("variants");
    Mapping variants(out);
    for (const device::UsableVariant& v : pool.variants) {
        variants.at(v.name);
        Mapping variant(out, true);
        variant.at("bytes") << exact_text(v.usable);
        variant.put("text", v.condition);
    }
}

void write_pool(YAML::Emitter& out, const device::Pool& pool) {
    Mapping map(out);
    map.put("size", pool.capacity);
    map.put("type", pool.memory_type);
    map.put("bus_bits", std::int64_t{pool.bus_bits});
    map.put("mtps", pool.mega_transfers);
    map.put("bandwidth", pool.bandwidth);
    map.put("bandwidth_deviation", pool.bandwidth_deviation);
    if (pool.measured_bandwidth.value != 0) {
        map.at("measured");
        Mapping measured(out, true);
        measured.put("bandwidth", pool.measured_bandwidth);
        measured.put("scope", pool.measured_scope);
        measured.put("how", pool.measured_how);
    }
    map.put("max_allocation", pool.max_allocation);
    map.put("max_mapping", pool.max_mapping);
    map.at("usable");
    write_usable(out, pool);
}

void write_processor(YAML::Emitter& out, const device::Processor& p, const device::Device& device) {
    Mapping map(out);
    map.at("kind") << std::string(device::kind_name(p.kind));
    map.put("name", p.name);
    map.put("cores", std::int64_t{p.cores});
    if (!p.isa.empty()) map.at("isa") << YAML::Flow << p.isa;
    map.put("fp32", p.fp32, "FLOPS");
    map.put("fp16", p.fp16, "FLOPS");
    map.put("int8", p.int8, "OPS");
    map.put("int4", p.int4, "OPS");
    map.put("rate_deviation", p.rate_deviation);
    map.put("rate_kind", p.rate_kind);
    map.put("efficiency_class", p.efficiency_class);
    map.put("max_allocation", p.max_allocation);
    map.put("max_session", p.max_session);
    if (p.pool != device.default_pool(p.kind)) map.put("pool", p.pool);
    if (p.caches.empty()) return;
    map.at("caches") << YAML::BeginSeq;
    for (const device::Cache& c : p.caches) {
        Mapping cache(out, true);
        cache.put("level", std::int64_t{c.level});
        cache.put("type", c.type);
        cache.put("size", c.size);
        cache.at("count") << c.count;
    }
    out << YAML::EndSeq;
}

void write_measurement(YAML::Emitter& out, const device::Measurement& m) {
    Mapping map(out);
    map.put("model", m.model);
    map.put("quant", m.quant);
    map.put("context", m.context);
    map.put("prompt", m.prompt);
    map.put("prefill_per_second", m.prefill_per_second);
    map.put("decode_per_second", m.decode_per_second);
    map.put("source", m.source);
}

void write_surroundings(YAML::Emitter& out, Mapping& top, const device::Device& device) {
    if (device.link) {
        top.at("link");
        Mapping link(out, true);
        link.put("type", device.link->name);
        link.put("bandwidth", device.link->bandwidth);
        link.put("latency", device.link->latency.value, "s");
    }
    if (device.storage != device::Storage{}) {
        top.at("storage");
        Mapping storage(out, true);
        storage.put("type", device.storage.type);
        storage.put("read", device.storage.read);
        storage.put("interface", device.storage.interface_limit);
    }
    if (device.max_power.value != 0 || device.sustained_power.value != 0 || device.power_cap.value != 0) {
        top.at("power");
        Mapping power(out, true);
        power.put("max", device.max_power.value, "W");
        power.put("sustained", device.sustained_power.value, "W");
        power.put("cap", device.power_cap.value, "W");
    }
    if (device.energy_per_gb_read != 0 || device.static_power.value != 0) {
        top.at("energy");
        Mapping energy(out, true);
        energy.put("per_gb_read", device.energy_per_gb_read, "J");
        energy.put("static_power", device.static_power.value, "W");
    }
    top.put("battery", device.battery_watt_hours, "Wh");
    top.put("sustained_fraction", device.sustained_fraction);
}

}  // namespace

std::string write_device_yaml(const device::Device& device) {
    YAML::Emitter out;
    {
        Mapping top(out);
        top.put("schema", std::string("memwall/device/1"));
        top.put("id", device.id);
        top.put("name", device.name);
        top.put("class", device.device_class);
        top.put("os", device.os);
        top.put("year", std::int64_t{device.year});
        top.put("soc", device.soc);
        top.put("confidence", device.confidence);
        for (const device::Pool& pool : device.pools) {
            top.at(pool.name);
            write_pool(out, pool);
        }
        top.put("os_reserved", device.os_reserved);
        top.at("processors") << YAML::BeginSeq;
        for (const device::Processor& p : device.processors) write_processor(out, p, device);
        out << YAML::EndSeq;
        write_surroundings(out, top, device);
        if (!device.measurements.empty()) {
            top.at("measurements") << YAML::BeginSeq;
            for (const device::Measurement& m : device.measurements) write_measurement(out, m);
            out << YAML::EndSeq;
        }
        if (device.calibration) {
            top.at("calibration");
            write_calibration(out, *device.calibration);
        }
        std::vector<std::string> notes = device.notes;
        std::erase_if(notes, [&](const std::string& note) { return is_usable_note(device, note); });
        if (!notes.empty()) top.at("notes") << notes;
        if (!device.sources.empty()) top.at("sources") << device.sources;
    }
    return std::string(out.c_str()) + "\n";
}

}  // namespace memwall::devices
