#include "core/speed/workload.h"

#include <algorithm>

namespace memwall::speed {
namespace {

/// Adds `share` of what is read, and all operations.
void accumulate(MatrixSet& sum, const MatrixSet& part, double share, double rows) {
    sum.bytes += part.bytes * share;
    sum.simple_weights += part.simple_weights * share;
    sum.nested_weights += part.nested_weights * share;
    sum.split_weights += part.split_weights * share;
    sum.ops += part.ops * rows;
    sum.nested_ops += part.nested_ops * rows;
    sum.wide_ops += part.wide_ops * rows;
}

MatrixSet matrices_of(const Operator& op) {
    return {.bytes = op.weight_bytes,
            .simple_weights = op.simple_weights,
            .nested_weights = op.nested_weights,
            .split_weights = op.split_weights,
            .ops = op.int8_ops + op.fp16_ops + op.fp32_ops,
            .nested_ops = op.nested_ops,
            .wide_ops = op.fp16_ops + op.fp32_ops};
}

/// The group for which `same` holds, a new one, or the last when all are taken.
template <class Groups, class Same>
auto& group_for(Groups& groups, int& count, const Same& same) {
    for (int i = 0; i < count; ++i)
        if (same(groups[static_cast<std::size_t>(i)])) return groups[static_cast<std::size_t>(i)];
    if (count < Workload::kGroups) ++count;
    return groups[static_cast<std::size_t>(count - 1)];
}

void add_experts(Workload& w, const Operator& op) {
    const auto count = static_cast<double>(op.experts), used = static_cast<double>(op.experts_used);
    Workload::Experts& group = group_for(w.experts, w.expert_groups, [&](const Workload::Experts& e) {
        return e.count == count && e.used == used;
    });
    group.count = count;
    group.used = used;
    MatrixSet all = matrices_of(op);  // holds the share that one token touches
    const double ops = all.ops, nested_ops = all.nested_ops, wide_ops = all.wide_ops;
    all.ops = all.nested_ops = all.wide_ops = 0;
    accumulate(group, all, used > 0 ? count / used : 1, 0);
    group.ops += ops;
    group.nested_ops += nested_ops;
    group.wide_ops += wide_ops;
    w.expert_layers += op.layers;
}

}  // namespace

double layer_launches(int norms_beyond_two) {
    constexpr double kPlainLayer = 23;
    return 1 + 2 * norms_beyond_two / kPlainLayer;
}

MatrixSet Workload::step(double rows, double logit_rows) const {
    MatrixSet sum;
    accumulate(sum, body, 1, rows);
    accumulate(sum, head, 1, logit_rows);
    sum.bytes += lookup_bytes * rows;
    for (int i = 0; i < expert_groups; ++i) {
        const Experts& e = experts[static_cast<std::size_t>(i)];
        accumulate(sum, e, distinct_experts(e.count, e.used, rows) / e.count, rows);
    }
    return sum;
}

double Workload::attention_ops(double tokens, double context) const {
    double ops = 0;
    for (int i = 0; i < attention_groups; ++i) {
        const Attention& a = attention[static_cast<std::size_t>(i)];
        ops += a.ops_per_cell * seen_cells(tokens, context, a.window);
    }
    return ops;
}

double Workload::attention_scores(double tokens, double context) const {
    double scores = 0;
    for (int i = 0; i < attention_groups; ++i) {
        const Attention& a = attention[static_cast<std::size_t>(i)];
        scores += a.heads * seen_cells(tokens, context, a.window);
    }
    return scores;
}

Workload prepare_workload(const model::Model& model, const std::vector<quant::Format>& formats,
                          Activations activations) {
    const Phase one_token{.kind = PhaseKind::decode, .tokens = 1, .context = 0, .sequences = 1};
    Workload w;
    for (const model::Layer& layer : model.layers) {
        const bool qk_norm = layer.attention && layer.attention->qk_norm != model::Attention::QkNorm::none;
        w.layers += layer_launches(std::max(layer.norms - 2, 0) + (qk_norm ? 2 : 0));
    }
    for (const Operator& op : operators(model, formats, one_token, activations)) {
        switch (op.kind) {
            case OperatorKind::embedding:
                w.lookup_bytes += op.weight_bytes;
                break;
            case OperatorKind::experts:
                add_experts(w, op);
                break;
            case OperatorKind::attention: {
                const auto window = static_cast<double>(op.window);
                Workload::Attention& group =
                    group_for(w.attention, w.attention_groups,
                              [&](const Workload::Attention& a) { return a.window == window; });
                group.window = window;
                group.ops_per_cell += op.attention_ops;
                group.heads += op.heads;
                break;
            }
            case OperatorKind::output:
                accumulate(w.head, matrices_of(op), 1, 1);
                break;
            default:
                accumulate(w.body, matrices_of(op), 1, 1);
        }
    }
    for (std::size_t i = 0; i < model.tensors.size(); ++i)
        w.stored_bytes +=
            quant::tensor_bytes(formats.empty() ? model.tensors[i].format : formats[i], model.tensors[i].dims)
                .as_double();
    return w;
}

void KvTraffic::add(double bytes_per_token, std::int64_t window) {
    Group& group = group_for(groups, group_count, [&](const Group& g) { return g.window == window; });
    group.window = window;
    group.bytes_per_token += bytes_per_token;
}

double kv_bytes_read(const KvTraffic& traffic, double context) {
    double bytes = 2 * traffic.recurrent_bytes_per_sequence;
    for (int i = 0; i < traffic.group_count; ++i) {
        const KvTraffic::Group& g = traffic.groups[static_cast<std::size_t>(i)];
        bytes +=
            g.bytes_per_token * (g.window > 0 ? std::min(context, static_cast<double>(g.window)) : context);
    }
    return bytes;
}

KvTraffic plain_traffic(const model::Model& model, double bytes_per_value) {
    // One token after none: each layer reads exactly one cell.
    const Phase one_token{.kind = PhaseKind::decode, .tokens = 1, .context = 0, .sequences = 1};
    constexpr double kStateBytes = 4;  // recurrent states are kept in 32 bits
    KvTraffic traffic;
    for (const Operator& op : layer_operators(model, one_token)) {
        if (op.kind == OperatorKind::attention) traffic.add(op.kv_values_read * bytes_per_value, op.window);
        if (op.kind == OperatorKind::recurrent)
            traffic.recurrent_bytes_per_sequence += op.state_values / 2 * kStateBytes;
    }
    return traffic;
}

}  // namespace memwall::speed
