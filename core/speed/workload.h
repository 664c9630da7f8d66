// A model boiled down to the few sums that its speed depends on: prepared once, then any context, batch or
// machine is evaluated without touching the model again. Fixed size, no allocation, cheap to copy.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/base/units.h"
#include "core/speed/operators.h"

namespace memwall::speed {

struct Workload {
    static constexpr int kGroups = 6;  ///< more distinct windows or expert shapes than this are merged

    int layers = 0;
    int expert_layers = 0;
    double stored_bytes = 0;       ///< all tensors of the text model: what a load reads
    double dense_bytes = 0;        ///< read by every step: everything but routed experts and look-up tables
    double embedding_bytes = 0;    ///< look-ups of one token
    double dequantized_dense = 0;  ///< weights below 16 bits in dense_bytes
    double body_ops = 0;           ///< matrix operations of one token without head and routed experts
    double head_ops = 0;           ///< matrix operations of one row of logits
    double half_ops = 0;  ///< part of body_ops + routed experts whose weights are stored in 16 or 32 bits
    double hidden = 0;    ///< width of the residual stream

    struct Experts {
        double count = 0, used = 0;
        double bytes = 0;        ///< all of them, all layers
        double dequantized = 0;  ///< weights below 16 bits in `bytes`
        double ops = 0;          ///< per token
    };
    std::array<Experts, kGroups> experts{};
    int expert_groups = 0;

    struct Attention {
        double window = 0;        ///< 0 = all
        double ops_per_cell = 0;  ///< all layers of the group, one query and one cached token
    };
    std::array<Attention, kGroups> attention{};
    int attention_groups = 0;

    /// Weight bytes that one step with `rows` tokens reads.
    double touched_bytes(double rows) const;
    /// Weights that such a step decodes from below 16 bits.
    double dequantized_weights(double rows) const;
    /// Matrix operations of `rows` tokens through the layers and `logit_rows` rows through the head.
    double matrix_ops(double rows, double logit_rows) const;
    /// Attention operations of `tokens` queries after `context` cached tokens, one sequence.
    double attention_ops(double tokens, double context) const;
};

/// Throws Error when a tensor has no format. `formats` as for operators().
Workload prepare_workload(const model::Model& model, const std::vector<quant::Format>& formats);

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
