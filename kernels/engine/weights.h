// All weights of a model in one piece of memory: panels one matrix after the other in the order they are
// read, vectors as floats between them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/model/model.h"
#include "kernels/engine/weight_source.h"
#include "kernels/host/huge_buffer.h"
#include "kernels/host/thread_team.h"
#include "kernels/panels/panels.h"

namespace memwall::kernels {

/// One matrix of Weights, or a stack of them.
struct Matrix {
    PanelFormat format = PanelFormat::w8;
    std::int64_t rows = 0, k = 0, count = 0;
    const std::uint8_t* data = nullptr;  ///< count x panels() panels
    const float* row_scales = nullptr;   ///< w8: count x panels() x 16

    std::int64_t panels() const { return (rows + kPanelRows - 1) / kPanelRows; }
    std::int64_t blocks() const { return (k + panel_layout(format).block - 1) / panel_layout(format).block; }
    std::size_t panel_bytes() const {
        return static_cast<std::size_t>(blocks()) * block_bytes(panel_layout(format));
    }
    /// Of one matrix of the stack.
    std::size_t bytes() const { return static_cast<std::size_t>(panels()) * panel_bytes(); }
    const std::uint8_t* matrix(std::int64_t index) const {
        return data + static_cast<std::size_t>(index) * bytes();
    }
};

class Weights {
  public:
    /// Packs every tensor of the model, `team` working together. Throws Error without memory or when the
    /// source does.
    Weights(const model::Model& model, const WeightSource& source, ThreadTeam& team);

    const Matrix& matrix(int tensor) const { return matrices_[static_cast<std::size_t>(tensor)]; }
    /// Empty for -1.
    std::span<const float> vector(int tensor) const;
    std::size_t allocated() const { return memory_.bytes(); }
    std::span<const std::byte> memory() const { return {memory_.data(), memory_.bytes()}; }

  private:
    struct Place {
        std::size_t offset = 0, bytes = 0, row_scales = 0;
        bool vector = false;
    };
    HugeBuffer memory_;
    std::vector<Matrix> matrices_;  // parallel to the model's tensors
    std::vector<Place> places_;
};

/// The values of one row, as dequantize() gives them.
void read_row(const Matrix& matrix, std::int64_t row, std::span<float> to);

}  // namespace memwall::kernels
