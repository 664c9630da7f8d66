#include "core/base/error.h"
#include "devices/catalog.h"
#include "devices/device_fields.h"
#include "devices/device_yaml.h"
#include "tests/catch.h"

using namespace memwall;
using namespace memwall::devices;
using device::ProcessorKind;

TEST_CASE("an inline phone has the rule of its system", "[devices]") {
    const device::Device d = resolve_device("ram=8GiB,bandwidth=68GB/s,int8=45TOPS,class=phone_npu");
    CHECK(d.id == "inline");
    CHECK(d.device_class == "phone");
    CHECK(d.os == "android");
    REQUIRE(d.pools.size() == 1);
    CHECK(d.pools[0].capacity.value == 8 * kGiB);
    CHECK(d.pools[0].usable.value == 4 * kGiB);
    CHECK(d.pools[0].bandwidth.value == Approx(68e9));
    REQUIRE(d.processors.size() == 1);
    CHECK(d.processors[0].kind == ProcessorKind::npu);
    CHECK(d.processors[0].efficiency_class == "phone_npu");
    CHECK(d.processors[0].int8.value == Approx(45e12));
    CHECK(d.processors[0].pool == "ram");
    CHECK(d.source("bandwidth") == "--device bandwidth=68GB/s");
    CHECK(d.source("npu.int8") == "--device int8=45TOPS");
}

TEST_CASE("an inline machine with a card has two pools and a link", "[devices]") {
    const device::Device d = resolve_device(
        "vram_bandwidth=360GB/s,vram=12GiB,link=16GB/s,link_latency=5us,ram=32GiB,bandwidth=51GB/"
        "s,fp16=25TFLOPS,"
        "cores=8,isa=avx2+avx512f,storage=3GB/s,class=nvidia_consumer,battery=90Wh,sustained=0.9,energy=0.9J/"
        "GB,"
        "power=200W,max_power=250W,static_power=20W,max_allocation=4GiB");
    REQUIRE(d.pools.size() == 2);
    CHECK(d.pools[0].name == "ram");
    CHECK(d.pools[0].usable.value == 28 * kGiB);  // a PC's system keeps 4 GiB
    CHECK(d.pools[0].bandwidth.value == Approx(51e9));
    CHECK(d.pools[0].max_allocation.value == 4 * kGiB);
    CHECK(d.pools[1].name == "vram");
    CHECK(d.pools[1].usable_rule == "dgpu-94");
    CHECK(d.pools[1].bandwidth.value == Approx(360e9));
    REQUIRE(d.link);
    CHECK(d.link->bandwidth.value == Approx(16e9));
    CHECK(d.link->latency.value == Approx(5e-6));
    CHECK(d.processor(ProcessorKind::gpu)->pool == "vram");
    CHECK(d.processor(ProcessorKind::gpu)->fp16.value == Approx(25e12));
    CHECK(d.processor(ProcessorKind::cpu)->pool == "ram");
    CHECK(d.processor(ProcessorKind::cpu)->cores == 8);
    CHECK(d.processor(ProcessorKind::cpu)->isa == std::vector<std::string>{"avx2", "avx512f"});
    CHECK(d.storage.read.value == Approx(3e9));
    CHECK(d.battery_watt_hours == 90);
    CHECK(d.sustained_fraction == 0.9);
    CHECK(d.energy_per_gb_read == 0.9);
    CHECK(d.sustained_power.value == 200);
    CHECK(d.max_power.value == 250);
    CHECK(d.static_power.value == 20);
    CHECK(read_device_yaml(write_device_yaml(d), "again.yaml") == d);
}

TEST_CASE("who computes follows from the memory when no class is given", "[devices]") {
    CHECK(resolve_device("ram=8GiB,int8=1TOPS").processors[0].kind == ProcessorKind::cpu);
    CHECK(resolve_device("vram=8GiB,fp16=1TFLOPS").processors[0].kind == ProcessorKind::gpu);
    CHECK(resolve_device("module=8GiB,int8=20TOPS").processors[0].kind == ProcessorKind::npu);
    const device::Device both = resolve_device("ram=8GiB,cpu.int8=1TOPS,gpu.fp16=2TFLOPS,npu.int8=20TOPS");
    CHECK(both.processors.size() == 3);
    CHECK(both.processor(ProcessorKind::gpu)->fp16.value == Approx(2e12));
}

