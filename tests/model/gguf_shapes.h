// Files that are structurally real models (keys, tensor names and shapes, a made-up tokenizer) without their
// data: the shapes on which llama.cpp's own allocations were measured.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tests/model/gguf_writer.h"

namespace memwall::test {

/// `shape` holds the fields of tests/data/gguf_shapes.json ("n_layer", "n_embd", "n_ff", "n_head" ...),
/// `quant` a block format, "Q4_K_M" or "MXFP4" (experts MXFP4, the rest Q8_0).
GgufWriter shape_gguf(const std::string& name, const std::string& architecture, const nlohmann::json& shape,
                      const std::string& quant);

/// A row of tests/data/gguf_shapes.json (or of any table with "model", "arch", "shape" and "quant") as a
/// file; its data is a hole.
void write_shape_gguf(const std::string& path, const nlohmann::json& row);

}  // namespace memwall::test
