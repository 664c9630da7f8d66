#include "core/speed/calibrate.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

namespace memwall::speed {
namespace {

/// Runs are trusted more than the law's scatter between models suggests: they are of this very machine.
constexpr double kReading = 0.25;

/// ln t at the rates, its gradient and what was measured.
struct Reading {
    double predicted, measured, noise;
    RateVector gradient;
};

std::vector<Reading> read(const Machine& m, std::span<const MeasuredRun> runs) {
    std::vector<Reading> out;
    for (const MeasuredRun& run : runs) {
        const auto b = static_cast<double>(run.settings.sequences);
        if (run.decode_per_second > 0) {
            const StepTime t = step_time(step_load(run.work, m, run.kv, run.settings), m.rates.central);
            out.push_back(
                {std::log(t.seconds), std::log(b / run.decode_per_second), kReading * m.noise, t.gradient()});
        }
        if (run.prefill_per_second > 0) {
            const PrefillTime t =
                prefill_time(prefill_load(run.work, m, run.kv, run.settings), m.rates.central);
            const double tokens = b * static_cast<double>(run.settings.prompt - run.settings.cached_prompt);
            out.push_back({std::log(t.seconds), std::log(tokens / run.prefill_per_second),
                           kReading * m.prefill_noise, t.gradient()});
        }
    }
    return out;
}

double dot(const RateVector& a, const RateVector& b) {
    double sum = 0;
    for (std::size_t i = 0; i < rate_count; ++i) sum += a[i] * b[i];
    return sum;
}

/// One scalar reading into the normal (x, p): Kalman's update, no matrix to invert.
void update(RateVector& x, RateMatrix& p, const RateVector& gradient, double innovation, double noise) {
    RateVector pg{};
    for (std::size_t i = 0; i < rate_count; ++i) pg[i] = dot(p[i], gradient);
    const double scale = 1 / (dot(pg, gradient) + noise * noise);
    for (std::size_t i = 0; i < rate_count; ++i) {
        x[i] += pg[i] * scale * innovation;
        for (std::size_t j = 0; j < rate_count; ++j) p[i][j] -= pg[i] * pg[j] * scale;
    }
}

}  // namespace

void calibrate(Machine& machine, std::span<const MeasuredRun> runs, std::string_view basis) {
    const Rates prior = machine.rates;
    RateVector offset{};  // of the logarithms from the prior's centre
    RateMatrix covariance = prior.covariance;
    std::size_t readings = 0;
    for (int round = 0; round < 20; ++round) {
        const RateVector around = offset;
        const std::vector<Reading> list = read(machine, runs);
        readings = list.size();
        offset = {};
        covariance = prior.covariance;
        for (const Reading& r : list) {
            RateVector moved{};
            for (std::size_t i = 0; i < rate_count; ++i) moved[i] = offset[i] - around[i];
            update(offset, covariance, r.gradient, r.measured - r.predicted - dot(r.gradient, moved),
                   r.noise);
        }
        double change = 0;
        for (std::size_t i = 0; i < rate_count; ++i) {
            // Half steps: which term binds may change under way.
            offset[i] = (offset[i] + around[i]) / 2;
            machine.rates.central[i] = prior.central[i] * std::exp(offset[i]);
            change = std::max(change, std::abs(offset[i] - around[i]));
        }
        if (change < 1e-6) break;
    }
    if (readings == 0) return;
    machine.rates.covariance = covariance;
    const std::size_t n = runs.size();
    machine.basis = !basis.empty() ? intern(std::string(basis))
                    : n == 1       ? "one run"
                    : n == 2       ? "two runs"
                                   : intern(fmt::format("{} runs", n));
}

}  // namespace memwall::speed
