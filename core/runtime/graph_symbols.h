// The numbers that operator tables may read: sizes and switches of a model, of its layers, and of a batch.
// graph_symbols.cpp holds the list; tables name them, nothing else does.
#pragma once

#include <array>
#include <cstdint>

#include "core/runtime/engine_cells.h"
#include "core/runtime/graph_interpreter.h"
#include "core/runtime/graph_language.h"

namespace memwall::runtime {

/// Values of the batch symbols, the first of the model symbols: tokens, sequences, outputs ... They are all
/// that settings change of a graph, so equal arrays mean equal graphs.
inline constexpr std::size_t kBatchSymbols = 9;
using BatchValues = std::array<std::int64_t, kBatchSymbols>;

const SymbolNames& symbol_names();

/// Values of the model symbols, those of the batch 0. `honours_windows`: the engine keeps windowed caches for
/// this architecture.
std::vector<std::int64_t> model_values(const model::Model& model, bool honours_windows);
LayerValues layer_values(const model::Model& model, bool honours_windows);

/// The two graphs that the engine reserves for: a full micro-batch, and one token of each sequence.
BatchValues prompt_batch(const EngineCells& cells, const EngineSettings& settings);
BatchValues token_batch(const EngineCells& cells, const EngineSettings& settings);

}  // namespace memwall::runtime
