#include "core/plan/operator_times.h"

#include <fmt/format.h>

#include <algorithm>

namespace memwall::plan {

speed::Phase decode_phase(const Knobs& k) {
    return {speed::PhaseKind::decode, 1, k.context, k.sequences};
}

speed::Phase prefill_phase(const Knobs& k) {
    return {speed::PhaseKind::prefill, k.prompt, 0, k.sequences};
}

std::vector<OperatorTime> operator_times(const Prepared& p, const Knobs& k, const Target& t,
                                         const speed::Phase& phase) {
    const speed::Machine& m = t.machine;
    const double value_bytes =
        static_cast<double>(k.kv_k.block_bytes) / static_cast<double>(k.kv_k.block_len);
    std::vector<OperatorTime> rows;
    for (const speed::Operator& o : speed::operators(p.model, p.formats, phase)) {
        OperatorTime row;
        row.layers = o.layers;
        row.weight_bytes = o.weight_bytes;
        row.cache_bytes = o.kv_values_read * value_bytes;
        const double matrix = o.int8_ops + o.fp16_ops + o.fp32_ops;
        row.operations = matrix + o.attention_ops;
        const double packed =
            o.nested_weights + o.simple_weights * m.simple_block_cost + o.split_weights * m.split_field_cost;
        const std::pair<double, std::string_view> terms[] = {
            {o.weight_bytes / m.weights_rate() + row.cache_bytes / m.kv_rate(), "bandwidth"},
            {phase.kind == speed::PhaseKind::decode ? packed / m.rates.central[speed::dequantization] : 0,
             "dequantization"},
            {m.compute > 0
                 ? matrix / m.compute_rate() + o.attention_ops / m.rates.central[speed::attention_rate]
                 : 0,
             "compute"}};
        const auto& [seconds, bound] = *std::max_element(std::begin(terms), std::end(terms));
        if (seconds <= 0) continue;
        row.time = Seconds(seconds);
        row.bound = bound;
        row.name = std::string(speed::operator_name(o.kind));
        if (o.window > 0) row.name += fmt::format("_window_{}", o.window);
        rows.push_back(std::move(row));
    }
    return rows;
}

}  // namespace memwall::plan
