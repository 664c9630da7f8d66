// Step times by the plan's own laws (core/speed), remembered so that a step costs a look-up a sequence.
//
// Alone, a prompt takes exactly what the plan says: its chunks are differences of the plan's prefill time.
// Decode rows that share a step with a prompt ride along: they add their matrix operations and their
// attention, but no second pass over the weights; such a step takes at least one pass. Sequences of different
// lengths add their own cache bytes and attention. A draft model computes the prompt too. Layers and experts
// in host memory take their share of a decode step there, and come over the link for prompts; so does a
// cache.
#pragma once

#include <cstdint>
#include <vector>

#include "core/plan/placement.h"
#include "sim/schedule/step.h"

namespace memwall::sim {

/// Keys and values that live behind a link and are fetched in every step.
struct KvTier {
    double bandwidth = 0;  ///< bytes/s; 0 = they live beside the weights
    double latency = 0;    ///< seconds a step
    bool overlaps = true;  ///< fetched while the rest computes
};

/// What a plan leaves open.
struct StepConditions {
    double taken_bandwidth = 0;  ///< bytes/s that a camera or display takes from the same memory
    KvTier tier;
    double expert_skew = 0;  ///< Zipf exponent of how popular experts are; 0 = all alike, as plans count
};

/// Probabilities that a token visits each of `count` experts when it picks `used` different ones, the i-th
/// most popular with a weight of i^-skew; together they are `used`. Drawing without putting back has no
/// closed form: the usual one of exponential clocks, within 1 % of it in what batches visit.
std::vector<double> zipf_visits(std::int64_t count, double used, double skew);

class PlannedSteps : public StepExecutor {
  public:
    /// Throws Error when the plan has no speed.
    PlannedSteps(const plan::Prepared& prepared, const plan::Knobs& knobs, const plan::Target& target,
                 const StepConditions& conditions = {});
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
        double kv_bytes = -1, attention_ops = 0;
    };
    struct Attended {  // sum over the sequences of a step
        double kv_bytes = 0, attention_ops = 0;
    };
    struct Side {  // a model on a processor
        const speed::Workload* work = nullptr;
        speed::Machine machine;
        speed::KvTraffic traffic;
        std::int64_t tokens = 1;                  // of a sequence in a decode round
        std::vector<std::vector<double>> visits;  // of its experts, by group; empty = alike
        std::vector<Rows> rows;
        std::vector<Cached> cached;
    };
    struct Host {  // what a step has there, by rows
        plan::HostPart part;
        bool known = false;
    };
    static const Rows& rows(Side& side, std::int64_t n);
    static void attend(Side& side, std::int64_t context, Attended& sum);
    static double cache_seconds(const Side& side, const Attended& attended);
    static double round_seconds(Side& side, std::int64_t n, const Attended& attended);
    static double prompt_seconds(const Side& side, std::int64_t tokens, std::int64_t cached,
                                 std::int64_t micro_batch);
    double prompt_total(std::int64_t tokens, std::int64_t cached) const;
    double one_pass(std::int64_t rows) const;
    double with_host(double seconds, std::int64_t n, const Attended& on_host);
    const plan::HostPart& host_part(std::int64_t n);
    std::int64_t batches(std::int64_t tokens) const;

    const plan::Prepared& prepared_;
    const plan::Knobs knobs_;
    const plan::Target& target_;
    plan::Placement placement_;
    Side main_, draft_, host_;
    std::vector<Host> host_parts_;
    bool split_ = false;  // layers or experts in host memory
    double kv_link_ = 0;  // bytes/s of the link that the cache comes over; 0 = it does not
    std::int64_t drafts_ = 0;
    double acceptance_ = 0, joules_per_byte_ = 0, watts_ = 0;
    KvTier tier_;
};

}  // namespace memwall::sim
