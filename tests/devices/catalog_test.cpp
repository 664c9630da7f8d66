// The catalogue against the facts it was written from, number by number, so that an edit of a file that
// changes a number has to change the facts too.
#include "devices/catalog.h"

#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/embedded.h"
#include "core/base/error.h"
#include "core/device/budget.h"
#include "devices/efficiency_class.h"
#include "devices/quantity.h"
#include "devices/usable_rules.h"
#include "tests/catch.h"

using namespace memwall;
using namespace memwall::devices;
using device::ProcessorKind;
using nlohmann::json;

namespace {

json load(const char* name) {
    std::ifstream in(std::string(MEMWALL_TEST_DATA) + "/devices/" + name);
    REQUIRE(in);
    return json::parse(in);
}

const json& facts() {
    static const json f = load("facts.json")["devices"];
    return f;
}

/// Every device of the facts in every memory size; devices of unknown size as 16 GiB.
template <class Visit>
void for_each_size(Visit visit) {
    for (const auto& [id, fact] : facts().items()) {
        const auto& sizes = fact["sizes"];
        if (sizes.empty()) visit(id, fact, std::size_t{0}, resolve_device(id + ":16GiB"));
        for (std::size_t i = 0; i < sizes.size(); ++i)
            visit(id, fact, i, resolve_device(id + ":" + exact_text(Bytes(sizes[i]))));
    }
}

/// A fact in units of `scale`; null is unknown, which devices write as 0.
double number(const json& fact, double scale) {
    return fact.is_null() ? 0 : fact.get<double>() * scale;
}

void check_rate(const device::Device& d, ProcessorKind kind, OpsPerSecond device::Processor::*rate,
                const json& fact, double scale) {
    const device::Processor* p = d.processor(kind);
    CHECK((p ? (p->*rate).value : 0) == Approx(number(fact, scale)));
}

}  // namespace

TEST_CASE("the catalogue has every device of the facts and no other", "[devices]") {
    std::set<std::string> want, have;
    for (const auto& [id, fact] : facts().items()) want.insert(id);
    for (const auto id : catalog_ids()) have.emplace(id);
    CHECK(have == want);
    CHECK(have.size() == 111);
    for (const DeviceSummary& s : list_devices()) {
        if (!want.count(s.id)) continue;  // a file of whoever runs this test
        INFO(s.id);
        CHECK(s.device_class == facts()[s.id]["class"]);
        CHECK(s.year == facts()[s.id]["year"]);
        CHECK(s.sizes.size() == facts()[s.id]["sizes"].size());
        CHECK(s.bandwidth.value == Approx(number(facts()[s.id]["memory"][2], 1e9)));
    }
}

TEST_CASE("peak bandwidth is bus width times transfer rate", "[devices]") {
    int known = 0;
    for_each_size([&](const std::string& id, const json& fact, std::size_t, const device::Device& d) {
        INFO(id);
        const device::Pool& pool = d.pools.front();
        CHECK(pool.bus_bits == number(fact["memory"][0], 1));
        CHECK(pool.mega_transfers == number(fact["memory"][1], 1));
        CHECK(pool.measured_bandwidth.value == Approx(number(fact["memory"][3], 1e9)));
        // Files give GB/s to two places.
        CHECK(std::abs(pool.bandwidth.value / 1e9 - pool.bus_bits / 8.0 * pool.mega_transfers / 1e3) <
              0.0051);
        known += pool.bandwidth.value > 0;
    });
    CHECK(known > 200);
}

TEST_CASE("usable bytes equal the facts to the byte for every memory size", "[devices]") {
    int checked = 0;
    for_each_size([&](const std::string& id, const json& fact, std::size_t i, const device::Device& d) {
        const device::Pool& pool = d.pools.front();
        INFO(id << " " << exact_text(pool.capacity));
        CHECK_FALSE(pool.usable_source.empty());
        if (!fact.contains("usable")) {  // no memory size is known: half of what the user says
            CHECK(pool.usable_rule == "car-half");
            CHECK(pool.usable.value == 8 * kGiB);
            return;
        }
        CHECK(pool.capacity.value == fact["sizes"][i]);
        CHECK(pool.usable.value == fact["usable"][i]);
        CHECK(pool.usable_rule == fact["rule"]);
        for (const char* name : {"without_entitlement", "cpu_only"}) {
            const device::UsableVariant* v = pool.variant(name);
            REQUIRE((v != nullptr) == fact.contains(name));
            if (v) CHECK(v->usable.value == fact[name][i]);
        }
        const json gtt =
            fact.value("linux_gtt", json::object()).value(std::to_string(pool.capacity.value), json());
        REQUIRE((pool.variant("linux_gtt") != nullptr) == !gtt.is_null());
        if (!gtt.is_null()) CHECK(pool.variant("linux_gtt")->usable.value == gtt);
        ++checked;
    });
    CHECK(checked == 229);
}

