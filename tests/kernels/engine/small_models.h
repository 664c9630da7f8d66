// Small decoders of every kind that the engine runs, and what they compute in plain floating point.
#pragma once

#include <cstdint>
#include <vector>

#include "core/model/model.h"
#include "kernels/engine/engine.h"

namespace memwall::kernels::test {

/// Llama-like: rotation of neighbours, no bias, output of its own.
model::Model llama_like();
/// Qwen2-like: biases on Q, K and V, tied output, seven query heads a KV head.
model::Model qwen_like();
/// Qwen3-MoE-like: norms on queries and keys, 8 experts of which 2 are used.
model::Model moe_like();
/// Gemma-3-like: two windowed layers, one that sees everything; four norms, GELU, one KV head.
model::Model windowed_like(std::int64_t window = 40);

struct Reference {
    std::vector<std::vector<double>> logits;  ///< [token][vocabulary]
    /// Smallest distance, over all tokens and layers, of a router logit that made an expert chosen from one
    /// that did not. A rounding larger than that may choose another expert, and all bets are off.
    double margin = 1e9;
};
/// In double precision with the weights as the source gives them, keys and values rounded as the cache's
/// pages do unless `exact_cache`. Written apart from the engine and as plainly as the formulas are.
Reference reference_logits(const model::Model& model, const EngineSettings& settings,
                           const WeightSource& source, const std::vector<std::int32_t>& tokens,
                           bool exact_cache = false);

/// max |a - b| / max |b|.
double relative_error(std::span<const float> a, const std::vector<double>& b);

std::vector<std::int32_t> random_tokens(std::size_t n, std::int64_t vocabulary, std::uint32_t seed);

}  // namespace memwall::kernels::test
