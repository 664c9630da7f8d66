#include "core/plan/placement.h"

#include <algorithm>

#include "core/base/error.h"

namespace memwall::plan {
namespace {

std::int64_t round_up(std::int64_t n, std::int64_t to) {
    return (n + to - 1) / to * to;
}

Bytes input_embedding(const Prepared& p) {
    return p.weights.by_class[static_cast<std::size_t>(memory::WeightClass::input_embedding)];
}

Bytes layer_kv(const Prepared& p, const Knobs& k, const memory::KvCells& cells, std::size_t layer) {
    Bytes bytes;
    for (const int group : p.layer_kv_groups[layer])
        bytes += memory::layer_kv_bytes(p.kv_groups[static_cast<std::size_t>(group)], cells, k.kv_k, k.kv_v);
    return bytes;
}

}  // namespace

runtime::EngineSettings engine_settings(const Knobs& k) {
    runtime::EngineSettings s;
    s.n_ctx = k.engine_context > 0 ? k.engine_context : k.context * k.sequences;
    s.n_batch = k.batch;
    s.n_ubatch = k.ubatch;
    s.n_seq = k.sequences;
    s.n_outputs_max = k.outputs_max;
    s.quantized_keys = k.kv_k.block_len > 1;
    s.quantized_values = k.kv_v.block_len > 1;
    s.flash_attention = k.flash_attention;
    s.kv_unified = k.kv_unified;
    s.swa_full = k.swa_full;
    return s;
}

memory::KvCells kv_cells(const Prepared& p, const Knobs& k) {
    const runtime::Profile& profile = *p.runtime.profile;
    memory::KvCells c;
    c.streams = k.sequences;
    switch (profile.kv_layout) {
        case runtime::KvLayout::cells: {
            const runtime::EngineCells e = p.replay->model().cells(engine_settings(k));
            c.full = e.cells;
            c.streams = e.streams;
            c.window_multiple = k.kv_unified ? k.sequences : 1;
            c.window_extra = std::min({k.ubatch, k.batch, engine_settings(k).n_ctx});
            c.padding = runtime::operator_tables(p.runtime.release).cell_rules().padding;
            c.windows_full = k.swa_full;
            break;
        }
        case runtime::KvLayout::paged:
            c.full = round_up(k.context, profile.block_tokens);
            c.padding = profile.block_tokens;
            break;
        case runtime::KvLayout::static_arena:
        case runtime::KvLayout::plain:
            c.full = k.context;
            break;
    }
    return c;
}

speed::KvTraffic kv_traffic(const Prepared& p, const Knobs& k) {
    speed::KvTraffic t;
    for (const memory::KvGroup& g : p.kv_groups)
        t.add(memory::kv_token_bytes(g, k.kv_k, k.kv_v).as_double() * g.layers,
              g.fixed_cells > 0 ? g.fixed_cells : g.window);
    t.recurrent_bytes_per_sequence = p.recurrent_per_sequence.as_double();
    return t;
}

Placement place(const Prepared& p, const Knobs& k, const Target& t) {
    Placement out;
    const memory::Weights& w = p.weights;
    const memory::KvCells cells = kv_cells(p, k);
    const auto layers = static_cast<std::int64_t>(w.layer.size());

    if (!t.discrete) {
        out.device_layers = layers + 1;
        out.device_weights = w.total;
        out.device_kv = memory::kv_cache_bytes(p.kv_groups, cells, k.kv_k, k.kv_v);
        out.device_state = p.recurrent_per_sequence * k.sequences;
    } else {
        // Output first, then the last layers; engines that keep the input tables with the host hold a tied
        // output twice. Source: llama.cpp 0.5.0 (ENGINE_GPU section 1).
        out.two_pools = true;
        out.device_layers = k.gpu_layers < 0 ? layers + 1 : std::min(k.gpu_layers, layers + 1);
        const std::int64_t first = layers - std::max<std::int64_t>(out.device_layers - 1, 0);
        const bool tables_stay = p.runtime.profile->input_tables_on_host;
        Bytes device, copy;
        if (out.device_layers > 0) {
            if (tables_stay && p.model.output != model::TiedOutput::untied) copy = w.token_table;
            device += w.outside - (tables_stay ? input_embedding(p) : Bytes(0)) + w.prediction + copy;
        }
        for (std::int64_t i = 0; i < layers; ++i) {
            const auto n = static_cast<std::size_t>(i);
            const Bytes kv = layer_kv(p, k, cells, n), state = p.layer_state[n] * k.sequences;
            if (i < first) {
                out.host_kv += kv;
                out.host_state += state;
                out.host_layer_weights += w.layer[n];
                continue;
            }
            device += w.layer[n];
            out.device_experts += w.layer_experts[n];
            if (k.experts_on_host) {
                device -= w.layer_experts[n];
                out.host_layer_weights += w.layer_experts[n];
            }
            (k.kv_on_host ? out.host_kv : out.device_kv) += kv;
            out.device_state += state;
        }
        out.device_weights = Interval<Bytes>::exact(device);
        out.device_weights.high += w.total.high - w.total.central;
        if (!w.total.is_exact())
            out.device_weights.level = w.total.level, out.device_weights.basis = w.total.basis;
        out.host_weights = w.total.central - device + copy;
        if (k.experts_on_host) out.device_experts = Bytes(0);
        out.spilled =
            out.device_layers <= layers || out.host_layer_weights.value > 0 || out.host_kv.value > 0;
    }
    out.largest_buffer = w.largest_tensor;
    for (const memory::KvGroup& g : p.kv_groups)
        out.largest_buffer = std::max(out.largest_buffer, quant::kv_row_bytes(k.kv_k, g.kv_heads, g.key_dim) *
                                                              (memory::cells_of(g, cells) * cells.streams));
    return out;
}

}  // namespace memwall::plan
