// A device that was calibrated: rates follow what was read, not a data sheet.
#include <cmath>

#include "core/device/calibration.h"
#include "core/speed/machine.h"
#include "tests/catch.h"

using namespace memwall;
using namespace memwall::speed;

namespace {

constexpr auto kCpu = device::ProcessorKind::cpu;

/// Eight cores, of which one reads 10 GB/s and all together 35.
device::Device host() {
    device::Device d;
    d.pools.emplace_back().name = "ram";
    d.pools[0].bandwidth = BytesPerSecond(35e9);
    device::Processor& cpu = d.processors.emplace_back();
    cpu.efficiency_class = "pc_cpu";
    cpu.cores = 8;
    cpu.fp32 = OpsPerSecond(8e11);
    cpu.int8 = OpsPerSecond(4e12);
    cpu.pool = "ram";
    return d;
}

device::Device calibrated() {
    device::Device d = host();
    d.calibration.emplace();
    for (const auto& [threads, rate] : {std::pair(1, 10e9), {2, 19e9}, {4, 34e9}, {8, 35e9}})
        d.calibration->results.push_back(
            {"read", "B/s", threads, rate, rate, rate, rate, rate, 11, 0, 0, ""});
    return d;
}

double weights_at(const device::Device& d, int threads) {
    return machine_for(d, kCpu, {}, {.threads = threads, .power_cap = 0}).weights_rate();
}

}  // namespace

TEST_CASE("threads read what a core reaches, up to what the socket reaches", "[speed]") {
    const device::Calibration c = *calibrated().calibration;
    CHECK(c.read_bandwidth(1).value == 10e9);
    CHECK(c.read_bandwidth(3).value == 30e9);
    CHECK(c.read_bandwidth(4).value == 35e9);
    CHECK(c.read_bandwidth(8).value == 35e9);
    CHECK(c.read_bandwidth(64).value == 35e9);
    CHECK(device::Calibration{}.read_bandwidth(4).value == 0);
    CHECK(c.widest("read")->threads == 8);
    CHECK(c.find("read", 3) == nullptr);

    const device::Device d = calibrated();
    CHECK(weights_at(d, 1) == Approx(kShareOfMeasured * 10e9));
    CHECK(weights_at(d, 3) == Approx(kShareOfMeasured * 30e9));
    CHECK(weights_at(d, 0) == Approx(kShareOfMeasured * 35e9));
    CHECK(weights_at(d, 8) == weights_at(d, 0));
}

TEST_CASE("a measured machine is known better than one of its class, a guessed one worse", "[speed]") {
    const Machine measured = machine_for(calibrated(), kCpu), of_class = machine_for(host(), kCpu);
    device::Device guess = host();
    guess.pools[0].bandwidth_deviation = 0.4;
    guess.processors[0].rate_deviation = 0.3;
    const Machine guessed = machine_for(guess, kCpu);
    const auto deviation = [](const Machine& m, Rate r) { return std::sqrt(m.rates.covariance[r][r]); };
    CHECK(deviation(measured, weight_stream) == Approx(kShareDeviation));
    CHECK(deviation(measured, weight_stream) < deviation(of_class, weight_stream));
    for (const Rate r : {weight_stream, kv_stream})
        CHECK(guessed.rates.covariance[r][r] == Approx(of_class.rates.covariance[r][r] + 0.16));
    for (const Rate r : {dequantization, matrix_rate, attention_rate})
        CHECK(guessed.rates.covariance[r][r] == Approx(of_class.rates.covariance[r][r] + 0.09));
    CHECK(guessed.rates.central == of_class.rates.central);
    CHECK(std::string(measured.basis).starts_with("measured on this host"));
    CHECK(measured.bandwidth == 35e9);
    // The cache rate keeps its ratio to the weight rate.
    CHECK(measured.kv_rate() / measured.weights_rate() ==
          Approx(of_class.kv_rate() / of_class.weights_rate()));
}
