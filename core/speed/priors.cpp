#include "core/speed/priors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "core/base/interval.h"

namespace memwall::speed {
namespace {

constexpr double kUnlimited = 1e30;  ///< a rate that never binds
constexpr int kCurrentYear = 2025;   ///< engines from here on share one overhead
constexpr double kNarrowBus = 60e9;

double square(double x) {
    return x * x;
}

}  // namespace

void PriorBook::add_class(const std::string& efficiency_class, const std::string& family_name, bool judged) {
    classes[efficiency_class] = {
        family_name, judged,
        intern(fmt::format("{} of class {}", judged ? "judged prior" : "prior", efficiency_class))};
}

const ClassPrior& PriorBook::classified(std::string_view efficiency_class) const {
    static const ClassPrior unknown{"pooled", true, "judged prior of an unknown class"};
    const auto it = classes.find(efficiency_class);
    return it == classes.end() ? unknown : it->second;
}

const FamilyPrior& PriorBook::family(const ClassPrior& c) const {
    static const FamilyPrior none;
    const auto it = families.find(c.family);
    return it == families.end() ? none : it->second;
}

Rates prior_rates(const PriorBook& book, const Traits& t) {
    const ClassPrior& c = book.classified(t.efficiency_class);
    const FamilyPrior& f = book.family(c);
    const bool cpu = t.kind == device::ProcessorKind::cpu;
    const bool gpu = t.kind == device::ProcessorKind::gpu;
    const double width = cpu ? std::pow(t.bandwidth / kNarrowBus, -book.cpu_width_exponent) : 1;
    const double age = gpu ? std::max(0, kCurrentYear - t.engine_year) : 0;
    const double issue = t.fp32 * (t.concurrent_int ? 2 : 1);

    Rates rates;
    RateVector& r = rates.central;
    r[weight_stream] = f.weights * width * t.bandwidth;
    r[kv_stream] = f.kv * (t.fused_attention ? 1 : book.unfused_kv) * t.bandwidth;
    r[layer_overhead] = f.layer_overhead * std::exp(book.overhead_per_year * age);
    r[expert_overhead] = r[layer_overhead] * book.expert_overhead;
    r[step_overhead] = book.served_overhead;
    r[dequantization] = issue > 0 && t.kind != device::ProcessorKind::npu
                            ? issue / (cpu ? book.cpu_flops_per_weight : book.gpu_flops_per_weight)
                            : kUnlimited;
    r[matrix_rate] = t.matrix_peak > 0 ? f.utilisation * t.matrix_peak : kUnlimited;
    r[attention_rate] = r[matrix_rate] * f.attention * (t.fused_attention ? 1 : book.unfused_attention);

    // Families differ in how alike their devices stream and multiply; overheads and attention vary alike in
    // all.
    const double judged = c.judged ? book.judged_spread : 1;
    for (std::size_t i = 0; i < rate_count; ++i) {
        const bool stream = i == weight_stream || i == dequantization;
        const double family = stream ? f.spread : i == matrix_rate ? f.prefill_spread : 1;
        rates.covariance[i][i] = square(book.spread[i] * judged * family);
    }
    // expert overhead is a multiple of the layer overhead, the attention rate a share of the matrix rate
    const auto follow = [&](Rate follower, Rate leader) {
        const double shared = rates.covariance[leader][leader];
        rates.covariance[follower][follower] += shared;
        rates.covariance[follower][leader] = rates.covariance[leader][follower] = shared;
    };
    follow(expert_overhead, layer_overhead);
    follow(attention_rate, matrix_rate);
    // A setup as a whole is fast or slow: all terms of a decode step move together.
    constexpr std::array<std::pair<Rate, int>, 5> decode_rates = {{{weight_stream, 1},
                                                                   {dequantization, 1},
                                                                   {kv_stream, 1},
                                                                   {layer_overhead, -1},
                                                                   {expert_overhead, -1}}};
    const double common = square(book.common_spread * judged * f.spread);
    for (const auto& [i, sign_i] : decode_rates)
        for (const auto& [j, sign_j] : decode_rates) rates.covariance[i][j] += common * sign_i * sign_j;
    return rates;
}

}  // namespace memwall::speed
