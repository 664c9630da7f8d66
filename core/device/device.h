// A machine that runs models: processors, memory pools, links, limits. Plain data; devices/ fills it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/units.h"

namespace memwall::device {

enum class ProcessorKind : std::uint8_t { cpu, gpu, npu };

/// Rates are peaks of the data sheet; 0 = unknown.
struct Processor {
    ProcessorKind kind = ProcessorKind::cpu;
    std::string name;
    std::string efficiency_class;  ///< key of the speed priors: "sbc_cpu", "apple_base_pro" ...; empty = none
    int cores = 0;
    OpsPerSecond fp32, fp16, int8, int4;
    std::vector<std::string> isa;  ///< "neon", "dotprod", "i8mm", "avx2", "avx512_vnni" ...
    std::string pool;              ///< name of the pool its weights are read from
};

/// A place that holds bytes. "ram" is always first; discrete cards add "vram", accelerator modules "module".
struct Pool {
    std::string name;
    Bytes capacity;
    Bytes usable;             ///< what one process may plan with
    std::string usable_rule;  ///< "android-half" ...
    std::string usable_source;
    BytesPerSecond bandwidth;           ///< peak; 0 = unknown
    BytesPerSecond measured_bandwidth;  ///< 0 = not measured
    Bytes max_allocation;               ///< largest single buffer; 0 = no limit known
};

struct Link {  ///< between host memory and a card
    std::string name;
    BytesPerSecond bandwidth;
    Seconds latency;
};

struct Storage {
    std::string type;
    BytesPerSecond read;  ///< realistic sequential; 0 = unknown
};

/// Measured runs that calibrate the device ("measurements:" of a profile); see core/speed.
struct Measurement {
    std::string model, quant;
    std::int64_t context = 0, prompt = 0;
    double prefill_per_second = 0, decode_per_second = 0;
    std::string source;
};

struct Device {
    std::string id;
    std::string name;
    std::string device_class;  ///< "phone", "sbc", "laptop", "desktop_gpu", "car" ...
    std::string os;            ///< "android", "ios", "macos", "windows", "linux", "none"
    int year = 0;
    std::string confidence;             ///< about the memory line: high, medium, low
    std::vector<Processor> processors;  ///< at least one
    std::vector<Pool> pools;            ///< at least one
    std::optional<Link> link;
    Storage storage;
    Bytes os_reserved;
    double sustained_fraction = 0;     ///< 0 = unknown
    Watts sustained_power, max_power;  ///< 0 = unknown
    double battery_watt_hours = 0;
    double energy_per_gb_read = 0;  ///< joules per 10^9 bytes of weights read; 0 = unknown
    Watts static_power;
    std::vector<Measurement> measurements;
    std::vector<std::string> notes;
    std::map<std::string, std::string> sources;  ///< field -> "URL", "recalled: document", "assumed: why"

    const Processor* processor(ProcessorKind kind) const;
    const Pool* pool(const std::string& name) const;
    const std::string& source(const std::string& field) const;
};

}  // namespace memwall::device
