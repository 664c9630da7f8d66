#include <cmath>

#include "core/base/error.h"
#include "devices/catalog.h"
#include "devices/device_fields.h"
#include "tests/catch.h"

using namespace memwall;
using namespace memwall::devices;
using device::ProcessorKind;

namespace {

device::Device with(const std::string& argument, const std::string& field, const std::string& value) {
    device::Device d = resolve_device(argument);
    set_field(d, field, value, "--set");
    return d;
}

}  // namespace

TEST_CASE("a what-if changes one field and says so", "[devices]") {
    const device::Device d = with("raspberry-pi-5:8", "device.bandwidth", "+8GB/s");
    CHECK(d.pools[0].bandwidth.value == Approx(25.07e9));
    CHECK(d.source("bandwidth") == "--set device.bandwidth=+8GB/s");
    // The bus no longer explains the rate; what was measured of it keeps its share.
    CHECK(d.pools[0].bus_bits == 0);
    CHECK(d.pools[0].measured_bandwidth.value == Approx(11.4e9 * 25.07 / 17.07));
    CHECK(with("raspberry-pi-5:8", "bandwidth", "x2").pools[0].bandwidth.value == Approx(34.14e9));
    CHECK(with("raspberry-pi-5:8", "bandwidth", "*0.5").pools[0].bandwidth.value == Approx(8.535e9));
    CHECK(with("raspberry-pi-5:8", "bandwidth", "-7.07GB/s").pools[0].bandwidth.value == Approx(10e9));
    CHECK(with("raspberry-pi-5:8", "bandwidth", "20GB/s").pools[0].bandwidth.value == Approx(20e9));
}

TEST_CASE("more memory is shared out by the device's rule", "[devices]") {
    CHECK(with("raspberry-pi-5:8", "ram", "+4GiB").pools[0].usable.value ==
          12 * kGiB - std::llround(0.7 * kGiB));
    CHECK(with("pixel-9-pro", "ram", "24GiB").pools[0].usable.value == 12 * kGiB);
    CHECK(with("apple-m1-max:32", "ram", "40GiB").pools[0].usable.value == 30 * kGiB);
    CHECK(with("rtx-3060-12gb", "vram", "24GiB").pools[0].usable.value == std::floor(0.94 * 24 * kGiB));

    const device::Device windows = with("intel-lunar-lake:16", "ram", "64GiB");
    CHECK(windows.pools[0].variant("cpu_only")->usable.value == 60 * kGiB);
    // What only a device can bring is not made up for a size nobody sells.
    const device::Device phone = with("iphone-16-pro", "ram", "12GiB");
    CHECK(phone.pools[0].usable.value == 9 * kGiB);
    CHECK(phone.pools[0].variant("without_entitlement") == nullptr);
    for (const std::string& note : phone.notes) CHECK(note.find("3.00 GiB without") == std::string::npos);

    // Without a rule, what is kept back stays kept back.
    device::Device d = resolve_device("ram=8GiB,usable=7GiB");
    set_field(d, "device.ram", "16GiB", "--set");
    CHECK(d.pools[0].usable.value == 15 * kGiB);
}

TEST_CASE("usable memory can be given by number or by the name of a variant", "[devices]") {
    const device::Device number = with("iphone-16-pro", "device.usable", "5GiB");
    CHECK(number.pools[0].usable.value == 5 * kGiB);
    CHECK(number.pools[0].usable_source == "--set device.usable=5GiB");
    CHECK(number.pools[0].variants.empty());
    CHECK(with("iphone-16-pro", "device.usable", "without_entitlement").pools[0].usable.value == 3 * kGiB);
    CHECK(with("amd-strix-halo:128", "device.usable", "linux_gtt").pools[0].usable.value == 120 * kGiB);
    CHECK(with("intel-lunar-lake:32", "os", "linux").pools[0].usable.value == 28 * kGiB);
    CHECK(with("raspberry-pi-5:8", "os_reserved", "2GiB").pools[0].usable.value == 6 * kGiB);
}

