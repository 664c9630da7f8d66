// One decoder layer, as every thread runs it. Between two barriers a thread writes only what is its own: rows
// of its tokens, results of its panels, heads that are its share.
#include <algorithm>

#include "kernels/engine/elementwise.h"
#include "kernels/engine/engine.h"

namespace memwall::kernels {

void Engine::attention_block(int t, std::size_t index) {
    const DecoderLayer& layer = decoder_.layers[index];
    const LayerTensors& w = layer.tensors;
    const int threads = team_.threads();
    const Range mine = own(t);
    const auto width = static_cast<std::size_t>(decoder_.hidden);
    for (std::size_t i = mine.first; i < mine.last; ++i)
        rms_norm({row(buffers_.x, i, decoder_.hidden), width}, weights_.vector(w.attn_norm),
                 static_cast<float>(decoder_.epsilon), {row(buffers_.h, i, decoder_.hidden), width});
    quantize_rows(t, mine, buffers_.h.data(), decoder_.hidden, {w.q, w.k, w.v});
    team_.barrier();

    const MatmulTask out = task(w.output, buffers_.y.data());
    const MatmulTask qkv[] = {task(w.q, buffers_.q.data()), task(w.k, buffers_.k.data()),
                              task(w.v, buffers_.v.data())};
    multiply_share(kernels_, qkv, t, threads, start_of_share({&out, 1}, t, threads));
    team_.barrier();

    KvCache& cache = *caches_[static_cast<std::size_t>(layer.group)];
    const Range heads = share_of(static_cast<std::size_t>(layer.kv_heads), t, threads);
    for (std::size_t head = heads.first; head < heads.last; ++head) {
        const auto h = static_cast<std::int64_t>(head);
        prepare_heads(layer, h);
        const std::int64_t k_row = layer.kv_heads * layer.key_dim, v_row = layer.kv_heads * layer.value_dim;
        cache.store(batch_.sequence, layer.layer_in_group, h, batch_.first, batch_.m,
                    buffers_.k.data() + h * layer.key_dim, k_row, buffers_.v.data() + h * layer.value_dim,
                    v_row);
    }
    team_.barrier();

    AttentionStep step;
    step.kernels = &kernels_;
    step.cache = &cache;
    step.sequence = batch_.sequence;
    step.layer = layer.layer_in_group;
    step.first = batch_.first;
    step.m = batch_.m;
    step.group_heads = layer.group_heads();
    step.digits = settings_.kv_digits;
    step.q = buffers_.q.data();
    step.out = buffers_.attended.data();
    AttentionScratch& scratch = scratch_[static_cast<std::size_t>(t)];
    if (batch_.m == 1)
        attend_one(step, t, scratch, *parts_);
    else
        attend_many(step, t, threads, scratch);
    team_.barrier();

    if (batch_.m == 1 && t == 0) merge_one(step, *parts_);
    quantize_rows(t, mine, buffers_.attended.data(), layer.heads * layer.value_dim, {w.output});
    team_.barrier();
    const Matrix& gate = weights_.matrix(w.gate);
    const Range panels = share_of(static_cast<std::size_t>(gate.panels()), t, threads);
    multiply_share(kernels_, {&out, 1}, t, threads, gate.data + panels.first * gate.panel_bytes());
    team_.barrier();
    add_residual(t, w.post_attn_norm);
}

void Engine::prepare_heads(const DecoderLayer& layer, std::int64_t head) {
    const LayerTensors& w = layer.tensors;
    const auto k_dim = static_cast<std::size_t>(layer.key_dim),
               v_dim = static_cast<std::size_t>(layer.value_dim);
    const auto epsilon = static_cast<float>(decoder_.epsilon);
    const bool local = layer.windowed && !window_frequencies_.empty();
    const auto add_bias = [](std::span<float> x, std::span<const float> bias, std::int64_t first) {
        if (!bias.empty()) add_to(x, bias.subspan(static_cast<std::size_t>(first), x.size()));
    };
    for (std::int64_t i = 0; i < batch_.m; ++i) {
        const std::span<const float> angles(
            row(local ? buffers_.window_angles : buffers_.angles, static_cast<std::size_t>(i), layer.key_dim),
            k_dim);
        const auto turn = [&](std::span<float> x, int norm) {
            if (norm >= 0) rms_norm(x, weights_.vector(norm), epsilon, x);
            rotate(x, angles, decoder_.conventions.interleaved_rope);
        };
        const std::span<float> key(buffers_.k.data() + (i * layer.kv_heads + head) * layer.key_dim, k_dim);
        add_bias(key, weights_.vector(w.k_bias), head * layer.key_dim);
        turn(key, w.k_norm);
        add_bias({buffers_.v.data() + (i * layer.kv_heads + head) * layer.value_dim, v_dim},
                 weights_.vector(w.v_bias), head * layer.value_dim);
        for (std::int64_t q = head * layer.group_heads(); q < (head + 1) * layer.group_heads(); ++q) {
            const std::span<float> query(buffers_.q.data() + (i * layer.heads + q) * layer.key_dim, k_dim);
            add_bias(query, weights_.vector(w.q_bias), q * layer.key_dim);
            turn(query, w.q_norm);
        }
    }
}

void Engine::gate_and_up(const DecoderLayer& layer, std::int64_t index, std::span<const Activations> gate,
                         std::span<const Activations> up, std::int64_t first, std::int64_t last,
                         std::int64_t tokens, std::int64_t row, const void* next) {
    if (first >= last) return;
    const Matrix& g = weights_.matrix(layer.tensors.gate);
    const Matrix& u = weights_.matrix(layer.tensors.up);
    float* gated = buffers_.gate.data() + row * layer.width;
    float* upper = buffers_.up.data() + row * layer.width;
    multiply_panels(kernels_, {&g, index, gate, gated}, first, last,
                    u.matrix(index) + static_cast<std::size_t>(first) * u.panel_bytes());
    multiply_panels(kernels_, {&u, index, up, upper}, first, last, next);
    const std::int64_t from = first * kPanelRows, to = std::min(last * kPanelRows, layer.width);
    for (std::int64_t i = 0; i < tokens; ++i)
        gate_times({gated + i * layer.width + from, static_cast<std::size_t>(to - from)},
                   {upper + i * layer.width + from, static_cast<std::size_t>(to - from)},
                   decoder_.conventions.gelu);
}

void Engine::feed_forward(int t, std::size_t index) {
    const DecoderLayer& layer = decoder_.layers[index];
    const LayerTensors& w = layer.tensors;
    const int threads = team_.threads();
    const Range mine = own(t);
    const auto width = static_cast<std::size_t>(decoder_.hidden);
    for (std::size_t i = mine.first; i < mine.last; ++i)
        rms_norm({row(buffers_.x, i, decoder_.hidden), width}, weights_.vector(w.ffn_norm),
                 static_cast<float>(decoder_.epsilon), {row(buffers_.h, i, decoder_.hidden), width});
    if (layer.experts > 0) {
        route(t, layer);
        if (batch_.m == 1)
            experts_of_one(t, index);
        else
            experts_of_many(t, index);
    } else {
        quantize_rows(t, mine, buffers_.h.data(), decoder_.hidden, {w.gate, w.up});
        team_.barrier();
        const MatmulTask down = task(w.down, buffers_.y.data());
        const Range panels = share_of(static_cast<std::size_t>(weights_.matrix(w.gate).panels()), t, threads);
        gate_and_up(layer, 0, activations(w.gate), activations(w.up), static_cast<std::int64_t>(panels.first),
                    static_cast<std::int64_t>(panels.last), batch_.m, 0,
                    start_of_share({&down, 1}, t, threads));
        team_.barrier();
        quantize_rows(t, mine, buffers_.gate.data(), layer.width, {w.down});
        team_.barrier();
        multiply_share(kernels_, {&down, 1}, t, threads, start_of_layer(t, index + 1));
        team_.barrier();
    }
    add_residual(t, w.post_ffn_norm);
}

void Engine::route(int t, const DecoderLayer& layer) {
    const LayerTensors& w = layer.tensors;
    const Range mine = own(t);
    quantize_rows(t, mine, buffers_.h.data(), decoder_.hidden, {w.router, w.gate, w.up});
    team_.barrier();
    const MatmulTask router = task(w.router, buffers_.routed.data());
    multiply_share(kernels_, {&router, 1}, t, team_.threads());
    team_.barrier();
    const auto used = static_cast<std::size_t>(layer.used);
    for (std::size_t i = mine.first; i < mine.last; ++i)
        choose_experts({row(buffers_.routed, i, layer.experts), static_cast<std::size_t>(layer.experts)},
                       layer.normalized, {chosen_.data() + i * used, used},
                       {row(buffers_.weights, i, layer.used), used});
    team_.barrier();
}

void Engine::experts_of_one(int t, std::size_t index) {
    const DecoderLayer& layer = decoder_.layers[index];
    const LayerTensors& w = layer.tensors;
    const int threads = team_.threads();
    // The chosen experts one after the other are one long list of panels.
    const Matrix& gate = weights_.matrix(w.gate);
    const Matrix& down = weights_.matrix(w.down);
    const auto panels = static_cast<std::size_t>(gate.panels());
    const Range all = share_of(panels * static_cast<std::size_t>(layer.used), t, threads);
    for (std::int64_t slot = 0; slot < layer.used; ++slot) {
        const std::size_t start = static_cast<std::size_t>(slot) * panels;
        const std::size_t first = std::clamp(all.first, start, start + panels) - start,
                          last = std::clamp(all.last, start, start + panels) - start;
        const std::int64_t following = chosen_[static_cast<std::size_t>(std::min(slot + 1, layer.used - 1))];
        gate_and_up(layer, chosen_[static_cast<std::size_t>(slot)], activations(w.gate), activations(w.up),
                    static_cast<std::int64_t>(first), static_cast<std::int64_t>(last), 1, slot,
                    gate.matrix(following));
    }
    team_.barrier();
    auto& slots = slots_[static_cast<std::size_t>(down.format)];
    for (std::int64_t slot = t; slot < layer.used; slot += threads)
        quantize_activations(
            {buffers_.gate.data() + slot * layer.width, static_cast<std::size_t>(layer.width)}, 1,
            down.format, settings_.digits, slots[static_cast<std::size_t>(slot)]);
    team_.barrier();
    constexpr std::int64_t kAtOnce = 16;
    MatmulTask tasks[kAtOnce];
    for (std::int64_t from = 0; from < layer.used; from += kAtOnce) {
        const std::int64_t n = std::min(kAtOnce, layer.used - from);
        for (std::int64_t i = 0; i < n; ++i)
            tasks[i] = {&down,
                        chosen_[static_cast<std::size_t>(from + i)],
                        {&slots[static_cast<std::size_t>(from + i)], 1},
                        buffers_.results.data() + (from + i) * decoder_.hidden};
        multiply_share(kernels_, {tasks, static_cast<std::size_t>(n)}, t, threads,
                       start_of_layer(t, index + 1));
    }
    team_.barrier();
    if (t != 0) return;
    std::fill_n(buffers_.y.data(), decoder_.hidden, 0.0f);
    for (std::int64_t slot = 0; slot < layer.used; ++slot) {
        const float weight = buffers_.weights[static_cast<std::size_t>(slot)];
        const float* result = buffers_.results.data() + slot * decoder_.hidden;
        for (std::int64_t i = 0; i < decoder_.hidden; ++i)
            buffers_.y[static_cast<std::size_t>(i)] += weight * result[i];
    }
}

void Engine::experts_of_many(int t, std::size_t index) {
    const DecoderLayer& layer = decoder_.layers[index];
    const LayerTensors& w = layer.tensors;
    const int threads = team_.threads();
    const Range mine = own(t);
    const auto width = static_cast<std::size_t>(decoder_.hidden);
    if (t == 0) {  // which tokens visit which expert: a counting sort
        const auto n = static_cast<std::size_t>(batch_.m * layer.used);
        std::fill(expert_starts_.begin(), expert_starts_.end(), 0);
        for (std::size_t i = 0; i < n; ++i) ++expert_starts_[static_cast<std::size_t>(chosen_[i]) + 1];
        for (std::size_t e = 1; e < expert_starts_.size(); ++e) expert_starts_[e] += expert_starts_[e - 1];
        for (std::size_t i = 0; i < n; ++i)
            order_[static_cast<std::size_t>(expert_starts_[static_cast<std::size_t>(chosen_[i])]++)] =
                static_cast<std::int32_t>(i);
        for (std::size_t e = expert_starts_.size() - 1; e > 0; --e) expert_starts_[e] = expert_starts_[e - 1];
        expert_starts_[0] = 0;
    }
    std::fill(row(buffers_.y, mine.first, decoder_.hidden), row(buffers_.y, mine.last, decoder_.hidden),
              0.0f);
    team_.barrier();
    for (std::int64_t e = 0; e < layer.experts; ++e) {
        const std::int32_t* entries = order_.data() + expert_starts_[static_cast<std::size_t>(e)];
        const std::int64_t n = order_.data() + expert_starts_[static_cast<std::size_t>(e) + 1] - entries;
        if (n == 0) continue;
        const Range rows = share_of(static_cast<std::size_t>(n), t, threads);
        for (std::size_t i = rows.first; i < rows.last; ++i)
            std::copy_n(row(buffers_.h, static_cast<std::size_t>(entries[i] / layer.used), decoder_.hidden),
                        width, row(buffers_.gathered, i, decoder_.hidden));
        quantize_rows(t, rows, buffers_.gathered.data(), decoder_.hidden, {w.gate, w.up});
        team_.barrier();
        const Range panels = share_of(static_cast<std::size_t>(weights_.matrix(w.gate).panels()), t, threads);
        const MatmulTask down = task(w.down, buffers_.results.data(), e);
        gate_and_up(layer, e, activations(w.gate), activations(w.up), static_cast<std::int64_t>(panels.first),
                    static_cast<std::int64_t>(panels.last), n, 0, start_of_share({&down, 1}, t, threads));
        team_.barrier();
        quantize_rows(t, rows, buffers_.gate.data(), layer.width, {w.down});
        team_.barrier();
        multiply_share(kernels_, {&down, 1}, t, threads);
        team_.barrier();
        for (std::size_t i = rows.first; i < rows.last; ++i) {
            const float weight = buffers_.weights[static_cast<std::size_t>(entries[i])];
            const float* result = row(buffers_.results, i, decoder_.hidden);
            float* y = row(buffers_.y, static_cast<std::size_t>(entries[i] / layer.used), decoder_.hidden);
            for (std::size_t d = 0; d < width; ++d) y[d] += weight * result[d];
        }
    }
    team_.barrier();
}

}  // namespace memwall::kernels
