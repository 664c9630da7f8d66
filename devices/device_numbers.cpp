#include "devices/device_numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/error.h"
#include "core/base/size_text.h"
#include "devices/quantity.h"
#include "devices/usable_rules.h"

namespace memwall::devices {
namespace {

using device::Device;
using device::Pool;
using device::Processor;
using device::ProcessorKind;

constexpr std::array kKinds{"cpu", "gpu", "npu"};  // in the order of ProcessorKind
constexpr std::array kPools{"ram", "vram", "module"};
constexpr std::array kPoolFields{"bandwidth", "usable", "max_allocation", "max_mapping"};
constexpr std::array kRates{"fp32", "fp16", "int8", "int4"};
constexpr std::array kProcessorFields{"cores", "max_session"};
constexpr std::array kDeviceFields{"link",  "link_latency", "storage", "os_reserved", "sustained",
                                   "power", "max_power",    "battery", "energy",      "static_power"};

template <class Names>
bool contains(const Names& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

constexpr double kLargestSize = 1125899906842624.0;  // 2^50, as parse_size() allows

/// A kind of number: how people write it and how we print it.
struct Form {
    double (*parse)(std::string_view text, std::string_view place);
    std::string (*text)(double value);
};

constexpr Form kSize{[](std::string_view t, std::string_view p) { return parse_size(t, p).as_double(); },
                     [](double v) { return bytes_text(Bytes(std::llround(v))); }};
constexpr Form kBandwidth{
    [](std::string_view t, std::string_view p) { return parse_bytes_per_second(t, p).value; },
    [](double v) { return rate_text(BytesPerSecond(v)); }};
constexpr Form kOps{[](std::string_view t, std::string_view p) { return parse_ops_per_second(t, p).value; },
                    [](double v) { return ops_text(OpsPerSecond(v)); }};
constexpr Form kCount{[](std::string_view t, std::string_view p) {
                          const double value = parse_number(t, p);
                          if (value != std::floor(value))
                              throw Error(std::string(p), fmt::format("'{}'", t), "a whole number");
                          return value;
                      },
                      exact_text};
constexpr Form kPlain{parse_number, exact_text};
constexpr Form kWatts{parse_watts, exact_text};
constexpr Form kWattHours{parse_watt_hours, exact_text};
constexpr Form kJoulesPerGb{parse_joules_per_gb, exact_text};
constexpr Form kSeconds{parse_seconds, exact_text};

Number number(const Form& form, std::function<double()> get, std::function<void(double)> set,
              std::string source_key, double highest = kNoEnd) {
    return {form.parse, form.text, std::move(get), std::move(set), std::move(source_key), highest};
}

/// A member of a unit type as a Number.
template <class T>
Number of(T& member, const Form& form, std::string source_key) {
    return number(
        form, [&member] { return static_cast<double>(member.value); },
        [&member](double v) { member.value = static_cast<decltype(member.value)>(v); },
        std::move(source_key));
}

Number of(double& member, const Form& form, std::string source_key, double highest = kNoEnd) {
    return number(
        form, [&member] { return member; }, [&member](double v) { member = v; }, std::move(source_key),
        highest);
}

/// Keeps usable bytes in step with a pool's new size: by its rule, else what is kept back stays kept back.
void resize(Device& device, Pool& pool, Bytes capacity) {
    const Bytes kept = pool.capacity - pool.usable;
    const bool fresh = pool.capacity.value == 0;
    pool.capacity = capacity;
    pool.variants.clear();
    if (fresh)
        apply_default_rule(device, pool);
    else if (find_usable_rule(pool.usable_rule))
        apply_usable_rule(device, pool);
    else
        pool.usable = std::max(Bytes(0), capacity - kept);
}

Pool* find_pool(Device& device, std::string_view name) {
    const auto it =
        std::find_if(device.pools.begin(), device.pools.end(), [&](const Pool& p) { return p.name == name; });
    return it == device.pools.end() ? nullptr : &*it;
}

Pool& add_pool(Device& device, const std::string& name) {
    const auto at = name == "ram" ? device.pools.begin() : device.pools.end();
    Pool& pool = *device.pools.emplace(at);
    pool.name = name;
    for (Processor& p : device.processors)
        if (name != "ram" || p.pool.empty()) p.pool = device.default_pool(p.kind);
    return pool;
}

Number capacity_number(Device& device, const std::string& name) {
    const Pool* pool = find_pool(device, name);
    const double now = pool ? pool->capacity.as_double() : 0;
    return number(
        kSize, [now] { return now; },
        [&device, name](double v) {
            Pool* to = find_pool(device, name);
            resize(device, to ? *to : add_pool(device, name), Bytes(std::llround(v)));
        },
        name, kLargestSize);
}

Number pool_number(Device& device, Pool& pool, std::string_view field) {
    const bool first = &pool == &device.pools.front();
    const std::string key = first ? std::string(field) : fmt::format("{}_{}", pool.name, field);
    if (field == "max_allocation") return of(pool.max_allocation, kSize, key);
    if (field == "max_mapping") return of(pool.max_mapping, kSize, key);
    if (field == "usable")
        return number(
            kSize, [&pool] { return pool.usable.as_double(); },
            [&pool](double v) {
                pool.usable = Bytes(std::llround(v));
                pool.usable_rule.clear();  // said by hand: no rule and no other condition applies
                pool.variants.clear();
            },
            key, pool.capacity.as_double());
    return number(
        kBandwidth, [&pool] { return pool.bandwidth.value; },
        [&pool, &device, first](double v) {
            // The share of the peak that was measured stays, at every number of threads.
            const double factor = pool.bandwidth.value > 0 ? v / pool.bandwidth.value : 1;
            pool.measured_bandwidth.value *= factor;
            if (first && device.calibration) device.calibration->scale_bandwidth(factor);
            pool.bandwidth.value = v;
            pool.bandwidth_deviation = 0;
            pool.bus_bits = 0;
            pool.mega_transfers = 0;
        },
        key);
}

OpsPerSecond& rate(Processor& p, std::string_view name) {
    return name == "fp32" ? p.fp32 : name == "fp16" ? p.fp16 : name == "int8" ? p.int8 : p.int4;
}

/// The processor an unnamed rate speaks of: the one that has most of it, else the likeliest kind.
Processor* main_processor(Device& device, std::string_view rate_name) {
    Processor* best = nullptr;
    for (Processor& p : device.processors)
        if (rate(p, rate_name).value > (best ? rate(*best, rate_name).value : 0)) best = &p;
    if (best) return best;
    using enum ProcessorKind;
    const bool whole = rate_name.starts_with("int");
    for (const ProcessorKind kind : {whole ? npu : gpu, whole ? gpu : npu, cpu})
        if (Processor* p = find_processor(device, kind)) return p;
    return nullptr;
}

std::optional<ProcessorKind> kind_of(std::string_view name) {
    const auto it = std::find(kKinds.begin(), kKinds.end(), name);
    if (it == kKinds.end()) return std::nullopt;
    return static_cast<ProcessorKind>(it - kKinds.begin());
}

Number processor_number(Processor& p, std::string_view field) {
    const std::string key = fmt::format("{}.{}", kKinds[static_cast<std::size_t>(p.kind)], field);
    if (contains(kRates, field)) {
        OpsPerSecond& value = rate(p, field);
        return number(
            kOps, [&value] { return value.value; },
            [&p, &value](double v) {
                value.value = v;
                p.rate_deviation = 0;  // said by hand
            },
            key);
    }
    if (field == "max_allocation") return of(p.max_allocation, kSize, key);
    if (field == "max_session") return of(p.max_session, kSize, key);
    return number(
        kCount, [&p] { return p.cores; }, [&p](double v) { p.cores = static_cast<int>(v); }, key, 1 << 16);
}

std::optional<Number> find_pool_number(Device& device, const std::string& field, const std::string& place) {
    if (contains(kPools, field)) return capacity_number(device, field);
    for (const std::string_view name : kPoolFields) {
        if (field == name && device.pools.empty())
            throw Error(place, fmt::format("'{}' on a device without memory", field), "", "give ram first");
        if (field == name) return pool_number(device, device.pools.front(), name);
        for (const std::string_view pool_name : kPools) {
            if (field != fmt::format("{}_{}", pool_name, name)) continue;
            if (Pool* pool = find_pool(device, pool_name)) return pool_number(device, *pool, name);
            throw Error(place, fmt::format("'{}' on a device without {}", field, pool_name), "",
                        fmt::format("give {} first", pool_name));
        }
    }
    return std::nullopt;
}

/// "gpu.fp16" of the GPU, "fp16" of the processor that it is most likely about.
std::optional<Number> find_processor_number(Device& device, const std::string& field,
                                            const std::string& place) {
    const auto dot = field.find('.');
    const std::string name = dot == std::string::npos ? field : field.substr(dot + 1);
    const bool is_rate = contains(kRates, name);
    if (!is_rate && !contains(kProcessorFields, name) &&
        (dot == std::string::npos || name != "max_allocation"))
        return std::nullopt;
    Processor* p = nullptr;
    if (dot != std::string::npos) {
        const auto kind = kind_of(std::string_view(field).substr(0, dot));
        if (!kind) return std::nullopt;
        p = find_processor(device, *kind);
    } else {
        p = is_rate ? main_processor(device, name)
                    : find_processor(device, name == "cores" ? ProcessorKind::cpu : ProcessorKind::npu);
    }
    if (!p) throw Error(place, fmt::format("'{}' on a device without that processor", field));
    return processor_number(*p, name);
}

std::optional<Number> find_device_number(Device& device, const std::string& field) {
    const auto link = [&]() -> device::Link& {
        return device.link ? *device.link : device.link.emplace(device::Link{"link", {}, {}});
    };
    if (field == "link") return of(link().bandwidth, kBandwidth, "link");
    if (field == "link_latency") return of(link().latency, kSeconds, "link_latency");
    if (field == "storage") return of(device.storage.read, kBandwidth, "storage");
    if (field == "sustained") return of(device.sustained_fraction, kPlain, "sustained_fraction", 1);
    if (field == "power") return of(device.sustained_power, kWatts, "power");
    if (field == "max_power") return of(device.max_power, kWatts, "power");
    if (field == "battery") return of(device.battery_watt_hours, kWattHours, "battery");
    if (field == "energy") return of(device.energy_per_gb_read, kJoulesPerGb, "energy_per_gb_read");
    if (field == "static_power") return of(device.static_power, kWatts, "static_power");
    if (field == "os_reserved")
        return number(
            kSize, [&device] { return device.os_reserved.as_double(); },
            [&device](double v) {
                device.os_reserved = Bytes(std::llround(v));
                for (Pool& pool : device.pools) apply_usable_rule(device, pool);
            },
            "os_reserved");
    return std::nullopt;
}

}  // namespace

std::optional<Number> find_number(Device& device, const std::string& field, const std::string& place) {
    std::optional<Number> number = find_pool_number(device, field, place);
    if (!number) number = find_processor_number(device, field, place);
    return number ? number : find_device_number(device, field);
}

Processor* find_processor(Device& device, ProcessorKind kind) {
    const auto it = std::find_if(device.processors.begin(), device.processors.end(),
                                 [&](const Processor& p) { return p.kind == kind; });
    return it == device.processors.end() ? nullptr : &*it;
}

std::vector<std::string> number_names() {
    std::vector<std::string> names;
    const auto add = [&](const auto& more) { names.insert(names.end(), more.begin(), more.end()); };
    add(kPools);
    add(kPoolFields);
    add(kRates);
    add(kProcessorFields);
    add(kDeviceFields);
    return names;
}

}  // namespace memwall::devices
