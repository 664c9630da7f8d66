// A machine that runs models: processors, memory pools, links, limits. Plain data; devices/ fills it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/units.h"
#include "core/device/calibration.h"

namespace memwall::device {

enum class ProcessorKind : std::uint8_t { cpu, gpu, npu };

/// One level of cache. `size` is that of one cache, `count` how many of them there are.
struct Cache {
    int level = 0;
    std::string type;  ///< "data", "instruction", "unified"
    Bytes size;
    int count = 1;
    bool operator==(const Cache&) const = default;
};

/// Rates are peaks of the data sheet; 0 = unknown.
struct Processor {
    ProcessorKind kind = ProcessorKind::cpu;
    std::string name;
    std::string efficiency_class;  ///< key of the speed priors: "sbc_cpu", "apple_base_pro" ...; empty = none
    int cores = 0;
    OpsPerSecond fp32, fp16, int8, int4;
    double rate_deviation =
        0;  ///< of ln(true / stated rate) where the rates are assumed; 0 = stated by somebody
    std::vector<std::string> isa;  ///< "neon", "dotprod", "i8mm", "avx2", "avx512_vnni" ...
    std::string pool;              ///< name of the pool its weights are read from
    std::string rate_kind;         ///< what a vendor's TOPS mean: "dense", "sparse"; empty = not said
    Bytes max_allocation;          ///< largest single buffer its driver gives out; 0 = no limit known
    Bytes max_session;             ///< memory one NPU session can map; 0 = no limit known
    std::vector<Cache> caches;     ///< as far as known
    bool operator==(const Processor&) const = default;
};

/// What a pool offers to one process under another condition than its rule's usual one.
struct UsableVariant {
    std::string name;  ///< "cpu_only", "without_entitlement", "linux_gtt", "available_now"
    Bytes usable;
    std::string condition;  ///< in words, after a number: "on the CPU", "without the entitlement"
    bool operator==(const UsableVariant&) const = default;
};

/// A place that holds bytes. "ram" comes first where the host's memory is known; discrete cards have "vram",
/// accelerator modules "module".
struct Pool {
    std::string name;
    Bytes capacity;
    Bytes usable;             ///< what one process may plan with
    std::string usable_rule;  ///< "android-half" ...
    std::string usable_source;
    BytesPerSecond bandwidth;           ///< peak; 0 = unknown
    double bandwidth_deviation = 0;     ///< of ln(true / stated) where it is assumed; 0 = stated by somebody
    BytesPerSecond measured_bandwidth;  ///< 0 = not measured
    Bytes max_allocation;               ///< largest single buffer; 0 = no limit known
    std::string memory_type;            ///< "LPDDR5X" ...
    int bus_bits = 0;                   ///< bandwidth = bus_bits / 8 x transfers; 0 = unknown
    double mega_transfers = 0;          ///< 10^6 transfers per second; 0 = unknown
    std::string measured_scope;         ///< what measured_bandwidth was seen by: "cpu_all", "gpu" ...
    std::string measured_how;           ///< the method in words
    Bytes max_mapping;                  ///< largest file one process can map; 0 = no limit known
    std::vector<UsableVariant> variants;
    bool operator==(const Pool&) const = default;
    const UsableVariant* variant(const std::string& name) const;
};

struct Link {  ///< between host memory and a card
    std::string name;
    BytesPerSecond bandwidth;
    Seconds latency;
    bool operator==(const Link&) const = default;
};

struct Storage {
    std::string type;
    BytesPerSecond read;             ///< realistic sequential; 0 = unknown
    BytesPerSecond interface_limit;  ///< what the interface could carry; 0 = unknown
    bool operator==(const Storage&) const = default;
};

/// Measured runs that calibrate the device ("measurements:" of a profile); see core/speed.
struct Measurement {
    std::string model, quant;
    std::int64_t context = 0, prompt = 0;
    double prefill_per_second = 0, decode_per_second = 0;
    std::string source;
    bool operator==(const Measurement&) const = default;
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
    Bytes os_reserved;                 ///< what the system itself keeps (a module: its firmware); 0 = unknown
    double sustained_fraction = 0;     ///< 0 = unknown
    Watts sustained_power, max_power;  ///< under a long load; by design (TDP). 0 = unknown
    double battery_watt_hours = 0;
    double energy_per_gb_read = 0;  ///< joules per 10^9 bytes of weights read; 0 = unknown
    Watts static_power;             ///< beside energy_per_gb_read; 0 where that was measured at the wall
    std::vector<Measurement> measurements;
    std::optional<Calibration> calibration;  ///< of this machine's CPU, memory and storage
    std::vector<std::string> notes;
    std::map<std::string, std::string> sources;  ///< field -> "URL", "recalled: document", "assumed: why"
    std::string soc;                             ///< chip; may be empty

    bool operator==(const Device&) const = default;
    const Processor* processor(ProcessorKind kind) const;
    const Pool* pool(const std::string& name) const;
    /// Origin of a field, "catalogue" when none is recorded. "gpu.fp16" falls back to what is said of "gpu".
    const std::string& source(const std::string& field) const;
    /// Where a processor of that kind keeps its weights unless the device says otherwise: a GPU in VRAM, an
    /// NPU in its module, anything else in the first pool. Empty without pools.
    std::string default_pool(ProcessorKind kind) const;
};

}  // namespace memwall::device