TEST_CASE("rates of processors equal the facts", "[devices]") {
    // The facts count the tensor cores of these GPUs once more as an NPU, alone ...
    const std::set<std::string> gpu_again{"jetson-orin-nano-8gb", "jetson-orin-nano-super", "jetson-agx-thor",
                                          "nvidia-drive-thor-u", "dgx-spark-gb10"};
    // ... or together with a fixed-function accelerator, which stands for itself here.
    const std::map<std::string, double> accelerator_alone{
        {"jetson-orin-nx-16gb", 20}, {"jetson-agx-orin-64gb", 52.5}, {"nvidia-drive-orin-x", 42}};
    for_each_size([&](const std::string& id, const json& fact, std::size_t, const device::Device& d) {
        INFO(id);
        using P = device::Processor;
        if (fact.contains("cpu") && id != "hailo-10h") {  // the module's host may be anything
            check_rate(d, ProcessorKind::cpu, &P::fp32, fact["cpu"][0], 1e9);
            check_rate(d, ProcessorKind::cpu, &P::int8, fact["cpu"][1], 1e9);
        }
        REQUIRE((d.processor(ProcessorKind::gpu) != nullptr) == fact.contains("gpu"));
        if (fact.contains("gpu")) {
            check_rate(d, ProcessorKind::gpu, &P::fp32, fact["gpu"][0], 1e12);
            check_rate(d, ProcessorKind::gpu, &P::fp16, fact["gpu"][1], 1e12);
            check_rate(d, ProcessorKind::gpu, &P::int8, fact["gpu"][2], 1e12);
        }
        if (gpu_again.count(id)) {
            CHECK(d.processor(ProcessorKind::npu) == nullptr);
            check_rate(d, ProcessorKind::gpu, &P::int8, fact["npu"][0], 1e12);
            check_rate(d, ProcessorKind::gpu, &P::int4, fact["npu"][1], 1e12);
        } else if (accelerator_alone.count(id)) {
            check_rate(d, ProcessorKind::npu, &P::int8, accelerator_alone.at(id), 1e12);
            CHECK(d.processor(ProcessorKind::npu)->int8.value + d.processor(ProcessorKind::gpu)->int8.value ==
                  Approx(fact["npu"][0].get<double>() * 1e12));
        } else if (fact.contains("npu")) {
            check_rate(d, ProcessorKind::npu, &P::int8, fact["npu"][0], 1e12);
            check_rate(d, ProcessorKind::npu, &P::int4, fact["npu"][1], 1e12);
        }
    });
}

TEST_CASE("every class of the facts is on the processor it speaks of", "[devices]") {
    for_each_size([&](const std::string& id, const json& fact, std::size_t, const device::Device& d) {
        INFO(id);
        std::set<std::string> want(fact["classes"].begin(), fact["classes"].end()), have;
        // One prior covers the NPUs of phones and laptops; the facts name it for phones only.
        if (want.count("pc_igpu")) want.insert("phone_npu");
        for (const device::Processor& p : d.processors) {
            if (p.efficiency_class.empty()) continue;
            CHECK(efficiency_class(p.efficiency_class, "").kind == p.kind);
            have.insert(p.efficiency_class);
        }
        CHECK(have == want);
    });
}

TEST_CASE("power, storage, link and heat equal the facts", "[devices]") {
    for_each_size([&](const std::string& id, const json& fact, std::size_t, const device::Device& d) {
        INFO(id);
        CHECK(d.max_power.value == Approx(number(fact["power"][0], 1)));
        CHECK(d.sustained_power.value == Approx(number(fact["power"][1], 1)));
        CHECK(d.storage.read.value == Approx(number(fact["storage"][0], 1e9)));
        CHECK(d.storage.interface_limit.value == Approx(number(fact["storage"][1], 1e9)));
        CHECK((d.link ? d.link->bandwidth.value : 0) == Approx(number(fact["link"], 1e9)));
        // Cards and modules keep their share by rule, not for an operating system.
        if (fact["pool"] == "ram")
            CHECK(d.os_reserved.as_double() ==
                  Approx(number(fact["os_reserved_gib"], 1073741824.0)).epsilon(1e-8));
        // The A19 Pro's was published after the facts were compiled (10 minutes on an iPhone 17 Pro).
        if (id == "apple-a19-pro")
            CHECK(d.sustained_fraction == Approx((0.38 + 0.48) / 2));
        else
            CHECK(d.sustained_fraction == number(fact["sustained_fraction"], 1));
    });
}

