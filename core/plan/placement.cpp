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
    const int group = p.layer_kv_group[layer];
    return group < 0
               ? Bytes(0)
               : memory::layer_kv_bytes(p.kv_groups[static_cast<std::size_t>(group)], cells, k.kv_k, k.kv_v);
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
        // Output first, then the last layers; the input table stays with the host and a tied output is a
        // second copy. Source: llama.cpp 0.5.0 (ENGINE_GPU section 1); other engines put everything on the
        // card.
        out.two_pools = true;
        out.device_layers = k.gpu_layers < 0 ? layers + 1 : std::min(k.gpu_layers, layers + 1);
        const std::int64_t first = layers - std::max<std::int64_t>(out.device_layers - 1, 0);
        Bytes device;
        const Bytes embedding = input_embedding(p);
        if (out.device_layers > 0) {
            device += w.outside - embedding + w.prediction;
            if (p.model.output != model::TiedOutput::untied) device += embedding;
        }
        for (std::int64_t i = 0; i < layers; ++i) {
            const auto n = static_cast<std::size_t>(i);
            const Bytes kv = layer_kv(p, k, cells, n), state = p.layer_state[n] * k.sequences;
            if (i < first) {
                out.host_kv += kv;
                out.host_state += state;
                continue;
            }
            device += w.layer[n];
            out.device_experts += w.layer_experts[n];
            if (k.experts_on_host) device -= w.layer_experts[n];
            (k.kv_on_host ? out.host_kv : out.device_kv) += kv;
            out.device_state += state;
        }
        out.device_weights = Interval<Bytes>::exact(device);
        out.device_weights.high += w.total.high - w.total.central;
        if (!w.total.is_exact())
            out.device_weights.level = w.total.level, out.device_weights.basis = w.total.basis;
        const bool tied_copy = out.device_layers > 0 && p.model.output != model::TiedOutput::untied;
        out.host_weights = w.total.central - device + (tied_copy ? embedding : Bytes(0));
        if (k.experts_on_host) out.device_experts = Bytes(0);
    }
    out.largest_buffer = w.largest_tensor;
    for (const memory::KvGroup& g : p.kv_groups)
        out.largest_buffer = std::max(out.largest_buffer, quant::kv_row_bytes(k.kv_k, g.kv_heads, g.key_dim) *
                                                              (memory::cells_of(g, cells) * cells.streams));
    return out;
}

Speed time(const Prepared& p, const Knobs& k, const Target& t, const Placement& placement) {
    Speed s;
    if (t.refusal != Reason::fits || !t.machine_known ||
        placement.host_weights.value > placement.device_weights.central.value)
        return s;
    speed::SpeedSettings settings;
    settings.context = k.context;
    settings.sequences = k.sequences;
    settings.prompt = k.prompt + k.images * p.tokens_per_image;
    settings.cached_prompt = std::min(k.cached_prompt, settings.prompt - 1);
    settings.generate = k.generate;
    settings.micro_batch = k.ubatch;
    const speed::KvTraffic traffic = kv_traffic(p, k);
    const speed::TimeTerms step = speed::decode_step(p.workload, t.machine, traffic, settings);
    s.decode_known = true;
    s.decode = step.per_second();
    s.decode_all = step.per_second(static_cast<double>(k.sequences));
    s.bound = speed::bound_name(step.bound);
    s.sustained_fraction = t.machine.sustained_fraction;
    if (t.machine.compute > 0) {
        const speed::TimeTerms prompt = speed::prefill(p.workload, t.machine, traffic, settings);
        s.prefill_known = true;
        s.prefill = prompt.per_second(static_cast<double>(settings.prompt - settings.cached_prompt));
        s.first_token = prompt.total + step.total;
        s.job = s.first_token;
        const auto n = static_cast<double>(k.generate - 1);
        s.job += Interval<Seconds>{step.total.low * n, step.total.central * n, step.total.high * n,
                                   step.total.level, step.total.basis};
    }
    return s;
}

}  // namespace memwall::plan
