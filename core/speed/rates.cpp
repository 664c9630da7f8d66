#include "core/speed/rates.h"

#include <algorithm>

namespace memwall::speed {

std::string_view rate_name(Rate rate) {
    constexpr std::array<std::string_view, rate_count> names = {
        "weight_stream",   "dequantization", "kv_stream",   "layer_overhead",
        "expert_overhead", "step_overhead",  "matrix_rate", "attention_rate"};
    return names[rate];
}

StepTime step_time(const StepLoad& load, const RateVector& r) {
    StepTime t;
    t.weights = load.weight_bytes / r[weight_stream];
    t.unpacking = load.packed_weights / r[dequantization];
    t.matrix = load.matrix_ops / r[matrix_rate];
    t.kv = load.kv_bytes / r[kv_stream];
    t.attention = load.attention_ops / r[attention_rate];
    t.launch = load.layers * r[layer_overhead];
    t.expert_launch = load.expert_layers * r[expert_overhead];
    t.beside = load.steps * r[step_overhead];
    double first = t.weights, second = t.kv;
    if (t.unpacking > first) first = t.unpacking, t.first = dequantization;
    if (t.matrix > first) first = t.matrix, t.first = matrix_rate;
    if (t.attention > second) second = t.attention, t.second = attention_rate;
    t.seconds = first + second + t.overhead();
    return t;
}

RateVector StepTime::gradient() const {
    RateVector g{};
    if (seconds <= 0) return g;
    const double cache = second == kv_stream ? kv : attention;
    g[first] = -(seconds - overhead() - cache) / seconds;
    g[second] = -cache / seconds;
    g[layer_overhead] = launch / seconds;
    g[expert_overhead] = expert_launch / seconds;
    g[step_overhead] = beside / seconds;
    return g;
}

PrefillTime prefill_time(const PrefillLoad& load, const RateVector& r) {
    PrefillTime t;
    t.matrix = load.matrix_ops / r[matrix_rate];
    t.weights = load.weight_bytes / r[weight_stream];
    t.expansion = load.expanded_bytes / r[weight_stream];
    t.attention = load.attention_ops / r[attention_rate];
    t.kv = load.kv_bytes / r[kv_stream];
    t.scores = load.score_bytes / r[weight_stream];
    t.launch = load.layers * r[layer_overhead];
    t.expert_launch = load.expert_layers * r[expert_overhead];
    if (t.weights > t.matrix) t.first = weight_stream;
    double second = t.attention;
    if (t.kv > second) second = t.kv, t.second = kv_stream;
    if (t.scores > second) second = t.scores, t.second = weight_stream;
    const double work = std::max(t.matrix, t.weights) + t.expansion + second;
    const double launches = t.weights + t.launch + t.expert_launch;
    t.launch_bound = launches > work;
    t.seconds = std::max(work, launches);
    return t;
}

RateVector PrefillTime::gradient() const {
    RateVector g{};
    if (seconds <= 0) return g;
    if (launch_bound) {
        g[weight_stream] = -weights / seconds;
        g[layer_overhead] = launch / seconds;
        g[expert_overhead] = expert_launch / seconds;
    } else {
        g[first] = -std::max(matrix, weights) / seconds;
        g[weight_stream] -= expansion / seconds;
        g[second] -= std::max({attention, kv, scores}) / seconds;
    }
    return g;
}

double log_variance(const RateMatrix& covariance, const RateVector& gradient) {
    double sum = 0;
    for (std::size_t i = 0; i < rate_count; ++i)
        for (std::size_t j = 0; j < rate_count; ++j) sum += gradient[i] * covariance[i][j] * gradient[j];
    return sum;
}

}  // namespace memwall::speed
