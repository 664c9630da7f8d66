// Time of one step and of a prompt. Pure arithmetic on a Workload and a Machine: no allocation, well under a
// microsecond.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/base/interval.h"
#include "core/base/units.h"
#include "core/speed/machine.h"
#include "core/speed/workload.h"

namespace memwall::speed {

enum class Bound : std::uint8_t { bandwidth, compute, dequantization, overhead, transfer };
std::string_view bound_name(Bound bound);

/// One configuration's knobs; tokens are per sequence.
struct SpeedSettings {
    std::int64_t context = 4096;  ///< cached tokens when a decode step is timed
    std::int64_t sequences = 1;
    std::int64_t prompt = 512;       ///< tokens of a request
    std::int64_t cached_prompt = 0;  ///< of those, already in the cache
    std::int64_t generate = 128;     ///< output tokens of a request
    std::int64_t micro_batch = 512;
};

/// Central values of the terms (each at its own rate; the larger of competing ones counts) and the total.
struct TimeTerms {
    Seconds weights, kv, overhead, compute, dequantization, transfers;
    Interval<Seconds> total;
    Bound bound = Bound::bandwidth;
    /// `tokens` over the total.
    Interval<PerSecond> per_second(double tokens = 1) const;
};

/// Load of one step of `tokens` new tokens for each of settings.sequences at settings.context, all with
/// logits.
StepLoad step_load(const Workload& work, const Machine& machine, const KvTraffic& kv,
                   const SpeedSettings& settings, std::int64_t tokens = 1);
/// Load of the uncached part of the prompts, padded to the compiled length where the engine has one.
PrefillLoad prefill_load(const Workload& work, const Machine& machine, const KvTraffic& kv,
                         const SpeedSettings& settings);

/// One token for each of settings.sequences, all at settings.context.
TimeTerms decode_step(const Workload& work, const Machine& machine, const KvTraffic& kv,
                      const SpeedSettings& settings);

/// `tokens` tokens a sequence in one pass: verification of drafts.
TimeTerms verification_step(const Workload& work, const Machine& machine, const KvTraffic& kv,
                            const SpeedSettings& settings, std::int64_t tokens);

/// settings.sequences prompts in micro-batches.
TimeTerms prefill(const Workload& work, const Machine& machine, const KvTraffic& kv,
                  const SpeedSettings& settings);

/// A decode step without any cache: the whole context is computed again for each token.
TimeTerms decode_without_cache(const Workload& work, const Machine& machine, const KvTraffic& kv,
                               const SpeedSettings& settings);

/// Decode time at `longer` over decode time at `shorter` tokens of context; the interval knows that both ends
/// share the machine's rates.
Interval<double> context_slowdown(const Workload& work, const Machine& machine, const KvTraffic& kv,
                                  const SpeedSettings& settings, std::int64_t shorter, std::int64_t longer);

/// central / f .. central f with f = exp(quantile deviation).
Interval<Seconds> log_interval(double central, double deviation, double quantile, const Machine& machine);

}  // namespace memwall::speed
