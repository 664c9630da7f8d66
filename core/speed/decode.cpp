#include "core/speed/decode.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace memwall::speed {
namespace {

Bound bound_of(const StepTime& t) {
    if (t.overhead() > t.seconds / 2) return Bound::overhead;
    const double first = std::max({t.weights, t.unpacking, t.matrix}), second = std::max(t.kv, t.attention);
    const Rate rate = second > first ? t.second : t.first;
    if (rate == dequantization) return Bound::dequantization;
    return rate == matrix_rate || rate == attention_rate ? Bound::compute : Bound::bandwidth;
}

TimeTerms step_terms(const StepLoad& load, const Machine& m) {
    const StepTime t = step_time(load, m.rates.central);
    TimeTerms terms;
    terms.weights = Seconds(t.weights);
    terms.kv = Seconds(t.kv);
    terms.overhead = Seconds(t.overhead());
    terms.compute = Seconds(t.matrix + t.attention);
    terms.dequantization = Seconds(t.unpacking);
    const double variance = log_variance(m.rates.covariance, t.gradient()) + m.noise * m.noise;
    terms.total = log_interval(t.seconds, std::sqrt(variance), m.quantile, m);
    terms.bound = bound_of(t);
    return terms;
}

/// Operations in units of the rate that the utilisation describes.
double weighted_ops(const MatrixSet& set, const Machine& m) {
    return set.ops + set.nested_ops * (m.nested_matrix_cost - 1) + set.wide_ops * (m.wide_matrix_cost - 1);
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

Interval<Seconds> log_interval(double central, double deviation, double quantile, const Machine& m) {
    const double factor = std::exp(quantile * deviation);
    return {Seconds(central / factor), Seconds(central), Seconds(central * factor), m.level, m.basis};
}

/// Without a fused kernel every query head reads the keys and values of its group again: one 16-bit value for
/// each multiply-add. (Published curves: half the cache rate with 8 query heads a group as with 4.)
double cache_bytes(const Machine& m, double stored, double attention_ops) {
    return m.fused_attention ? stored : std::max(stored, attention_ops);
}

StepLoad step_load(const Workload& work, const Machine& m, const KvTraffic& kv, const SpeedSettings& settings,
                   std::int64_t tokens) {
    const auto b = static_cast<double>(settings.sequences), n = static_cast<double>(settings.context);
    const auto g = static_cast<double>(tokens);
    const MatrixSet set = work.step(b * g, b * g);
    return {.weight_bytes = set.bytes,
            .packed_weights = set.nested_weights + set.simple_weights * m.simple_block_cost +
                              set.split_weights * m.split_field_cost,
            .kv_bytes = b * cache_bytes(m, kv_bytes_read(kv, n), work.attention_ops(1, n)),
            .layers = work.layers,
            .expert_layers = work.expert_layers,
            .steps = m.served ? 1.0 : 0.0,
            .matrix_ops = weighted_ops(set, m),
            .attention_ops = b * work.attention_ops(g, n)};
}

PrefillLoad prefill_load(const Workload& work, const Machine& m, const KvTraffic& kv,
                         const SpeedSettings& settings) {
    const auto b = static_cast<double>(settings.sequences);
    double tokens = static_cast<double>(std::max<std::int64_t>(settings.prompt - settings.cached_prompt, 0));
    if (m.prompt_chunk > 0) {
        const auto chunk = static_cast<double>(m.prompt_chunk);
        tokens = std::ceil(tokens / chunk) * chunk;
    }
    const auto micro_batch = static_cast<double>(std::max<std::int64_t>(settings.micro_batch, 1));
    const double rows = b * tokens, steps = std::ceil(rows / micro_batch);
    if (rows <= 0) return {};
    const auto cached = static_cast<double>(settings.cached_prompt);
    const MatrixSet step = work.step(rows / steps, 0), all = work.step(rows, b);
    const double expansion =
        m.expands_weights ? 2 * (step.simple_weights + step.nested_weights + step.split_weights) : 0;
    return {.matrix_ops = weighted_ops(all, m),
            .attention_ops = b * work.attention_ops(tokens, cached),
            .weight_bytes = steps * step.bytes,
            .kv_bytes = steps * b * kv_bytes_read(kv, cached + tokens / 2),
            .score_bytes = b * work.attention_scores(tokens, cached) * m.score_bytes,
            .expanded_bytes = steps * expansion,
            .layers = steps * work.layers,
            .expert_layers = steps * work.expert_layers};
}

TimeTerms decode_step(const Workload& work, const Machine& machine, const KvTraffic& kv,
                      const SpeedSettings& settings) {
    return step_terms(step_load(work, machine, kv, settings), machine);
}

TimeTerms verification_step(const Workload& work, const Machine& machine, const KvTraffic& kv,
                            const SpeedSettings& settings, std::int64_t tokens) {
    return step_terms(step_load(work, machine, kv, settings, tokens), machine);
}

TimeTerms prefill(const Workload& work, const Machine& m, const KvTraffic& kv,
                  const SpeedSettings& settings) {
    const PrefillTime t = prefill_time(prefill_load(work, m, kv, settings), m.rates.central);
    TimeTerms terms;
    terms.weights = Seconds(t.weights);
    terms.kv = Seconds(t.kv);
    terms.overhead = Seconds(t.launch + t.expert_launch);
    terms.compute = Seconds(t.matrix + t.attention);
    const double variance =
        log_variance(m.rates.covariance, t.gradient()) + m.prefill_noise * m.prefill_noise;
    terms.total = log_interval(t.seconds, std::sqrt(variance), m.prefill_quantile, m);
    terms.bound = t.launch_bound             ? Bound::overhead
                  : t.first == weight_stream ? Bound::bandwidth
                                             : Bound::compute;
    return terms;
}

TimeTerms decode_without_cache(const Workload& work, const Machine& machine, const KvTraffic& kv,
                               const SpeedSettings& settings) {
    SpeedSettings again = settings;
    again.prompt = settings.context + 1;
    again.cached_prompt = 0;
    return prefill(work, machine, kv, again);
}

Interval<double> context_slowdown(const Workload& work, const Machine& m, const KvTraffic& kv,
                                  const SpeedSettings& settings, std::int64_t shorter, std::int64_t longer) {
    const auto at = [&](std::int64_t context) {
        SpeedSettings s = settings;
        s.context = context;
        return step_time(step_load(work, m, kv, s), m.rates.central);
    };
    const StepTime a = at(shorter), z = at(longer);
    const RateVector ga = a.gradient(), gz = z.gradient();
    RateVector difference{};
    for (std::size_t i = 0; i < rate_count; ++i) difference[i] = gz[i] - ga[i];
    const double central = z.seconds / a.seconds;
    const double factor = std::exp(m.quantile * std::sqrt(log_variance(m.rates.covariance, difference)));
    return {central / factor, central, central * factor, m.level, m.basis};
}

}  // namespace memwall::speed
