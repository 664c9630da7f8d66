// memwall calibrate, as a profile and as a command.
#include "kernels/calibrate.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "devices/device_yaml.h"
#include "devices/host.h"
#include "tests/catch.h"
#include "tests/cli/command.h"
#include "tests/devices/temporary_folder.h"

namespace memwall::kernels {
namespace {

device::ProbeResult result(const char* probe, const char* unit, int threads, double value, int unclean = 0) {
    return {probe,       unit,        threads, value,   value * 0.9, value * 1.1,
            value * 0.8, value * 1.2, 11,      unclean, 0,           "x"};
}

device::Calibration some_calibration() {
    device::Calibration c{"2026-11-30", "0.1.0", "Linux", "avx2", "huge", 2, 0, {}};
    c.results = {result("read", "B/s", 1, 20e9),   result("read", "B/s", 2, 35e9),
                 result("fp32", "ops/s", 1, 1e11), result("fp32", "ops/s", 2, 2e11),
                 result("int8", "ops/s", 2, 8e11), result("storage_buffered", "B/s", 1, 1.5e9)};
    return c;
}

TEST_CASE("A calibration replaces what was assumed", "[kernels]") {
    device::Device d = devices::describe_host();
    apply_calibration(d, some_calibration());
    CHECK(d.pools[0].bandwidth.value == 35e9);
    CHECK(d.pools[0].bandwidth_deviation == 0);
    CHECK(d.processors[0].fp32.value == 2e11);
    CHECK(d.processors[0].int8.value == 8e11);
    CHECK(d.processors[0].rate_deviation == 0);
    CHECK(d.processors[0].cores <= 2);
    CHECK(d.storage.read.value == 1.5e9);
    CHECK(d.source("bandwidth").starts_with("measured on this host"));
    CHECK(d.source("cpu.int8").starts_with("measured on this host"));
    CHECK(d.notes.empty());
    CHECK(d.confidence == "high");
    CHECK_FALSE(d.pools[0].variant("available_now"));

    const device::Device again = devices::read_device_yaml(devices::write_device_yaml(d), "host.yaml");
    CHECK(again == d);
}

TEST_CASE("A disturbed calibration says so", "[kernels]") {
    device::Device d = devices::describe_host();
    device::Calibration c = some_calibration();
    c.results[0].unclean = 3;
    apply_calibration(d, std::move(c));
    CHECK(d.confidence == "medium");
    REQUIRE(d.notes.size() == 1);
    CHECK(d.notes[0].starts_with("1 of 6 calibrated quantities rest on disturbed samples"));
}

TEST_CASE("Options out of range are refused before anything is measured", "[kernels]") {
    for (const double seconds : {0.0, -1.0, 1e9, std::nan("")})
        CHECK_THROWS_AS(calibrate({.threads = 1, .seconds = seconds, .storage = ""}), Error);
}

/// One line, naming the place.
void check_refused(const std::string& arguments, const std::string& start) {
    const test::Output run = test::run_memwall(arguments);
    INFO(arguments << ": " << run.err);
    CHECK(run.status == 2);
    CHECK(run.out.empty());
    CHECK(run.err.starts_with(start));
    CHECK(std::count(run.err.begin(), run.err.end(), '\n') == 1);
}

TEST_CASE("calibrate refuses what it cannot do in one line", "[cli]") {
    const TemporaryFolder folder;
    folder.write("file", "");
    const std::string to = " --output " + folder.path + "/host.yaml";
    check_refused("calibrate --threads 0" + to, "memwall: --threads");
    check_refused("calibrate --seconds 0" + to, "memwall: --seconds: 0");
    check_refused("calibrate --seconds soon" + to, "memwall: ");
    check_refused("calibrate --seconds 1 --storage " + folder.path + "/file" + to, "memwall: --storage: ");
    check_refused("calibrate --output " + folder.path, "memwall: --output: ");
    check_refused("calibrate --seconds 1 --storage " + folder.path + " --output " + folder.path + "/file/x",
                  "memwall: --output: cannot write");
}

TEST_CASE("A short real run writes a profile that plans are made with", "[cli]") {
    const TemporaryFolder folder;
    const test::Output run =
        test::run_memwall("calibrate --seconds 1 --threads 1 --json --storage " + folder.path, folder.path);
    INFO(run.err);
    REQUIRE(run.status == 0);
    const auto j = nlohmann::json::parse(run.out);
    CHECK(j["schema"] == "memwall/calibration/1");
    CHECK(j["profile"] == folder.path + "/memwall/host.yaml");
    for (const auto& r : j["results"]) {
        INFO(r.dump());
        CHECK(r["min"] > 0);
        CHECK(r["min"] <= r["low"]);
        CHECK(r["low"] <= r["median"]);
        CHECK(r["median"] <= r["high"]);
        CHECK(r["high"] <= r["max"]);
    }
    const auto value = [&](const char* probe) {
        for (const auto& r : j["results"])
            if (r["probe"] == probe) return r["median"].get<double>();
        return 0.0;
    };
    // Sanity of any machine there is: no memory is slower than 10 MB/s or faster than 100 TB/s.
    for (const char* probe : {"read", "copy", "triad", "storage_buffered", "load"}) {
        CHECK(value(probe) > 1e7);
        CHECK(value(probe) < 1e14);
    }
    CHECK(value("fp32") > 1e7);
    CHECK(value("int8") > 1e7);
    CHECK(value("barrier") < 1);

    const test::Output shown = test::run_memwall("devices show host --json", folder.path);
    REQUIRE(shown.status == 0);
    const auto device = nlohmann::json::parse(shown.out);
    CHECK(device["pools"][0]["bandwidth_bytes_per_second"].get<double>() == Approx(value("read")));
    CHECK(device["processors"][0]["fp32_per_second"].get<double>() == Approx(value("fp32")));

    const test::Output planned =
        test::run_memwall("plan qwen2.5-1.5b --quant Q4_K_M --device host", folder.path);
    CHECK(planned.status == 0);
    CHECK(planned.out.find("measured on this host") != std::string::npos);
    const test::Output from_file =
        test::run_memwall("plan qwen2.5-1.5b --quant Q4_K_M --device " + folder.path + "/memwall/host.yaml");
    CHECK(from_file.status == 0);
    CHECK(from_file.out.find("measured on this host") != std::string::npos);
}

}  // namespace
}  // namespace memwall::kernels
