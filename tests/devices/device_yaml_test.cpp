#include "devices/device_yaml.h"

#include <cmath>
#include <random>

#include "core/base/embedded.h"
#include "core/base/error.h"
#include "core/base/size_text.h"
#include "devices/catalog.h"
#include "devices/quantity.h"
#include "tests/catch.h"

using namespace memwall;
using namespace memwall::devices;
using namespace std::string_literals;

namespace {

const std::string kSmall = "schema: memwall/device/1\nram: 8GiB\nprocessors:\n  - {kind: cpu}\n";

device::Device read(const std::string& text) {
    return read_device_yaml(text, "d.yaml");
}

/// A device with every field set to something.
device::Device full_device() {
    device::Device d;
    d.id = "bench";
    d.name = "A \"bench\": with, marks";
    d.device_class = "desktop";
    d.os = "linux";
    d.year = 2026;
    d.soc = "X1";
    d.confidence = "low";
    device::Pool ram;
    ram.name = "ram";
    ram.capacity = Bytes(33'333'333'333);
    ram.usable = Bytes(30'000'000'001);
    ram.bandwidth = BytesPerSecond(1e11 / 3);
    ram.bandwidth_deviation = 0.125;
    ram.measured_bandwidth = BytesPerSecond(2e10 / 3);
    ram.measured_scope = "cpu_all";
    ram.measured_how = "this program";
    ram.memory_type = "DDR5";
    ram.bus_bits = 128;
    ram.mega_transfers = 5600;
    ram.max_allocation = Bytes(kGiB);
    ram.max_mapping = Bytes(3'000'000'000);
    ram.variants = {{"available_now", Bytes(12'345'678'901), "available right now"}};
    device::Pool vram;
    vram.name = "vram";
    vram.capacity = Bytes(12 * kGiB);
    vram.usable = Bytes(11 * kGiB);
    vram.usable_rule = "dgpu-94";
    vram.usable_source = "measured";
    vram.bandwidth = BytesPerSecond(360e9);
    d.pools = {ram, vram};
    d.calibration = device::Calibration{"2026-11-30", "0.1.0", "Linux 6.1", "avx2", "huge", 4, 0.01, {}};
    d.calibration->results = {
        {"read", "B/s", 1, 1e10 / 3, 3e9, 3.5e9, 2.9e9, 3.6e9, 11, 1, 0.02, "prefetch 4 KiB + 32 KiB"},
        {"barrier", "s", 4, 3.5e-7, 3.4e-7, 3.6e-7, 3e-7, 9e-7, 40, 0, 0, ""}};
    device::Processor cpu;
    cpu.name = "CPU";
    cpu.efficiency_class = "pc_cpu";
    cpu.cores = 12;
    cpu.rate_deviation = 0.25;
    cpu.fp32 = OpsPerSecond(153.5e9);
    cpu.int8 = OpsPerSecond(614e9);
    cpu.isa = {"avx2", "avx512f"};
    cpu.pool = "ram";
    cpu.caches = {{1, "data", Bytes(48 * kKiB), 12}, {3, "unified", Bytes(32 * kMiB), 1}};
    device::Processor gpu;
    gpu.kind = device::ProcessorKind::gpu;
    gpu.fp16 = OpsPerSecond(25.5e12);
    gpu.int4 = OpsPerSecond(204e12);
    gpu.pool = "ram";  // not where a GPU's weights lie by default
    gpu.max_allocation = Bytes(2 * kGiB);
    gpu.max_session = Bytes(kGiB);
    gpu.rate_kind = "dense";
    d.processors = {cpu, gpu};
    d.link = device::Link{"PCIe 4.0 x16", BytesPerSecond(31.5e9), Seconds(5e-6)};
    d.storage = {"NVMe", BytesPerSecond(5e9), BytesPerSecond(7e9)};
    d.os_reserved = Bytes(kGiB);
    d.sustained_fraction = 0.6;
    d.sustained_power = Watts(65);
    d.max_power = Watts(125.5);
    d.battery_watt_hours = 19;
    d.energy_per_gb_read = 1.15;
    d.static_power = Watts(3);
    d.measurements = {{"qwen2.5-7b", "Q4_K_M", 4096, 512, 12.5, 1.0 / 3, "a bench"}};
    d.notes = {"first", "second: with a colon", "ram: 27.94 GiB usable; 11.50 GiB available right now"};
    d.sources = {{"bandwidth", "https://example.org; assumed: no"}, {"vram_usable", "measured"}};
    return d;
}

}  // namespace

TEST_CASE("every device of the catalogue reads back as written", "[devices]") {
    for (const auto id : catalog_ids()) {
        const EmbeddedFile* file = embedded_devices().find("devices/catalog/" + std::string(id) + ".yaml");
        REQUIRE(file != nullptr);
        DeviceSummary summary = read_device_summary(file->text(), "f");
        CHECK(summary.id == id);
        if (summary.sizes.empty()) summary.sizes.push_back(Bytes(16 * kGiB));
        for (const Bytes size : summary.sizes) {
            INFO(id << " " << exact_text(size));
            const device::Device d = read_device_yaml(file->text(), "f", {size, "", ""});
            const device::Device again = read(write_device_yaml(d));
            CHECK(again == d);
        }
    }
}

TEST_CASE("a device with every field reads back as written", "[devices]") {
    const device::Device d = full_device();
    const std::string text = write_device_yaml(d);
    INFO(text);
    CHECK(read(text) == d);
    CHECK(write_device_yaml(read(text)) == text);
}

TEST_CASE("sizes, rates and times print so that they read back to the last bit", "[devices]") {
    const unsigned seed = std::random_device()();
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> exponent(5, 15);
    std::uniform_int_distribution<std::int64_t> bytes(1, std::int64_t{1} << 50);
    int ops_off = 0;
    for (int i = 0; i < 20000; ++i) {
        const BytesPerSecond rate(std::pow(10, exponent(random)));
        CHECK(parse_bytes_per_second(exact_text(rate), "").value == rate.value);
        const Bytes size(bytes(random));
        CHECK(parse_size(exact_text(size), "") == size);
        const double seconds = std::pow(10, exponent(random) - 15);
        CHECK(parse_seconds(exact_text(seconds) + "s", "") == seconds);
        const OpsPerSecond ops(std::pow(10, exponent(random)));
        const double read_back = parse_ops_per_second(exact_text(ops, "OPS"), "").value;
        CHECK(std::abs(read_back - ops.value) <= ops.value * 2.3e-16);
        ops_off += read_back != ops.value;
    }
    CHECK(ops_off < 10000);
    CHECK(exact_text(BytesPerSecond(360e9)) == "360GB/s");
    CHECK(exact_text(BytesPerSecond(17.07e9)) == "17.07GB/s");
    CHECK(exact_text(OpsPerSecond(153.5e9), "FLOPS") == "153.5GFLOPS");
    CHECK(exact_text(Bytes(8 * kGiB)) == "8GiB");
}

TEST_CASE("a profile may be as short as what is known", "[devices]") {
    const device::Device d = read(kSmall);
    CHECK(d.pools.front().capacity.value == 8 * kGiB);
    CHECK(d.pools.front().usable.value == 8 * kGiB);
    REQUIRE(d.notes.size() == 1);
    CHECK(d.notes[0] == "ram: 8.00 GiB usable; all of it, nothing is kept back for an operating system");
    CHECK(d.pools.front().bandwidth.value == 0);
    CHECK(d.processors.front().pool == "ram");

    CHECK(read(kSmall + "os: android\n").pools.front().usable.value == 4 * kGiB);
    CHECK(read(kSmall + "os: linux\nos_reserved: 1GiB\n").pools.front().usable.value == 7 * kGiB);
    const device::Device given = read(
        "schema: memwall/device/1\nos: ios\nram: {size: 8GiB, usable: 5GiB}\n"
        "processors: [{kind: gpu}]\nsources: {usable: my own test}\n");
    CHECK(given.pools.front().usable.value == 5 * kGiB);
    CHECK(given.pools.front().usable_source == "my own test");
}

TEST_CASE("measured runs travel with a profile", "[devices]") {
    const device::Device d = read(
        kSmall +
        "measurements:\n  - {model: qwen2.5-7b, quant: Q4_K_M, context: 4096, decode_per_second: 2.1}\n");
    REQUIRE(d.measurements.size() == 1);
    CHECK(d.measurements[0].model == "qwen2.5-7b");
    CHECK(d.measurements[0].context == 4096);
    CHECK(d.measurements[0].decode_per_second == 2.1);
}

TEST_CASE("what is wrong with a device file is said on one line with its place", "[devices]") {
    struct Case {
        const char* text;
        const char* message;  // a part of it
    };
    const Case cases[] = {
        {"", "d.yaml:1: no mapping"},
        {"42", "d.yaml:1: no mapping"},
        {"schema: memwall/model/1\n", "d.yaml:1: schema 'memwall/model/1'; expected 'memwall/device/1'"},
        {"ram: 8GiB\n", "d.yaml:1: no 'schema'"},
        {"schema: memwall/device/1\n", "d.yaml:1: no memory"},
        {"schema: memwall/device/1\nram: 8GiB\n", "no 'processors'"},
        {"schema: memwall/device/1\nram: 8GiB\nprocessors: []\n", "no processor"},
        {"schema: memwall/device/1\nram: 8GiB\nprocessors: cpu\n", "d.yaml:3: no list"},
        {"schema: memwall/device/1\nram: 8GiB\nprocessors: [{kind: tpu}]\n", "d.yaml:3: kind 'tpu'"},
        {"schema: memwall/device/1\nram: 8 gigs\nprocessors: [{kind: cpu}]\n", "d.yaml:2: '8 gigs'"},
        {"schema: memwall/device/1\nram: 9e17\nprocessors: [{kind: cpu}]\n", "at most 1024 TiB"},
        {"schema: memwall/device/1\nram: 1e400GiB\nprocessors: [{kind: cpu}]\n", "d.yaml:2: '1e400GiB'"},
        {"schema: memwall/device/1\nram: 0\nprocessors: [{kind: cpu}]\n", "d.yaml:2: size '0'"},
        {"schema: memwall/device/1\nram: {size: [8GiB, 4GiB]}\nprocessors: [{kind: cpu}]\n",
         "in rising order"},
        {"schema: memwall/device/1\nram: [4GiB, 8GiB]\nprocessors: [{kind: cpu}]\n",
         "d.yaml:2: 'd.yaml' has no memory size"},
        {"schema: memwall/device/1\nram: {size: 8GiB, bandwith: 9GB/s}\nprocessors: [{kind: cpu}]\n",
         "d.yaml:2: unknown key 'bandwith'; expected one of size, type"},
        {"schema: memwall/device/1\nram: {size: 8GiB, bandwidth: 9GB}\nprocessors: [{kind: cpu}]\n",
         "d.yaml:2: '9GB'"},
        {"schema: memwall/device/1\nram: {size: 8GiB, usable: 9GiB}\nprocessors: [{kind: cpu}]\n",
         "at most the pool's size"},
        {"schema: memwall/device/1\nram: {size: 8GiB, usable: {rule: mine}}\nprocessors: [{kind: cpu}]\n",
         "unknown rule 'mine'"},
        {"schema: memwall/device/1\nram: {size: 8GiB, usable: {}}\nprocessors: [{kind: cpu}]\n",
         "neither 'rule' nor 'bytes'"},
        {"schema: memwall/device/1\nram: {size: 8GiB, bus_bits: 1e9}\nprocessors: [{kind: cpu}]\n",
         "d.yaml:2: '1e9'"},
        {"schema: memwall/device/1\nram: {size: 8GiB, bus_bits: 12.5}\nprocessors: [{kind: cpu}]\n",
         "whole number"},
        {"schema: memwall/device/1\nram: 8GiB\nram: 4GiB\nprocessors: [{kind: cpu}]\n",
         "d.yaml:3: 'ram' for the second time"},
        {"schema: memwall/device/1\nram: 8GiB\nprocessors:\n - kind: cpu\n   isa: [mmx]\n",
         "d.yaml:5: unknown instruction set 'mmx'"},
        {"schema: memwall/device/1\nram: 8GiB\nprocessors:\n - kind: cpu\n   efficiency_class: fast\n",
         "d.yaml:5: unknown class 'fast'"},
        {"schema: memwall/device/1\nram: 8GiB\nprocessors:\n - kind: cpu\n   pool: vram\n",
         "d.yaml:5: pool 'vram'"},
        {"schema: memwall/device/1\nos: beos\nram: 8GiB\nprocessors: [{kind: cpu}]\n",
         "d.yaml:2: unknown system 'beos'"},
        {"schema: memwall/device/1\nram: 8GiB\nprocessors: [{kind: cpu}]\nsustained_fraction: 7\n",
         "d.yaml:4: '7'"},
        {"schema: memwall/device/1\nram: 8GiB\nprocessors: [{kind: cpu}]\nbattery: 19\n", "d.yaml:4: '19'"},
        {"schema: memwall/device/1\nram: 8GiB\nprocessors: [{kind: cpu}]\nnotes: {a: b}\n",
         "d.yaml:4: a mapping"},
        {"schema: memwall/device/1\nram: 8GiB\nprocessors: [{kind: cpu}]\nmeasurements: fast\n",
         "d.yaml:4: no list"},
        {"schema: memwall/device/1\nram: 8GiB\nprocessors: [{kind: cpu}]\n"
         "calibration: {results: [{probe: read, unit: MB, median: 1}]}\n",
         "d.yaml:4: unit 'MB'"},
        {"schema: memwall/device/1\nram: 8GiB\nprocessors: [{kind: cpu}]\n"
         "calibration:\n  results:\n    - {probe: read, unit: B/s, median: 5, low: 6, high: 7, min: 1, max: "
         "9}\n",
         "d.yaml:6: a median outside its range"},
        {"schema: memwall/device/1\nram: 8GiB\nprocessors: [{kind: cpu}]\n"
         "calibration: {date: today}\n",
         "d.yaml:4: no 'results'"},
        {"schema: memwall/device/1\nram: 8GiB\nprocessors: [{kind: cpu}]\ncolour: red\n",
         "d.yaml:4: unknown key 'colour'"},
        {"schema: memwall/device/1\nram: 8GiB\nprocessors: [{kind: cpu}\n", "d.yaml:4: not readable as YAML"},
        {"schema: memwall/device/1\nram: *nobody\n", "not readable as YAML"},
        {"schema: memwall/device/1\nram:\nprocessors: [{kind: cpu}]\n", "d.yaml:3: no value"},
        {"schema: memwall/device/1\n? [a, b]\n: c\n", "a list; expected a single value"},
    };
    for (const Case& c : cases) {
        INFO(c.text);
        try {
            read(c.text);
            FAIL("accepted");
        } catch (const Error& e) {
            const std::string what = e.what();
            CHECK_THAT(what, Catch::Contains(c.message));
            CHECK(what.find('\n') == std::string::npos);
            CHECK(e.place().starts_with("d.yaml:"));
        }
    }
}

TEST_CASE("documents made to hurt a parser end in an error", "[devices]") {
    std::string aliases = "a: &a [x, x, x, x, x, x, x, x, x, x]\n";
    for (char c = 'b'; c < 'k'; ++c) {
        const char before = static_cast<char>(c - 1);
        aliases += std::string(1, c) + ": &" + c + " [";
        for (int i = 0; i < 10; ++i) aliases += std::string("*") + before + (i < 9 ? "," : "]\n");
    }
    const std::string deep = "ram: " + std::string(100000, '[') + "\n";
    const std::string wide = "processors: [" + std::string(60000, ',') + "]\n";
    std::string many_keys;
    for (int i = 0; i < 20000; ++i) many_keys += "k" + std::to_string(i) + ": 1\n";
    const std::string self = "notes: &n [*n]\n";
    for (const std::string& text :
         {aliases, kSmall + aliases, kSmall + "notes: &a [b]\nsources: {x: &b [*a, *a]}\n",
          "schema: memwall/device/1\n" + deep, "schema: memwall/device/1\n" + wide, kSmall + many_keys,
          kSmall + self, std::string(300 << 10, '-'),
          std::string("schema: memwall/device/1\n\0ram: 8GiB\n", 36), "\xff\xfe\x00"s}) {
        INFO(text.substr(0, 80));
        CHECK_THROWS_AS(read(text), Error);
    }
}
