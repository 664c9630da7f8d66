// What one step of a model touches and computes, as a table: one row for each kind of operator. Everything
// that speed needs to know of a model comes from here; nothing depends on the machine.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/model.h"
#include "core/quant/format.h"

namespace memwall::speed {

enum class PhaseKind : std::uint8_t {
    prefill,      ///< `tokens` new tokens after `context` cached ones; logits of the last one only
    decode,       ///< one new token a sequence
    verification  ///< `tokens` drafted tokens (g + 1) a sequence in one pass, logits of all of them
};

struct Phase {
    PhaseKind kind = PhaseKind::decode;
    std::int64_t tokens = 1;     ///< new tokens of each sequence
    std::int64_t context = 0;    ///< tokens of each sequence already in the cache
    std::int64_t sequences = 1;  ///< B
    std::int64_t rows() const { return tokens * sequences; }
};

enum class OperatorKind : std::uint8_t {
    embedding,     ///< row look-ups: token table, positions, per-layer embeddings
    projections,   ///< attention's weight matrices
    attention,     ///< scores and weighted values over the cache; no weights
    recurrent,     ///< state-space, linear-attention and convolution parts
    feed_forward,  ///< dense feed-forward
    router,
    experts,
    shared_expert,
    norms,  ///< norms, biases and other vectors
    output  ///< the head; a tied input table is read here
};

std::string_view operator_name(OperatorKind kind);

/// Precision of the activations that meet quantized weights (W4A16, W8A8 ...).
enum class Activations : std::uint8_t { automatic, f16, int8 };

/// Sums over all layers that have the operator, for one whole phase.
struct Operator {
    OperatorKind kind = OperatorKind::embedding;
    std::int64_t window = 0;                     ///< attention: tokens a query sees, 0 = all
    std::int64_t experts = 0, experts_used = 0;  ///< experts: how many there are, how many a token visits
    int layers = 0;                              ///< layers that have it; 0 = outside the layers
    double weight_bytes = 0;                     ///< touched, each matrix once
    double weights = 0;                          ///< touched elements
    double simple_weights = 0;                   ///< touched, packed below 16 bits in blocks with one scale
    double nested_weights = 0;    ///< touched, packed in super-blocks whose scales are packed too
    double split_weights = 0;     ///< touched, packed with each value in two bit fields (3, 5 or 6 bits)
    double nested_ops = 0;        ///< part of the matrix products that nested blocks feed
    double activation_bytes = 0;  ///< inputs and outputs of the matrices at 2 bytes a value
    double kv_values_read =
        0;  ///< K and V elements read from the cache (the memory chapter knows their bytes)
    double kv_values_written = 0;
    double state_values = 0;                          ///< recurrent state elements read and written once
    double int8_ops = 0, fp16_ops = 0, fp32_ops = 0;  ///< matrix products, 2 a multiply-add
    double attention_ops = 0;
    double heads = 0;  ///< attention: query heads of all layers
};

/// Expected number of distinct experts that `rows` independent tokens visit when each picks `used` of `count`
/// at random: N (1 - (1 - k/N)^rows). Skewed routers visit fewer (SPEED_AND_SIM A.5, row 11).
double distinct_experts(double count, double used, double rows);

/// The same for a router with known shares p_i of single picks: sum of 1 - (1 - p_i)^rows.
double distinct_experts(const std::vector<double>& probability, double rows);

/// The table. `formats` runs parallel to model.tensors; empty = each tensor's own format. Throws Error when a
/// tensor has no format or the lengths differ. Untied input tables cost one row a token, tied ones are read
/// as the output; vision parts and prediction blocks are no part of a text step.
std::vector<Operator> operators(const model::Model& model, const std::vector<quant::Format>& formats,
                                const Phase& phase, Activations activations = Activations::automatic);

/// Only the rows that need no tensors: attention over the cache, recurrent state, and the layer counts.
std::vector<Operator> layer_operators(const model::Model& model, const Phase& phase);

/// Cells that `tokens` queries after `context` cached ones see in sum: sum of min(context + i, window),
/// window 0 = all.
double seen_cells(double tokens, double context, double window);

}  // namespace memwall::speed