TEST_CASE("a rate without a processor's name is about the processor that has it", "[devices]") {
    const device::Device phone = with("exynos-2500", "device.int8", "+2TOPS");  // 59 on its NPU
    CHECK(phone.processor(ProcessorKind::npu)->int8.value == Approx(61e12));
    const device::Device unknown = with("snapdragon-8-elite:16", "device.int8", "45TOPS");  // no rate known
    CHECK(unknown.processor(ProcessorKind::npu)->int8.value == Approx(45e12));
    const device::Device pi = with("raspberry-pi-5:8", "device.int8", "x2");
    CHECK(pi.processor(ProcessorKind::cpu)->int8.value == Approx(1228e9));
    const device::Device card = with("rtx-3060-12gb", "device.fp16", "+2TFLOPS");
    CHECK(card.processor(ProcessorKind::gpu)->fp16.value == Approx(27.5e12));
    CHECK(card.source("gpu.fp16") == "--set device.fp16=+2TFLOPS");
    CHECK(card.source("gpu") == "recalled: vendor architecture whitepaper");
    const device::Device named = with("exynos-2500", "gpu.int8", "4TOPS");
    CHECK(named.processor(ProcessorKind::gpu)->int8.value == Approx(4e12));
    CHECK(named.processor(ProcessorKind::npu)->int8.value == Approx(59e12));
    CHECK(with("raspberry-pi-5:8", "cores", "8").processor(ProcessorKind::cpu)->cores == 8);
    CHECK(with("raspberry-pi-4:8", "isa", "neon+dotprod").processor(ProcessorKind::cpu)->isa.size() == 2);
    CHECK(with("snapdragon-8-elite:16", "gpu.max_allocation", "2GiB")
              .processor(ProcessorKind::gpu)
              ->max_allocation.value == 2 * kGiB);
}

TEST_CASE("a card gets a host, a board gets a card", "[devices]") {
    const device::Device card = with("rtx-3060-12gb", "device.ram", "32GiB");
    REQUIRE(card.pools.size() == 2);
    CHECK(card.pools[0].name == "ram");
    CHECK(card.pools[0].usable.value == 28 * kGiB);
    CHECK(card.processor(ProcessorKind::gpu)->pool == "vram");
    const device::Device board = with("raspberry-pi-5:8", "device.vram", "8GiB");
    CHECK(board.pools.back().name == "vram");
    CHECK(board.processor(ProcessorKind::gpu)->pool == "vram");
    CHECK(board.processor(ProcessorKind::cpu)->pool == "ram");
    CHECK(with("rtx-3060-12gb", "link", "16GB/s").link->bandwidth.value == Approx(16e9));
}

TEST_CASE("a field by its processor falls back to what is said of the processor", "[devices]") {
    const device::Device d = resolve_device("raspberry-pi-5:8");
    CHECK(d.source("cpu.int8") == d.source("cpu"));
    CHECK(d.source("npu.int8") == "catalogue");
}

TEST_CASE("impossible changes are refused", "[devices]") {
    struct Case {
        const char* field;
        const char* value;
        const char* message;
    };
    const Case cases[] = {
        {"device.bandwidth", "-20GB/s",
         "--set device.bandwidth: '-20GB/s' makes it -2930 MB/s; expected more than 0"},
        {"device.bandwidth", "x0", "makes it 0"},
        {"device.bandwidth", "", "no value"},
        {"device.bandwidth", "+", "--set device.bandwidth: ''"},
        {"device.bandwidth", "xfast", "--set device.bandwidth: 'fast'"},
        {"device.ram", "x1e9", "more than 0, at most 1024.00 TiB"},
        {"device.battery", "+1Wh", "'+1Wh' changes 'battery', which is unknown here"},
        {"device.usable", "9GiB", "'9GiB' makes it 9.00 GiB; expected more than 0, at most 8.00 GiB"},
        {"device.usable", "linux_gtt", "'linux_gtt'"},
        {"device.npu.int8", "1TOPS", "'npu.int8' on a device without that processor"},
        {"device.colour", "red", "--set: unknown field 'colour'"},
        {"device.", "1", "unknown field ''"},
        {"gpu.", "1", "unknown field 'gpu.'"},
        {"device.class", "quick", "unknown class 'quick'"},
    };
    for (const Case& c : cases) {
        INFO(c.field << "=" << c.value);
        CHECK_THROWS_WITH(with("raspberry-pi-5:8", c.field, c.value), Catch::Contains(c.message));
        CHECK_THROWS_AS(with("raspberry-pi-5:8", c.field, c.value), Error);
    }
}