TEST_CASE("every number says where it comes from", "[devices]") {
    for_each_size([&](const std::string& id, const json&, std::size_t, const device::Device& d) {
        INFO(id);
        const auto has = [&](const std::string& field) { return d.sources.count(field) == 1; };
        CHECK(has("year"));
        CHECK(has(d.pools.front().name));
        CHECK(has("bandwidth"));
        CHECK(has("measured_bandwidth") == (d.pools.front().measured_bandwidth.value > 0));
        CHECK(has("link") == d.link.has_value());
        CHECK(has("storage") == (d.storage.read.value > 0));
        CHECK(has("power") == (d.max_power.value > 0 || d.sustained_power.value > 0));
        CHECK(has("sustained_fraction") == (d.sustained_fraction > 0));
        CHECK(has("energy_per_gb_read") == (d.energy_per_gb_read > 0));
        for (const device::Processor& p : d.processors) {
            if (!p.isa.empty()) CHECK(has("isa"));
            if (p.max_allocation.value) CHECK(has("max_allocation"));
            if (p.max_session.value) CHECK(has("max_session"));
        }
    });
}

TEST_CASE("products resolve to their device in the sizes that were sold", "[devices]") {
    const json products = load("products.json")["products"];
    CHECK(list_products().size() == products.size());
    for (const Product& product : list_products()) {
        INFO(product.alias);
        const json& row = products.at(product.alias);
        CHECK(product.device == row[0]);
        REQUIRE(product.sizes.size() == row.size() - 1);
        for (std::size_t i = 0; i < product.sizes.size(); ++i) {
            const std::string gigabytes = std::to_string(row[i + 1].get<int>());
            const device::Device d = resolve_device(product.alias + ":" + gigabytes);
            CHECK(d.id == product.alias);
            CHECK(d.pools.front().capacity.value == row[i + 1].get<std::int64_t>() * kGiB);
            CHECK(d.pools.front().usable ==
                  resolve_device(product.device + ":" + gigabytes).pools.front().usable);
        }
    }
    CHECK(resolve_device("iphone-16-pro").name == "iPhone 16 Pro (A18 Pro)");
}

TEST_CASE("memory sizes are meant as printed on the box", "[devices]") {
    for (const char* same : {"raspberry-pi-5:8GiB", "raspberry-pi-5:8GB", "raspberry-pi-5:8",
                             "raspberry-pi-5:8gb", "Raspberry Pi 5:8", "raspberry_pi_5:8GiB"}) {
        INFO(same);
        CHECK(resolve_device(same).pools.front().capacity.value == 8 * kGiB);
    }
    CHECK(resolve_device("esp32-s3-8mb").pools.front().capacity.value == 8 * kMiB);
}

TEST_CASE("a name that is not enough is refused with what would be", "[devices]") {
    CHECK_THROWS_WITH(
        resolve_device("raspberry-pi-5"),
        "--device: 'raspberry-pi-5' has no memory size; expected 2GiB, 4GiB, 8GiB or 16GiB after a "
        "colon; such as raspberry-pi-5:16GiB");
    CHECK_THROWS_WITH(
        resolve_device("raspberry-pi-5:32"),
        "--device: 'raspberry-pi-5' has no 32GiB version; expected 2GiB, 4GiB, 8GiB or 16GiB; --set "
        "device.ram=SIZE asks what another size would do");
    CHECK_THROWS_WITH(resolve_device("galaxy-s25-ultra"), Catch::Contains("12GiB or 16GiB after a colon"));
    CHECK_THROWS_WITH(resolve_device("iphone-16-pro:12"),
                      Catch::Contains("has no 12GiB version; expected 8GiB"));
    CHECK_THROWS_WITH(resolve_device("horizon-journey-5"),
                      Catch::Contains("such as horizon-journey-5:16GiB"));
    CHECK_THROWS_WITH(resolve_device("rasberry-pi5"), Catch::Contains("did you mean raspberry-pi-5"));
    CHECK_THROWS_WITH(resolve_device("pixel-9-por"), Catch::Contains("did you mean pixel-9-pro"));
    CHECK_THROWS_WITH(resolve_device("zx-spectrum"), !Catch::Contains("did you mean"));
    for (const char* bad : {"", ":", ":8GiB", "raspberry-pi-5:", "raspberry-pi-5:huge", "raspberry-pi-5:-8",
                            "raspberry-pi-5:8GiB:8GiB", "../products", "raspberry-pi-5:1e300"}) {
        INFO(bad);
        CHECK_THROWS_AS(resolve_device(bad), Error);
    }
}

