// The law of one step: what it must move and compute, at which rates, and how its time answers to each rate.
// Used by the estimates, the calibration and the fit of the priors alike, so they cannot disagree.
//
//   t = max(weight bytes / w, packed weights / d, matrix ops / u)   weights streaming through the processor
//     + max(cache bytes / k, attention ops / a)                     attention over the cache
//     + layers o + expert layers x                                  launches, synchronisation, small
//     operators
//     + s                                                           what a server does beside the model
//
// The roofs stand inside the term they belong to: unpacking runs while weights stream, but not while
// attention runs or a kernel is launched.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace memwall::speed {

/// Indices into Rates.
enum Rate : std::uint8_t {
    weight_stream,    ///< w: bytes/s
    dequantization,   ///< d: weights/s unpacked from below 16 bits (of the nested-block kind)
    kv_stream,        ///< k: bytes/s
    layer_overhead,   ///< o: seconds a plain layer
    expert_overhead,  ///< x: seconds more in a layer with routed experts
    step_overhead,    ///< s: seconds a step for sampling, text and transport
    matrix_rate,      ///< u: ops/s
    attention_rate,   ///< a: ops/s
    rate_count
};

std::string_view rate_name(Rate rate);  ///< as in the data files

using RateVector = std::array<double, rate_count>;
using RateMatrix = std::array<RateVector, rate_count>;

/// Rates, log-normal: element i is central[i] exp(N(0, covariance[i][i])).
struct Rates {
    RateVector central{};
    RateMatrix covariance{};
};

struct StepLoad {
    double weight_bytes = 0;
    double packed_weights = 0;  ///< in nested-block equivalents
    double kv_bytes = 0;
    double layers = 0, expert_layers = 0;
    double steps = 0;  ///< 1 behind a server, 0 in a benchmark that only runs the model
    double matrix_ops = 0, attention_ops = 0;
};

/// The terms of a step in seconds.
struct StepTime {
    double weights = 0, unpacking = 0, matrix = 0;  ///< candidates of the first term; the largest counts
    double kv = 0, attention = 0;                   ///< candidates of the second
    double launch = 0, expert_launch = 0;           ///< layers o, expert layers x
    double beside = 0;                              ///< s
    Rate first = weight_stream;                     ///< the binding candidate of the first term
    Rate second = kv_stream;
    double seconds = 0;

    double overhead() const { return launch + expert_launch + beside; }
    /// d ln t / d ln rate.
    RateVector gradient() const;
};

StepTime step_time(const StepLoad& load, const RateVector& rates);

/// A prompt in micro-batches. While matrix products run the weights stream beside them, once a micro-batch:
///   t = max(matrix ops / u, weight bytes / w) + expanded bytes / w
///     + max(attention ops / a, cache bytes / k, score bytes / w),
/// not below  weight bytes / w + launches.
struct PrefillLoad {
    double matrix_ops = 0, attention_ops = 0;
    double weight_bytes = 0, kv_bytes = 0;  ///< over all micro-batches
    double score_bytes = 0;                 ///< scores that an unfused attention writes out and reads back
    double expanded_bytes = 0;              ///< written when packed weights are first turned into 16-bit ones
    double layers = 0, expert_layers = 0;   ///< launched over all micro-batches
};

struct PrefillTime {
    double matrix = 0, weights = 0;  ///< candidates of the first term
    double expansion = 0;
    double attention = 0, kv = 0, scores = 0;  ///< candidates of the last
    double launch = 0, expert_launch = 0;
    Rate first = matrix_rate, second = attention_rate;  ///< the binding ones
    bool launch_bound = false;
    double seconds = 0;

    RateVector gradient() const;
};

PrefillTime prefill_time(const PrefillLoad& load, const RateVector& rates);

/// gradient' covariance gradient: variance of ln t.
double log_variance(const RateMatrix& covariance, const RateVector& gradient);

}  // namespace memwall::speed
