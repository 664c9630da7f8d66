#include "core/speed/workload.h"

#include <algorithm>

namespace memwall::speed {
namespace {

void add_experts(Workload& w, const Operator& op) {
    const auto count = static_cast<double>(op.experts), used = static_cast<double>(op.experts_used);
    const auto end = w.experts.begin() + w.expert_groups;
    auto group = std::find_if(w.experts.begin(), end,
                              [&](const Workload::Experts& e) { return e.count == count && e.used == used; });
    if (group == end) {
        if (w.expert_groups < Workload::kGroups)
            *group = {.count = count, .used = used}, ++w.expert_groups;
        else
            --group;
    }
    const double all = count > 0 && used > 0 ? count / used : 1;  // the row holds the share one token touches
    group->bytes += op.weight_bytes * all;
    group->dequantized += op.dequantized_weights * all;
    group->ops += op.int8_ops + op.fp16_ops + op.fp32_ops;
    w.half_ops += op.fp16_ops + op.fp32_ops;
    w.expert_layers += op.layers;
}

void add_attention(Workload& w, const Operator& op) {
    const auto window = static_cast<double>(op.window);
    const auto end = w.attention.begin() + w.attention_groups;
    auto group = std::find_if(w.attention.begin(), end,
                              [&](const Workload::Attention& a) { return a.window == window; });
    if (group == end) {
        if (w.attention_groups < Workload::kGroups)
            *group = {.window = window}, ++w.attention_groups;
        else
            --group;
    }
    group->ops_per_cell += op.attention_ops;
}

}  // namespace

double Workload::touched_bytes(double rows) const {
    double bytes = dense_bytes + embedding_bytes * rows;
    for (int i = 0; i < expert_groups; ++i) {
        const Experts& e = experts[static_cast<std::size_t>(i)];
        bytes += e.bytes * distinct_experts(e.count, e.used, rows) / e.count;
    }
    return bytes;
}

double Workload::dequantized_weights(double rows) const {
    double weights = dequantized_dense;
    for (int i = 0; i < expert_groups; ++i) {
        const Experts& e = experts[static_cast<std::size_t>(i)];
        weights += e.dequantized * distinct_experts(e.count, e.used, rows) / e.count;
    }
    return weights;
}

double Workload::matrix_ops(double rows, double logit_rows) const {
    double ops = body_ops;
    for (int i = 0; i < expert_groups; ++i) ops += experts[static_cast<std::size_t>(i)].ops;
    return ops * rows + head_ops * logit_rows;
}

double Workload::attention_ops(double tokens, double context) const {
    double ops = 0;
    for (int i = 0; i < attention_groups; ++i) {
        const Attention& a = attention[static_cast<std::size_t>(i)];
        ops += a.ops_per_cell * seen_cells(tokens, context, a.window);
    }
    return ops;
}

Workload prepare_workload(const model::Model& model, const std::vector<quant::Format>& formats) {
    const Phase one_token{.kind = PhaseKind::decode, .tokens = 1, .context = 0, .sequences = 1};
    Workload w;
    w.layers = static_cast<int>(model.layers.size());
    w.hidden = static_cast<double>(model.hidden);
    for (const Operator& op : operators(model, formats, one_token)) {
        switch (op.kind) {
            case OperatorKind::embedding:
                w.embedding_bytes += op.weight_bytes;
                break;
            case OperatorKind::experts:
                add_experts(w, op);
                break;
            case OperatorKind::attention:
                add_attention(w, op);
                break;
            case OperatorKind::output:
                w.dense_bytes += op.weight_bytes;
                w.dequantized_dense += op.dequantized_weights;
                w.head_ops += op.int8_ops + op.fp16_ops + op.fp32_ops;
                break;
            default:
                w.dense_bytes += op.weight_bytes;
                w.dequantized_dense += op.dequantized_weights;
                w.body_ops += op.int8_ops + op.fp16_ops + op.fp32_ops;
                w.half_ops += op.fp16_ops;
        }
    }
    for (std::size_t i = 0; i < model.tensors.size(); ++i)
        w.stored_bytes +=
            quant::tensor_bytes(formats.empty() ? model.tensors[i].format : formats[i], model.tensors[i].dims)
                .as_double();
    return w;
}

void KvTraffic::add(double bytes_per_token, std::int64_t window) {
    for (int i = 0; i < group_count; ++i) {
        Group& g = groups[static_cast<std::size_t>(i)];
        if (g.window == window || i + 1 == Workload::kGroups) {
            g.bytes_per_token += bytes_per_token;
            return;
        }
    }
    groups[static_cast<std::size_t>(group_count++)] = {bytes_per_token, window};
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
    KvTraffic traffic;
    for (const Operator& op : layer_operators(model, one_token)) {
        if (op.kind == OperatorKind::attention) traffic.add(op.kv_values_read * bytes_per_value, op.window);
        if (op.kind == OperatorKind::recurrent)
            traffic.recurrent_bytes_per_sequence += op.state_values / 2 * 4;  // states are kept in 32 bits
    }
    return traffic;
}

}  // namespace memwall::speed
