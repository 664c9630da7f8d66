#include "core/speed/decode.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace memwall::speed {
namespace {

using Gradient = std::array<double, Machine::parameters>;

/// Memory path of a step and its derivative by the logarithms of the machine's parameters.
struct MemoryPath {
    double weights = 0, kv = 0, overhead = 0;
    double seconds() const { return weights + kv + overhead; }
    Gradient gradient() const {  // d ln t / d ln (e, k, o)
        const double t = seconds();
        return {-weights / t, -kv / t, overhead / t};
    }
};

double variance(const LogNormal<Machine::parameters>& p, const Gradient& g) {
    double sum = 0;
    for (std::size_t i = 0; i < g.size(); ++i)
        for (std::size_t j = 0; j < g.size(); ++j) sum += g[i] * g[j] * p.covariance[i][j];
    return sum;
}

MemoryPath memory_path(const Workload& work, const Machine& m, double weight_bytes, double kv_bytes) {
    MemoryPath path;
    path.weights = weight_bytes / m.weights_rate();
    path.kv = kv_bytes / m.kv_rate();
    path.overhead = (work.layers + m.expert_overhead * work.expert_layers) * m.overhead() + m.step_overhead;
    return path;
}

Interval<Seconds> spread(double central, double deviation, const Machine& m) {
    const double factor = std::exp(m.quantile * deviation);
    return {Seconds(central / factor), Seconds(central), Seconds(central * factor), m.level, m.basis};
}

/// A step of `rows` tokens whose attention costs `attention_ops`.
TimeTerms step(const Workload& work, const Machine& m, double rows, double logit_rows, double attention_ops,
               double kv_bytes) {
    const MemoryPath path = memory_path(work, m, work.touched_bytes(rows), kv_bytes);
    TimeTerms t;
    t.weights = Seconds(path.weights);
    t.kv = Seconds(path.kv);
    t.overhead = Seconds(path.overhead);
    const double attention_rate = m.compute * std::exp(m.prefill.mean[Machine::attention_utilisation]);
    if (m.compute > 0)
        t.compute =
            Seconds(work.matrix_ops(rows, logit_rows) / m.compute_rate() + attention_ops / attention_rate);
    if (m.dequantization_rate > 0)
        t.dequantization = Seconds(work.dequantized_weights(rows) / m.dequantization_rate);

    double central = path.seconds();
    double deviation = std::hypot(std::sqrt(variance(m.decode, path.gradient())), m.decode_noise);
    t.bound = path.overhead > path.weights + path.kv ? Bound::overhead : Bound::bandwidth;
    if (t.dequantization.value > central) {
        central = t.dequantization.value;
        deviation = std::hypot(m.dequantization_spread, m.decode_noise);
        t.bound = Bound::dequantization;
    }
    if (t.compute.value > central) {
        central = t.compute.value;
        deviation = std::hypot(std::sqrt(m.prefill.covariance[0][0]), m.prefill_noise);
        t.bound = Bound::compute;
    }
    t.total = spread(central, deviation, m);
    return t;
}

}  // namespace

std::string_view bound_name(Bound bound) {
    constexpr std::array<std::string_view, 5> names = {"bandwidth", "compute", "dequantization", "overhead",
                                                       "transfer"};
    return names[static_cast<std::size_t>(bound)];
}

Interval<PerSecond> TimeTerms::per_second(double tokens) const {
    return {PerSecond(tokens / total.high.value), PerSecond(tokens / total.central.value),
            PerSecond(tokens / total.low.value), total.level, total.basis};
}

TimeTerms decode_step(const Workload& work, const Machine& machine, const KvTraffic& kv,
                      const SpeedSettings& settings) {
    const auto b = static_cast<double>(settings.sequences), n = static_cast<double>(settings.context);
    return step(work, machine, b, b, b * work.attention_ops(1, n), b * kv_bytes_read(kv, n));
}

TimeTerms verification_step(const Workload& work, const Machine& machine, const KvTraffic& kv,
                            const SpeedSettings& settings, std::int64_t tokens) {
    const auto b = static_cast<double>(settings.sequences), n = static_cast<double>(settings.context);
    const auto g = static_cast<double>(tokens);
    return step(work, machine, b * g, b * g, b * work.attention_ops(g, n), b * kv_bytes_read(kv, n));
}

TimeTerms prefill(const Workload& work, const Machine& m, const KvTraffic& kv,
                  const SpeedSettings& settings) {
    TimeTerms sum;
    double deviation_weight = 0;
    double tokens = static_cast<double>(std::max<std::int64_t>(settings.prompt - settings.cached_prompt, 0));
    if (m.prompt_chunk > 0) {
        const auto chunk = static_cast<double>(m.prompt_chunk);
        tokens = std::ceil(tokens / chunk) * chunk;
    }
    const auto b = static_cast<double>(settings.sequences);
    const auto micro = static_cast<double>(std::max<std::int64_t>(settings.micro_batch, 1));
    const double matrix_rate = m.compute_rate();
    const double attention_rate = m.compute * std::exp(m.prefill.mean[Machine::attention_utilisation]);
    double central = 0;
    // Whole micro-batches differ in their context only; their costs are summed exactly, in closed form.
    const double all = b * tokens, steps = std::max(1.0, std::ceil(all / micro)), rows = all / steps;
    const double context = static_cast<double>(settings.cached_prompt);
    const double ops_seconds = work.matrix_ops(all, b) / matrix_rate;
    const double attention_seconds = b * work.attention_ops(tokens, context) / attention_rate;
    const double read = steps * work.touched_bytes(rows) / m.weights_rate();
    const double cache = steps * b * kv_bytes_read(kv, context + tokens / 2) / m.kv_rate();
    sum.compute = Seconds(ops_seconds + attention_seconds);
    sum.weights = Seconds(read);
    sum.kv = Seconds(cache);
    sum.overhead = Seconds(
        steps * ((work.layers + m.expert_overhead * work.expert_layers) * m.overhead() + m.step_overhead));
    const double memory = read + cache + sum.overhead.value;
    central = std::max(sum.compute.value, memory);
    sum.bound = sum.compute.value >= memory         ? Bound::compute
                : sum.overhead.value > read + cache ? Bound::overhead
                                                    : Bound::bandwidth;
    const double share = sum.compute.value > 0 ? attention_seconds / sum.compute.value : 0;
    const auto& c = m.prefill.covariance;
    deviation_weight =
        (1 - share) * (1 - share) * c[0][0] + share * share * c[1][1] + 2 * share * (1 - share) * c[0][1];
    sum.total = spread(central, std::hypot(std::sqrt(deviation_weight), m.prefill_noise), m);
    return sum;
}

Interval<double> context_slowdown(const Workload& work, const Machine& machine, const KvTraffic& kv,
                                  const SpeedSettings& settings, std::int64_t shorter, std::int64_t longer) {
    const auto b = static_cast<double>(settings.sequences);
    const double bytes = work.touched_bytes(b);
    const MemoryPath a =
        memory_path(work, machine, bytes, b * kv_bytes_read(kv, static_cast<double>(shorter)));
    const MemoryPath z =
        memory_path(work, machine, bytes, b * kv_bytes_read(kv, static_cast<double>(longer)));
    const Gradient ga = a.gradient(), gz = z.gradient();
    Gradient difference{};
    for (std::size_t i = 0; i < difference.size(); ++i) difference[i] = gz[i] - ga[i];
    const double central = z.seconds() / a.seconds();
    const double factor = std::exp(machine.quantile * std::sqrt(variance(machine.decode, difference)));
    return {central / factor, central, central * factor, machine.level, machine.basis};
}

}  // namespace memwall::speed