TEST_CASE("usable memory of an inline device", "[devices]") {
    const auto usable = [](const std::string& argument) {
        return resolve_device(argument).pools[0].usable.value;
    };
    CHECK(usable("ram=8GiB") == 8 * kGiB);  // nothing is known that would keep any back, and a note says so
    CHECK(usable("ram=8GiB,usable=5GiB") == 5 * kGiB);
    CHECK(usable("usable=5GiB,ram=8GiB,os=android") == 5 * kGiB);
    CHECK(usable("ram=8GiB,os=linux,os_reserved=1GiB") == 7 * kGiB);
    CHECK(usable("os_reserved=1GiB,class=sbc_cpu,ram=8GiB") == 7 * kGiB);
    CHECK(usable("ram=8GiB,os=none") == 8 * kGiB);
    CHECK(usable("ram=8GiB,os=ios") == 6 * kGiB);
    CHECK(usable("ram=36GiB,class=apple_base_pro") == 24 * kGiB);
    CHECK(usable("ram=48GiB,class=apple_max_ultra") == 36 * kGiB);
    CHECK(usable("ram=16GiB,class=automotive_npu") == 8 * kGiB);
    CHECK(usable("ram=512MiB,os=linux") == 0);  // less than the system keeps
}

TEST_CASE("an inline device that makes no sense is refused on one line", "[devices]") {
    struct Case {
        const char* argument;
        const char* message;
    };
    const Case cases[] = {
        {"ram=", "--device ram: no value for 'ram'"},
        {"=8GiB", "--device: '=8GiB'; expected FIELD=VALUE, such as ram=8GiB"},
        {"ram=8GiB,", "--device: ''; expected FIELD=VALUE"},
        {"ram=8GiB,fast", "--device: 'fast'; expected FIELD=VALUE"},
        {"ram=8GiB,ram=4GiB", "'ram' for the second time"},
        {"ram=8gigs", "--device ram: '8gigs'; expected a size such as 8GiB"},
        {"ram=0", "--device ram: '0' makes it 0 B; expected more than 0"},
        {"ram=-8GiB", "changes 'ram', which is unknown here"},
        {"ram=+8GiB", "changes 'ram', which is unknown here"},
        {"ram=1e40GiB", "--device ram: '1e40GiB'"},
        {"ram=2048TiB", "at most 1024 TiB"},
        {"bandwidth=68GB/s", "'bandwidth' on a device without memory; give ram first"},
        {"ram=8GiB,bandwidth=68GB", "--device bandwidth: '68GB'; expected a rate such as 68GB/s"},
        {"ram=8GiB,bandwith=68GB/s",
         "unknown field 'bandwith'; expected one of ram, vram, module, bandwidth"},
        {"ram=8GiB,bandwith=68GB/s", "did you mean bandwidth?"},
        {"ram=8GiB,vram_bandwidth=68GB/s", "'vram_bandwidth' on a device without vram; give vram first"},
        {"ram=8GiB,usable=9GiB", "'9GiB' makes it 9.00 GiB; expected more than 0, at most 8.00 GiB"},
        {"ram=8GiB,class=phone", "--device class: unknown class 'phone'; expected one of phone_cpu"},
        {"ram=8GiB,os=dos", "--device os: unknown system 'dos'; expected one of android"},
        {"ram=8GiB,isa=dotprod+mmx", "--device isa: unknown instruction set 'mmx'; expected one of avx"},
        {"ram=8GiB,cores=2.5", "whole number"},
        {"ram=8GiB,cores=1e9", "at most 65536"},
        {"ram=8GiB,sustained=1.5", "at most 1"},
        {"ram=8GiB,int8=45", "--device int8: '45'; expected a rate such as 45TOPS"},
        {"ram=8GiB,gpu.colour=red", "unknown field 'gpu.colour'"},
        {"ram=8GiB,max_session=1GiB", "'max_session' on a device without that processor"},
        {"cores=4", "has no memory; expected ram=SIZE"},
    };
    for (const Case& c : cases) {
        INFO(c.argument);
        CHECK_THROWS_WITH(resolve_device(c.argument), Catch::Contains(c.message));
        CHECK_THROWS_AS(resolve_device(c.argument), Error);
    }
}
