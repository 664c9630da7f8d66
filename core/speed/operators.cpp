#include "core/speed/operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "core/base/error.h"

namespace memwall::speed {
namespace {

using model::Role;

constexpr double kActivationBytes = 2;  ///< engines hold activations in 16 or 32 bits; 16 is the lower one

/// Operator that a tensor belongs to; nullopt = not part of a text step.
std::optional<OperatorKind> kind_of(Role role) {
    switch (role) {
        case Role::token_embedding:
        case Role::position_embedding:
        case Role::per_layer_embedding:
            return OperatorKind::embedding;
        case Role::output:
            return OperatorKind::output;
        case Role::attn_q:
        case Role::attn_k:
        case Role::attn_v:
        case Role::attn_qkv:
        case Role::attn_output:
        case Role::attn_gate:
        case Role::attn_q_a:
        case Role::attn_q_b:
        case Role::attn_kv_a:
        case Role::attn_kv_b:
        case Role::attn_k_b:
        case Role::attn_v_b:
        case Role::cross_attention:
            return OperatorKind::projections;
        case Role::ffn_gate:
        case Role::ffn_up:
        case Role::ffn_down:
            return OperatorKind::feed_forward;
        case Role::router:
            return OperatorKind::router;
        case Role::expert_gate:
        case Role::expert_up:
        case Role::expert_down:
            return OperatorKind::experts;
        case Role::shared_gate:
        case Role::shared_up:
        case Role::shared_down:
        case Role::shared_expert_gate:
            return OperatorKind::shared_expert;
        case Role::recurrent_in:
        case Role::recurrent_out:
        case Role::recurrent_small:
            return OperatorKind::recurrent;
        case Role::vision:
            return std::nullopt;
        case Role::norm:
        case Role::bias:
        case Role::sinks:
        case Role::rope_factors:
        case Role::other:
            return OperatorKind::norms;
    }
    return std::nullopt;
}

double state_values(const model::Recurrent& r) {
    const auto inner = static_cast<double>(r.inner);
    const double convolution = inner * static_cast<double>(std::max<std::int64_t>(r.conv_kernel - 1, 0));
    if (r.kind == model::RecurrentKind::short_conv) return convolution;
    return inner * static_cast<double>(r.state) + convolution;
}

class Table {
  public:
    Operator& row(OperatorKind kind, std::int64_t window = 0, std::int64_t experts = 0,
                  std::int64_t used = 0) {
        const auto it = std::find_if(rows_.begin(), rows_.end(), [&](const Operator& o) {
            return o.kind == kind && o.window == window && o.experts == experts && o.experts_used == used;
        });
        if (it != rows_.end()) return *it;
        Operator op;
        op.kind = kind;
        op.window = window;
        op.experts = experts;
        op.experts_used = used;
        rows_.push_back(op);
        return rows_.back();
    }
    std::vector<Operator> sorted() && {
        std::stable_sort(rows_.begin(), rows_.end(),
                         [](const Operator& a, const Operator& b) { return a.kind < b.kind; });
        return std::move(rows_);
    }

