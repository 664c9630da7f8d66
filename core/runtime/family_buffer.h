// Scratch memory of runtimes nobody has measured: closed forms of the family, with an interval that says so.
#pragma once

#include "core/base/interval.h"
#include "core/model/model.h"
#include "core/runtime/engine_cells.h"

namespace memwall::runtime {

/// One micro-batch of u tokens through the widest layer:
///   LAYER = 4 u (3 F + 3 E + heads x head_dim) + 2 u cells       with fused attention
///         + 4 u cells heads                                      without
/// F = the widest feed-forward a token meets (experts used x their width), E = hidden. The form fits
/// llama.cpp 0.5.0 within 0.05 % in 440 of 679 measured rows (median error 0); other engines reuse or keep
/// more, so the interval runs from half of it to twice it plus the logits of the whole micro-batch.
Interval<Bytes> family_buffer(const model::Model& model, const EngineSettings& settings);

/// Host buffer that llama.cpp keeps beside a GPU's: token rows and the unused embedding input (8 E T), masks
/// (2 bytes a cell and token, windowed layers have a second one) and indices. Exact in 31 of 32 public logs.
Bytes host_input_bytes(const model::Model& model, const EngineCells& cells);

}  // namespace memwall::runtime
