// Models from the shapes in tests/data: the few numbers that describe a synthetic GGUF file.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/model/model.h"
#include "core/runtime/engine_cells.h"

namespace memwall::test {

/// A Model with layers (no tensors) from a shape: {"arch": "llama", "n_layer": 12, "n_embd": 768, ...}.
model::Model model_from_shape(const nlohmann::json& shape);

/// The file tests/data/NAME.
nlohmann::json read_json(const std::string& name);

/// Rows of sizes, one a model and its settings: tests/data/llamacpp_memory.json or one of the same form.
class EngineRows {
  public:
    explicit EngineRows(const std::string& file);
    std::size_t size() const;
    model::Model model(std::size_t row) const;
    runtime::EngineSettings settings(std::size_t row) const;
    std::string text(std::size_t row, const std::string& column) const;
    std::int64_t number(std::size_t row, const std::string& column) const;
    double real(std::size_t row, const std::string& column) const;

  private:
    const nlohmann::json& cell(std::size_t row, const std::string& column) const;
    std::shared_ptr<const nlohmann::json> data_;
};

}  // namespace memwall::test
