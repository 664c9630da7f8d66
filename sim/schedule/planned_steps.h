// Step times by the plan's own laws (core/speed), remembered so that a step costs a look-up a sequence.
//
// Alone, a prompt takes exactly what the plan says: its chunks are differences of the plan's prefill time.
// Decode rows that share a step with a prompt ride along: they add their matrix operations and their
// attention, but no second pass over the weights; such a step takes at least one pass. Sequences of different
// lengths add their own cache bytes and attention.
#pragma once

#include <cstdint>
#include <vector>

#include "core/plan/prepare.h"
#include "sim/schedule/step.h"

namespace memwall::sim {

/// Keys and values that live behind a link and are fetched in every step.
struct KvTier {
    double bandwidth = 0;  ///< bytes/s; 0 = they live beside the weights
    double latency = 0;    ///< seconds a step
    bool overlaps = true;  ///< fetched while the rest computes
};

class PlannedSteps : public StepExecutor {
  public:
    /// `taken_bandwidth`: bytes/s that a camera or display takes from the same memory. Throws Error when the
    /// plan has no speed, or is one that is not simulated (layers on two processors).
    PlannedSteps(const plan::Prepared& prepared, const plan::Knobs& knobs, const plan::Target& target,
                 double taken_bandwidth = 0, KvTier tier = {});
    StepCost run(StepWork& work) override;
    std::int64_t tokens_each() const override { return drafts_ + 1; }

    /// Seconds of one decode step of one sequence: the plan's.
    double decode_seconds(std::int64_t context);
    /// Seconds to compute `tokens` tokens after `cached` ones, alone.
    double prefill_seconds(std::int64_t tokens, std::int64_t cached);
    double acceptance() const { return acceptance_; }

  private:
    struct Rows {  // of a step with so many rows through the matrices
        double weight_bytes = 0, first = 0, matrix = 0, fixed = 0;
        bool known = false;
    };
    struct Cached {  // by tokens in the cache
        double kv_bytes = -1, attention_ops = 0, draft_kv_bytes = 0, draft_attention_ops = 0;
    };
    const Rows& rows(std::vector<Rows>& memo, std::int64_t n, const speed::Workload& work,
                     const speed::Machine& machine);
    const Cached& cached(std::int64_t context);
    double prompt_total(std::int64_t tokens, std::int64_t cached);
    double one_pass(std::int64_t rows) const;
    double draft_seconds(double sequences, double kv_bytes, double attention_ops);

    const plan::Prepared& prepared_;
    speed::Machine machine_, draft_machine_;
    speed::KvTraffic traffic_, draft_traffic_;
    std::int64_t micro_batch_, drafts_ = 0;
    double acceptance_ = 0, joules_per_byte_ = 0, watts_ = 0;
    KvTier tier_;
    std::vector<Rows> rows_, draft_rows_;
    std::vector<Cached> cached_;
};

}  // namespace memwall::sim
