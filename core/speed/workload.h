// A model boiled down to the few sums that its speed depends on: prepared once, then any context, batch or
// machine is evaluated without touching the model again. Fixed size, no allocation, cheap to copy.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/speed/operators.h"
#include "core/speed/rates.h"

namespace memwall::speed {

/// Launches of a layer relative to a plain one of about 23 operators (norms, projections, rotations, cache
/// writes, attention, feed-forward, additions); a norm is two of them.
double layer_launches(int norms_beyond_two);

/// Matrices that are used together. Operations are those of one token.
struct MatrixSet {
    double bytes = 0;
    double simple_weights = 0;  ///< packed below 16 bits, one scale a block
    double nested_weights = 0;  ///< packed below 16 bits, scales packed too
    double split_weights = 0;   ///< packed below 16 bits, each value in two fields
    double ops = 0;
    double nested_ops = 0;  ///< of `ops`, fed by nested blocks
    double wide_ops = 0;    ///< of `ops`, in 16- or 32-bit arithmetic
};

struct Workload {
    static constexpr int kGroups = 6;  ///< more distinct windows or expert shapes than this are merged

    double layers = 0;         ///< in plain layers' worth of launches: more norms, more small operators
    double expert_layers = 0;  ///< with routed experts, in the same unit
    double stored_bytes = 0;   ///< all tensors: what a load reads
    double lookup_bytes = 0;   ///< rows of the embedding tables for one token
    MatrixSet body;            ///< read by every step, routed experts and head left out
    MatrixSet head;

    struct Experts
        : MatrixSet {  ///< bytes and weights of all of them, all layers; ops of the ones a token visits
        double count = 0, used = 0;
    };
    std::array<Experts, kGroups> experts{};
    int expert_groups = 0;

    struct Attention {
        double window = 0;        ///< 0 = all
        double ops_per_cell = 0;  ///< all layers of the group, one query and one cached token
        double heads = 0;         ///< query heads of all layers of the group
    };
    std::array<Attention, kGroups> attention{};
    int attention_groups = 0;

    /// Matrices that one step with `rows` tokens reads, with the operations of those tokens; `logit_rows` of
    /// them pass the head. Look-ups included.
    MatrixSet step(double rows, double logit_rows) const;
    double touched_bytes(double rows) const { return step(rows, rows).bytes; }
    /// Attention operations of `tokens` queries after `context` cached tokens, one sequence.
    double attention_ops(double tokens, double context) const;
    /// Scores of the same: one for each head, query and visible token.
    double attention_scores(double tokens, double context) const;
};

/// Throws Error when a tensor has no format. `formats` as for operators(); `activations` decides the
/// arithmetic that packed weights meet.
Workload prepare_workload(const model::Model& model, const std::vector<quant::Format>& formats,
                          Activations activations = Activations::automatic);

/// What the cache costs to read, given by whoever lays it out (core/memory): bytes a token and sequence for
/// each group of layers with the same window, and the state that recurrent layers read and write each step.
struct KvTraffic {
    struct Group {
        double bytes_per_token = 0;  ///< all layers of the group; scales and padding included
        std::int64_t window = 0;     ///< tokens read at most; 0 = all
    };
    std::array<Group, Workload::kGroups> groups{};
    int group_count = 0;
    double recurrent_bytes_per_sequence = 0;

    /// Adds to a group of the same window, or opens one (the last group takes what exceeds the array).
    void add(double bytes_per_token, std::int64_t window);
};

/// Cache bytes that one decode step of one sequence reads with `context` tokens in the cache; recurrent state
/// counts twice (read and written).
double kv_bytes_read(const KvTraffic& traffic, double context);

/// Traffic of a model with a plain cache of `bytes_per_value` (f16 = 2): for callers that have no memory
/// plan.
KvTraffic plain_traffic(const model::Model& model, double bytes_per_value = 2);

}  // namespace memwall::speed
