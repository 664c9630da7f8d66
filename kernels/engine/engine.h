// A small engine: prefill and decode of a whole decoder with the project's kernels, to hold predictions
// against.
//
//   ThreadTeam team;
//   const auto source = synthetic_weights(settings, 1, 4);
//   Engine engine(model, settings, *source, team);
//   const SequenceId s = engine.add_sequence();
//   std::span<const float> logits = engine.forward(s, prompt);           // in chunks
//   while (...) logits = engine.forward(s, {&token, 1});                 // one token
//
// All memory is allocated when the engine is made; engine_memory.h says beforehand how much.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/model/model.h"
#include "kernels/cache/kv_cache.h"
#include "kernels/engine/attention.h"
#include "kernels/engine/decoder.h"
#include "kernels/engine/engine_memory.h"
#include "kernels/engine/matmul_step.h"
#include "kernels/engine/settings.h"
#include "kernels/engine/weight_source.h"
#include "kernels/engine/weights.h"
#include "kernels/host/thread_team.h"

namespace memwall::kernels {

class Engine {
  public:
    /// Throws Error for models it cannot run (decoder_of) and without memory. `model` and `source` are only
    /// needed here, the team for as long as the engine lives.
    Engine(const model::Model& model, const EngineSettings& settings, const WeightSource& source,
           ThreadTeam& team, const Kernels& kernels = best_kernels());

    const Decoder& decoder() const { return decoder_; }
    const Weights& weights() const { return weights_; }
    const EngineSettings& settings() const { return settings_; }
    /// One a group of layers that are alike; a sequence has the same number in each.
    std::span<const std::unique_ptr<KvCache>> caches() const { return caches_; }

    /// Throws Error when there are settings.sequences of them.
    SequenceId add_sequence();
    void remove_sequence(SequenceId sequence);
    std::int64_t tokens(SequenceId sequence) const { return caches_.front()->tokens(sequence); }

    /// Runs `tokens` and returns the logits of the last one, valid until the next call. Throws Error without
    /// tokens, for tokens outside the vocabulary, or when the context is full.
    std::span<const float> forward(SequenceId sequence, std::span<const std::int32_t> tokens);
    /// Makes a sequence `n` tokens longer without running them, keys and values drawn at random: for timing
    /// at depth.
    void fill(SequenceId sequence, std::int64_t n);

    /// Puts weights and caches out of the processor's caches (host/evict.h): the next pass reads them from
    /// memory. For sequences that were as long as the context once, so that no page comes in by this.
    void evict();

    /// What was asked of the system, counted where it was asked for.
    EngineBytes allocated() const;
    /// Smallest CPU / wall time of a thread in the last forward().
    double cpu_share() const { return time_.share(); }

  private:
    struct Batch {
        SequenceId sequence = 0;
        std::span<const std::int32_t> tokens;
        std::int64_t first = 0, m = 0;
        bool logits = false;
    };

    // engine.cpp: what surrounds a pass. Steps below run on every thread; `t` is the thread.
    void run_pass(const Batch& batch);
    void pass(int t);
    void embed(int t);
    void logits_of_last(int t);
    // layer.cpp
    void attention_block(int t, std::size_t layer);
    void prepare_heads(const DecoderLayer& layer, std::int64_t head);
    void feed_forward(int t, std::size_t layer);
    void experts_of_one(int t, std::size_t layer);
    void experts_of_many(int t, std::size_t layer);
    void route(int t, const DecoderLayer& layer);
    /// The gate and up products of panels [first, last) and the activation of their rows.
    void gate_and_up(const DecoderLayer& layer, std::int64_t index, std::span<const Activations> gate,
                     std::span<const Activations> up, std::int64_t first, std::int64_t last,
                     std::int64_t tokens, std::int64_t row, const void* next);

    Range own(int t) const { return share_of(static_cast<std::size_t>(batch_.m), t, team_.threads()); }
    /// Quantizes this thread's rows [range) of a buffer for every matrix of `tensors`.
    void quantize_rows(int t, Range range, const float* x, std::int64_t width,
                       std::initializer_list<int> tensors);
    std::span<const Activations> activations(int tensor) const;
    MatmulTask task(int tensor, float* y, std::int64_t index = 0) const;
    /// This thread's rows of the residual stream += y, normalised before if the layer says so.
    void add_residual(int t, int post_norm);
    /// Where thread `t` reads next: the query matrix of a layer, or the output after the last.
    const void* start_of_layer(int t, std::size_t layer) const;
    static float* row(const std::span<float>& buffer, std::size_t i, std::int64_t width) {
        return buffer.data() + static_cast<std::int64_t>(i) * width;
    }

    EngineSettings settings_;
    Decoder decoder_;
    ThreadTeam& team_;
    const Kernels& kernels_;
    Weights weights_;
    std::vector<std::unique_ptr<KvCache>> caches_;

    // Activations: floats in one piece, quantized forms [format][thread], and
    // [format][slot] for the experts of one token.
    HugeBuffer floats_;
    ActivationBuffers buffers_;
    std::vector<std::vector<Activations>> quantized_;
    std::vector<std::vector<Activations>> slots_;
    std::vector<AttentionScratch> scratch_;
    std::unique_ptr<SharedParts> parts_;
    std::vector<double> frequencies_, window_frequencies_;
    std::vector<std::int32_t> chosen_;  // [token][used]
    std::vector<std::int32_t> order_;   // tokens x used entries (token x used + slot), by expert
    std::vector<std::int32_t> expert_starts_;

    Batch batch_;
    RunTime time_;  ///< of the last forward()
};

}  // namespace memwall::kernels
