// What the engine allocates, as arithmetic over a model and settings: the prediction that `verify` holds
// against the counted bytes. Weights and KV go by core's formulas, padded as the panels and pages are.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/units.h"
#include "core/model/model.h"
#include "kernels/engine/decoder.h"
#include "kernels/engine/settings.h"
#include "kernels/engine/weight_source.h"

namespace memwall::kernels {

struct EngineBytes {
    Bytes weights, kv_cache, activations;
    Bytes total() const { return weights + kv_cache + activations; }
    bool operator==(const EngineBytes&) const = default;
};

EngineBytes engine_bytes(const model::Model& model, const EngineSettings& settings,
                         const WeightSource& source, int threads);

/// Settings of the cache of one group of layers: every sequence in whole pages, windowed layers as many as
/// their window and a chunk can touch.
KvSettings cache_settings(const KvShape& shape, const EngineSettings& settings);

/// Pages that one query of the model can see at most.
std::int64_t most_pages(const Decoder& decoder, const EngineSettings& settings);

/// Float buffers of a pass, cut from one piece of memory.
struct ActivationBuffers {
    std::span<float> x, h, y;            ///< [chunk][hidden]: residual stream, normalised, a block's result
    std::span<float> q, k, v, attended;  ///< [chunk][heads x width]
    std::span<float> gate, up;           ///< [chunk or used][width]
    std::span<float> angles, window_angles;  ///< [chunk][key_dim]
    std::span<float> logits;                 ///< [vocabulary]
    std::span<float> routed, weights;        ///< experts: [chunk][count], [chunk][used]
    std::span<float> gathered, results;      ///< experts: [chunk][hidden], [chunk or used][hidden]
};
/// Cuts `memory`, or only measures with nullptr. Returns the bytes.
std::size_t cut_buffers(const Decoder& decoder, const EngineSettings& settings, std::byte* memory,
                        ActivationBuffers& buffers);

/// A quantized form that a step needs: panels of one format times rows of k values.
struct QuantizedNeed {
    PanelFormat format;
    std::int64_t k;
};
/// Room of `rows` rows.
std::size_t quantized_bytes(const QuantizedNeed& need, std::int64_t rows, int digits);
/// By format, the widest k that is multiplied; formats that do not occur are left out.
std::vector<QuantizedNeed> quantized_needs(const Decoder& decoder, const model::Model& model,
                                           const WeightSource& source);
/// The same of the experts' second matrices alone: every chosen expert of a single token has activations of
/// its own.
std::vector<QuantizedNeed> slot_needs(const Decoder& decoder, const model::Model& model,
                                      const WeightSource& source);
/// Most experts a token visits; 0 without experts.
std::int64_t most_used(const Decoder& decoder);

}  // namespace memwall::kernels