  private:
    std::vector<Operator> rows_;
};

/// Blocks whose scales are themselves packed (K and I types): more than 128 values share a structure.
bool has_nested_blocks(quant::Format format) {
    const quant::BlockFormat* block =
        format.family == quant::Family::ggml ? quant::find_block_format(format.ggml_type) : nullptr;
    return block && block->block_len > 128;
}

constexpr double kWideBits = 15;  ///< at and above: stored as computed with, nothing to unpack

/// 3, 5 and 6 bits a value are kept as two fields that have to be joined.
bool is_split(double bits_per_weight) {
    const int bits = static_cast<int>(bits_per_weight);
    return bits == 3 || bits == 5 || bits == 6;
}

/// Adds a matrix of which `share` is touched, multiplied with `rows` inputs (each passing through `visited`
/// of it).
void add_matrix(Operator& op, const model::Tensor& t, quant::Format format, double bytes, double share,
                double rows, double visited, Activations activations) {
    const auto elements = static_cast<double>(t.elements());
    const double bits = elements > 0 ? bytes * 8 / elements : 0;
    op.weight_bytes += bytes * share;
    op.weights += elements * share;
    const bool nested = bits < kWideBits && has_nested_blocks(format);
    if (bits < kWideBits)
        (is_split(bits) ? op.split_weights
         : nested       ? op.nested_weights
                        : op.simple_weights) += elements * share;
    if (t.dims[1] * t.dims[2] * t.dims[3] == 1) return;  // a vector: added or scaled, no product
    const double ops = 2 * elements * visited * rows;
    if (nested) op.nested_ops += ops;
    if (bits > 24)
        op.fp32_ops += ops;
    else if (bits > kWideBits || activations == Activations::f16)
        op.fp16_ops += ops;
    else
        op.int8_ops += ops;
    op.activation_bytes += rows * static_cast<double>(t.dims[0] + t.dims[1]) * kActivationBytes;
}

void add_attention(Table& table, const model::Attention& a, const Phase& phase) {
    Operator& op = table.row(OperatorKind::attention, a.window);
    op.layers += 1;
    op.heads += static_cast<double>(a.heads);
    const auto tokens = static_cast<double>(phase.tokens), context = static_cast<double>(phase.context);
    const auto sequences = static_cast<double>(phase.sequences), window = static_cast<double>(a.window);
    const bool latent = a.latent_rank > 0;
    const auto key = static_cast<double>(latent ? a.latent_rank + a.latent_rope_dim : a.key_dim);
    const auto value = static_cast<double>(latent ? a.latent_rank : a.value_dim);
    const double cell = latent ? key : static_cast<double>(a.kv_heads) * (key + value);
    const double cells = window > 0 ? std::min(context + tokens, window + tokens - 1) : context + tokens;
    op.kv_values_read += sequences * cells * cell;
    if (a.shared_with < 0) op.kv_values_written += sequences * tokens * cell;
    op.attention_ops +=
        sequences * 2 * static_cast<double>(a.heads) * (key + value) * seen_cells(tokens, context, window);
}

void add_recurrent(Table& table, const model::Recurrent& r, const Phase& phase) {
    Operator& op = table.row(OperatorKind::recurrent);
    op.layers += 1;
    op.state_values += static_cast<double>(phase.sequences) * 2 * state_values(r);
    // decay, outer product, addition and the read-out: about six operations a state value and token
    op.fp32_ops += static_cast<double>(phase.rows()) * 6 * state_values(r);
}

void add_layer(Table& table, const model::Layer& layer, const Phase& phase) {
    if (layer.attention) {
        add_attention(table, *layer.attention, phase);
        table.row(OperatorKind::projections).layers += 1;
    }
    if (layer.recurrent) add_recurrent(table, *layer.recurrent, phase);
    if (layer.feed_forward) table.row(OperatorKind::feed_forward).layers += 1;
    if (layer.experts) {
        table.row(OperatorKind::router).layers += 1;
        table.row(OperatorKind::experts, 0, layer.experts->count, layer.experts->used).layers += 1;
        if (layer.experts->shared_width > 0) table.row(OperatorKind::shared_expert).layers += 1;
    }
    table.row(OperatorKind::norms).layers += 1;
}

}  // namespace

std::string_view operator_name(OperatorKind kind) {
    constexpr std::array<std::string_view, 10> names = {
        "embedding", "attention projections", "attention", "recurrent", "feed-forward", "router",
        "experts",   "shared expert",         "norms",     "output"};
    return names[static_cast<std::size_t>(kind)];
}

double distinct_experts(double count, double used, double rows) {
    if (count <= 0) return 0;
    return count * -std::expm1(rows * std::log1p(-std::min(used / count, 1.0)));
}

double distinct_experts(const std::vector<double>& probability, double rows) {
    double sum = 0;
    for (const double p : probability) sum += -std::expm1(rows * std::log1p(-p));
    return sum;
}

double seen_cells(double tokens, double context, double window) {
    if (window <= 0) return tokens * context + tokens * (tokens + 1) / 2;
    const double growing = std::clamp(window - context, 0.0, tokens);
    return growing * context + growing * (growing + 1) / 2 + (tokens - growing) * window;
}

std::vector<Operator> layer_operators(const model::Model& model, const Phase& phase) {
    Table table;
    for (const model::Layer& layer : model.layers) add_layer(table, layer, phase);
    return std::move(table).sorted();
}

std::vector<Operator> operators(const model::Model& model, const std::vector<quant::Format>& formats,
                                const Phase& phase, Activations activations) {
    if (!formats.empty() && formats.size() != model.tensors.size())
        throw Error("", fmt::format("{} formats for {} tensors", formats.size(), model.tensors.size()),
                    "one format a tensor");
    Table table;
    const auto layers = static_cast<int>(model.layers.size());
    const auto rows = static_cast<double>(phase.rows());
    const double heads = phase.kind == PhaseKind::prefill ? static_cast<double>(phase.sequences) : rows;
    const bool has_output = std::any_of(model.tensors.begin(), model.tensors.end(),
                                        [](const model::Tensor& t) { return t.role == Role::output; });
    for (const model::Layer& layer : model.layers) add_layer(table, layer, phase);
    for (std::size_t i = 0; i < model.tensors.size(); ++i) {
        const model::Tensor& t = model.tensors[i];
        const std::optional<OperatorKind> kind = kind_of(t.role);
        if (!kind || t.layer >= layers || t.elements() == 0) continue;
        const quant::Format format = formats.empty() ? t.format : formats[i];
        const double bytes = quant::tensor_bytes(format, t.dims).as_double();
        if (*kind == OperatorKind::embedding) {
            // A look-up reads one row a token; a table that doubles as the head is read whole as well.
            const auto table_rows = static_cast<double>(t.elements() / t.dims[0]);
            Operator& op = table.row(OperatorKind::embedding);
            op.weight_bytes += bytes / table_rows * rows;
            op.activation_bytes += rows * static_cast<double>(t.dims[0]) * kActivationBytes;
            if (t.role == Role::token_embedding && !has_output)
                add_matrix(table.row(OperatorKind::output), t, format, bytes, 1, heads, 1, activations);
        } else if (*kind == OperatorKind::experts) {
            const model::Layer* layer =
                t.layer >= 0 ? &model.layers[static_cast<std::size_t>(t.layer)] : nullptr;
            const bool routed = layer && layer->experts && layer->experts->count > 0;
            const std::int64_t count = routed ? layer->experts->count : 1,
                               used = routed ? layer->experts->used : 1;
            const auto n = static_cast<double>(count), k = static_cast<double>(used);
            add_matrix(table.row(*kind, 0, count, used), t, format, bytes, distinct_experts(n, k, rows) / n,
                       rows, k / n, activations);
        } else {
            const bool output = *kind == OperatorKind::output;
            add_matrix(table.row(*kind), t, format, bytes, 1, output ? heads : rows, 1, activations);
        }
    }
    return std::move(table).sorted();
}

}  // namespace memwall::speed
