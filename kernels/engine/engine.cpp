#include "kernels/engine/engine.h"

#include <algorithm>
#include <string>

#include "core/base/error.h"
#include "kernels/engine/elementwise.h"
#include "kernels/host/evict.h"
#include "kernels/lab/random_weights.h"

namespace memwall::kernels {
namespace {

void reserve(Activations& a, const QuantizedNeed& need, std::int64_t rows, int digits) {
    const PanelLayout& layout = panel_layout(need.format);
    const std::int64_t k = (need.k + layout.block - 1) / layout.block * layout.block;
    const auto n = [&](std::int64_t count) { return static_cast<std::size_t>(rows * count); };
    if (need.format == PanelFormat::f16) {
        a.values.reserve(n(k));
        return;
    }
    const std::int64_t groups = layout.group == 0 ? 1 : k / layout.group;
    a.codes.reserve(n(k * digits));
    a.scales.reserve(n(groups));
    a.offsets.reserve(n(groups * digits));
    if (need.format == PanelFormat::q4k) a.sums.reserve(n(groups));
}

std::size_t allocated_of(const Activations& a) {
    return a.codes.capacity() + sizeof(float) * (a.scales.capacity() + a.offsets.capacity() +
                                                 a.sums.capacity() + a.values.capacity());
}

template <class T>
std::size_t bytes_of(const std::vector<T>& v) {
    return v.capacity() * sizeof(T);
}

}  // namespace

Engine::Engine(const model::Model& model, const EngineSettings& settings, const WeightSource& source,
               ThreadTeam& team, const Kernels& kernels)
    : settings_(settings),
      decoder_(decoder_of(model, settings)),
      team_(team),
      kernels_(kernels),
      weights_(model, source, team) {
    if (source.rope_base() > 0) decoder_.rope_base = source.rope_base();
    if (source.epsilon() > 0) decoder_.epsilon = source.epsilon();
    for (const KvShape& shape : decoder_.caches)
        caches_.push_back(make_kv_cache(shape, cache_settings(shape, settings)));

    ActivationBuffers measured;
    floats_ = HugeBuffer(cut_buffers(decoder_, settings, nullptr, measured));
    cut_buffers(decoder_, settings, floats_.data(), buffers_);
    quantized_.resize(kPanelLayouts.size());
    slots_.resize(kPanelLayouts.size());
    const auto make = [&](std::vector<Activations>& to, std::int64_t count, const QuantizedNeed& need,
                          std::int64_t rows) {
        to.resize(static_cast<std::size_t>(count));
        for (Activations& a : to) reserve(a, need, rows, settings.digits);
    };
    const std::int64_t rows = (settings.chunk + team.threads() - 1) / team.threads();
    for (const QuantizedNeed& need : quantized_needs(decoder_, model, source))
        make(quantized_[static_cast<std::size_t>(need.format)], team.threads(), need, rows);
    std::int64_t kv_heads = 0, group_heads = 0, experts = 0;
    int key_dim = 0, value_dim = 0;
    for (const DecoderLayer& l : decoder_.layers) {
        kv_heads = std::max(kv_heads, l.kv_heads);
        group_heads = std::max(group_heads, l.group_heads());
        experts = std::max(experts, l.experts);
        key_dim = std::max(key_dim, l.key_dim);
        value_dim = std::max(value_dim, l.value_dim);
    }
    if (const std::int64_t used = most_used(decoder_); used > 0) {
        for (const QuantizedNeed& need : slot_needs(decoder_, model, source))
            make(slots_[static_cast<std::size_t>(need.format)], used, need, 1);
        chosen_.resize(static_cast<std::size_t>(settings.chunk * used));
        order_.resize(chosen_.size());
        expert_starts_.resize(static_cast<std::size_t>(experts + 1));
    }
    scratch_.reserve(static_cast<std::size_t>(team.threads()));
    for (int t = 0; t < team.threads(); ++t)
        scratch_.emplace_back(most_pages(decoder_, settings), group_heads, key_dim, value_dim);
    parts_ = std::make_unique<SharedParts>(kv_heads, team.threads(), group_heads, value_dim);
    const auto factors = weights_.vector(decoder_.rope_factors);
    frequencies_ = rope_frequencies(key_dim, decoder_.rope_base, factors);
    if (decoder_.conventions.window_rope_base > 0)
        window_frequencies_ = rope_frequencies(key_dim, decoder_.conventions.window_rope_base, {});
}

SequenceId Engine::add_sequence() {
    SequenceId id = 0;
    for (const auto& cache : caches_) id = cache->add();  // the same slot in each
    return id;
}
void Engine::remove_sequence(SequenceId sequence) {
    for (const auto& cache : caches_) cache->remove(sequence);
}

void Engine::evict() {
    kernels::evict(weights_.memory(), team_);
    for (const auto& cache : caches_) kernels::evict(cache->arena().memory(), team_);
}

EngineBytes Engine::allocated() const {
    EngineBytes b;
    b.weights = Bytes(static_cast<std::int64_t>(weights_.allocated()));
    for (const auto& cache : caches_) b.kv_cache += cache->allocated();
    std::size_t all = floats_.bytes() + bytes_of(chosen_) + bytes_of(order_) + bytes_of(expert_starts_) +
                      bytes_of(frequencies_) + bytes_of(window_frequencies_) + parts_->allocated();
    for (const auto* kinds : {&quantized_, &slots_})
        for (const auto& kind : *kinds)
            for (const Activations& a : kind) all += allocated_of(a);
    for (const AttentionScratch& s : scratch_) all += s.allocated();
    b.activations = Bytes(static_cast<std::int64_t>(all));
    return b;
}

std::span<const float> Engine::forward(SequenceId sequence, std::span<const std::int32_t> tokens) {
    const std::int64_t before = this->tokens(sequence);
    if (tokens.empty()) throw Error("engine", "no tokens", "at least one");
    for (const std::int32_t token : tokens)
        if (token < 0 || token >= decoder_.vocabulary)
            throw Error("engine", "token " + std::to_string(token),
                        "0 to " + std::to_string(decoder_.vocabulary - 1));
    const auto n = static_cast<std::int64_t>(tokens.size());
    if (n > settings_.context - before)
        throw Error("engine", std::to_string(n) + " tokens after " + std::to_string(before),
                    "a context of " + std::to_string(settings_.context));
    time_ = {};
    for (std::int64_t done = 0; done < n;) {
        const std::int64_t m = std::min(settings_.chunk, n - done);
        for (const auto& cache : caches_)
            if (!cache->extend(sequence, m)) throw Error("engine", "no page left", "fewer tokens");
        run_pass({sequence, tokens.subspan(static_cast<std::size_t>(done), static_cast<std::size_t>(m)),
                  before + done, m, done + m == n});
        done += m;
    }
    return buffers_.logits;
}

void Engine::fill(SequenceId sequence, std::int64_t n) {
    if (n < 0 || n > settings_.context - tokens(sequence))
        throw Error("engine", std::to_string(n) + " tokens", "within the context");
    for (const auto& cache : caches_) {
        const KvShape& shape = cache->shape();
        const auto width = static_cast<std::size_t>(std::max(shape.key_dim, shape.value_dim));
        std::vector<float> values(width * 64);
        lab::Random random(7);
        for (float& v : values) v = random.gaussian();
        for (std::int64_t done = 0; done < n;) {  // no more at once than a window leaves room for
            const std::int64_t first = cache->tokens(sequence);
            const std::int64_t m = std::min({n - done, settings_.chunk, std::int64_t{64}});
            if (!cache->extend(sequence, m)) throw Error("engine", "no page left", "fewer tokens");
            team_.run([&](int t) {
                const Range streams = share_of(static_cast<std::size_t>(shape.streams()), t, team_.threads());
                for (std::size_t s = streams.first; s < streams.last; ++s)
                    cache->store(sequence, static_cast<std::int64_t>(s) / shape.kv_heads,
                                 static_cast<std::int64_t>(s) % shape.kv_heads, first, m, values.data(),
                                 static_cast<std::int64_t>(width), values.data(),
                                 static_cast<std::int64_t>(width));
            });
            done += m;
        }
    }
}

void Engine::run_pass(const Batch& batch) {
    batch_ = batch;
    time_ += team_.run([this](int t) { pass(t); });
}

void Engine::pass(int t) {
    embed(t);
    for (std::size_t l = 0; l < decoder_.layers.size(); ++l) {
        attention_block(t, l);
        feed_forward(t, l);
    }
    if (batch_.logits) logits_of_last(t);
}

void Engine::embed(int t) {
    const Matrix& table = weights_.matrix(decoder_.token_table);
    const auto dim = static_cast<std::int64_t>(frequencies_.size()) * 2;
    const auto scale = static_cast<float>(decoder_.embedding_scale);
    const Range mine = own(t);
    for (std::size_t i = mine.first; i < mine.last; ++i) {
        const std::span<float> x(row(buffers_.x, i, decoder_.hidden),
                                 static_cast<std::size_t>(decoder_.hidden));
        read_row(table, batch_.tokens[i], x);
        if (scale != 1)
            for (float& v : x) v *= scale;
        const std::int64_t position = batch_.first + static_cast<std::int64_t>(i);
        rope_angles(position, frequencies_, {row(buffers_.angles, i, dim), static_cast<std::size_t>(dim)});
        if (!window_frequencies_.empty())
            rope_angles(position, window_frequencies_,
                        {row(buffers_.window_angles, i, dim), static_cast<std::size_t>(dim)});
    }
}

void Engine::logits_of_last(int t) {
    const auto last = static_cast<std::size_t>(batch_.m - 1);
    const auto width = static_cast<std::size_t>(decoder_.hidden);
    // One row: the thread that owns row 0 of one takes it, once the last row is there.
    team_.barrier();
    if (t == 0)
        rms_norm({row(buffers_.x, last, decoder_.hidden), width}, weights_.vector(decoder_.output_norm),
                 static_cast<float>(decoder_.epsilon), {buffers_.h.data(), width});
    quantize_rows(t, share_of(1, t, team_.threads()), buffers_.h.data(), decoder_.hidden, {decoder_.output});
    team_.barrier();
    const MatmulTask output = task(decoder_.output, buffers_.logits.data());
    multiply_share(kernels_, {&output, 1}, t, team_.threads(), start_of_layer(t, 0));
}

void Engine::quantize_rows(int t, Range range, const float* x, std::int64_t width,
                           std::initializer_list<int> tensors) {
    const auto rows = static_cast<std::int64_t>(range.size());
    const float* first = x + static_cast<std::int64_t>(range.first) * width;
    const PanelFormat* done[8];
    std::size_t count = 0;
    for (const int tensor : tensors) {
        const PanelFormat& format = weights_.matrix(tensor).format;
        if (std::any_of(done, done + count, [&](const PanelFormat* f) { return *f == format; })) continue;
        done[count++] = &format;
        Activations& a = quantized_[static_cast<std::size_t>(format)][static_cast<std::size_t>(t)];
        if (rows == 0)
            a.m = 0;
        else
            quantize_activations({first, static_cast<std::size_t>(rows * width)}, rows, format,
                                 settings_.digits, a);
    }
}

std::span<const Activations> Engine::activations(int tensor) const {
    return quantized_[static_cast<std::size_t>(weights_.matrix(tensor).format)];
}

MatmulTask Engine::task(int tensor, float* y, std::int64_t index) const {
    return {&weights_.matrix(tensor), index, activations(tensor), y};
}

void Engine::add_residual(int t, int post_norm) {
    const Range mine = own(t);
    const auto width = static_cast<std::size_t>(decoder_.hidden);
    for (std::size_t i = mine.first; i < mine.last; ++i) {
        const std::span<float> y(row(buffers_.y, i, decoder_.hidden), width);
        if (post_norm >= 0) rms_norm(y, weights_.vector(post_norm), static_cast<float>(decoder_.epsilon), y);
        add_to({row(buffers_.x, i, decoder_.hidden), width}, y);
    }
}

const void* Engine::start_of_layer(int t, std::size_t layer) const {
    if (layer == decoder_.layers.size()) {
        const MatmulTask output = task(decoder_.output, nullptr);
        return start_of_share({&output, 1}, t, team_.threads());
    }
    const LayerTensors& l = decoder_.layers[layer].tensors;
    const MatmulTask qkv[] = {task(l.q, nullptr), task(l.k, nullptr), task(l.v, nullptr)};
    return start_of_share(qkv, t, team_.threads());
}

}  // namespace memwall::kernels
