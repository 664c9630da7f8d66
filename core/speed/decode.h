// Time of one step. Pure arithmetic on a Workload and a Machine: well under a microsecond, no allocation.
#pragma once

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

/// The terms of a step at their central values; they add up to the memory path, which `total` may exceed when
/// a roof binds.
struct TimeTerms {
    Seconds weights, kv, overhead, compute, dequantization, transfers;
    Interval<Seconds> total;
    Bound bound = Bound::bandwidth;
    Interval<PerSecond> per_second(double tokens = 1) const;
};

/// One token for each of settings.sequences, all at settings.context.
TimeTerms decode_step(const Workload& work, const Machine& machine, const KvTraffic& kv,
                      const SpeedSettings& settings);

/// `tokens` tokens a sequence in one pass after `context` cached ones, all with logits: verification of
/// drafts.
TimeTerms verification_step(const Workload& work, const Machine& machine, const KvTraffic& kv,
                            const SpeedSettings& settings, std::int64_t tokens);

/// The uncached part of the prompt in micro-batches (padded to the compiled length where the engine has one).
TimeTerms prefill(const Workload& work, const Machine& machine, const KvTraffic& kv,
                  const SpeedSettings& settings);

/// Decode time at `longer` over decode time at `shorter` tokens of context; the interval knows that both ends
/// share the machine.
Interval<double> context_slowdown(const Workload& work, const Machine& machine, const KvTraffic& kv,
                                  const SpeedSettings& settings, std::int64_t shorter, std::int64_t longer);

}  // namespace memwall::speed