TEST_CASE("published limits of phones and Macs", "[devices]") {
    // https://github.com/a-ghorbani/pocketpal-ai/pull/651: iPhone 13 Pro, 3.12 GB without the
    // entitlement, 4.2 with.
    const device::Pool iphone = resolve_device("iphone-13-pro").pools.front();
    CHECK(iphone.usable.as_double() / kGiB == Approx(4.2).epsilon(0.01));
    CHECK(iphone.variant("without_entitlement")->usable.as_double() / kGiB == Approx(3.12).epsilon(0.01));

    // https://github.com/DenisovAV/flutter_gemma/issues/132: a 3.14 GB file cannot be mapped on an iPhone 15
    // Pro, which has the memory for it.
    const device::Pool pro = resolve_device("iphone-15-pro").pools.front();
    CHECK(pro.usable.value > 3'140'000'000);
    CHECK(pro.max_mapping.value < 3'140'000'000);

    // https://github.com/ggml-org/llama.cpp/pull/2011 and issues/5207: the GPU of a 32 GB Mac may wire
    // 21845.34 MiB, that of an 8 GB one 5461.34 MiB.
    CHECK(resolve_device("apple-m1-max:32").pools.front().usable.as_double() / kMiB ==
          Approx(21845.34).epsilon(1e-6));
    CHECK(resolve_device("macbook-air-m2:8").pools.front().usable.as_double() / kMiB ==
          Approx(5461.34).epsilon(3e-6));

    // https://github.com/Vali-98/ChatterUI/issues/127: a 2.0 GB file with its cache pages itself to death on
    // a 4 GB Android phone.
    const device::Device phone = resolve_device("ram=4GiB,os=android");
    CHECK(device::budget_bytes(phone.pools.front(), ProcessorKind::cpu, Bytes(0)).value <
          2'000'000'000 + 224 * kMiB);
}

TEST_CASE("a CPU may use what a driver does not share with the GPU", "[devices]") {
    const device::Pool pool = resolve_device("intel-lunar-lake:32").pools.front();
    CHECK(device::usable_bytes(pool, ProcessorKind::cpu).value == 28 * kGiB);
    CHECK(device::usable_bytes(pool, ProcessorKind::gpu) == pool.usable);
    CHECK(device::budget_bytes(pool, ProcessorKind::cpu, Bytes(kGiB)).value == 27 * kGiB);
    CHECK(device::budget_bytes(pool, ProcessorKind::gpu, Bytes(64 * kGiB)).value == 0);
}

TEST_CASE("a note says what an entitlement is worth", "[devices]") {
    const device::Device d = resolve_device("iphone-16-pro");
    const std::string note =
        "ram: 6.00 GiB usable; the app needs the entitlement "
        "com.apple.developer.kernel.increased-memory-limit; 3.00 GiB without the entitlement";
    CHECK(std::count(d.notes.begin(), d.notes.end(), note) == 1);
}

TEST_CASE("rules have words and sources, and every device's rule exists", "[devices]") {
    CHECK(usable_rule_names().size() == 12);
    for (const std::string& name : usable_rule_names()) {
        INFO(name);
        const UsableRule& rule = *find_usable_rule(name);
        CHECK(rule.text.size() > 40);
        CHECK_FALSE(rule.sources.empty());
        CHECK_FALSE(rule.share.steps.empty());
    }
    for (const EfficiencyClass& c : efficiency_classes())
        CHECK(find_usable_rule(std::string(c.usable_rule)) != nullptr);
}

TEST_CASE("instruction sets decide repacking, so the boards that differ are told apart", "[devices]") {
    const auto isa = [](const char* id) { return resolve_device(id).processor(ProcessorKind::cpu)->isa; };
    CHECK(isa("raspberry-pi-4:8") == std::vector<std::string>{"neon"});
    CHECK(isa("raspberry-pi-5:8") == std::vector<std::string>{"neon", "dotprod"});
    CHECK(isa("apple-m1:16") == std::vector<std::string>{"neon", "dotprod"});
    CHECK(isa("apple-m2:16") == std::vector<std::string>{"neon", "dotprod", "i8mm"});
    CHECK(isa("intel-n100:16") == std::vector<std::string>{"avx2", "avx_vnni"});
    CHECK(isa("amd-7840u:32")[1] == "avx512f");
}
