// Where the engine's weights come from: made up in the shapes of a descriptor, or a GGUF file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/model/model.h"
#include "kernels/engine/settings.h"
#include "kernels/panels/panels.h"

namespace memwall::kernels {

class WeightSource {
  public:
    virtual ~WeightSource() = default;
    /// How a matrix is packed.
    virtual PanelFormat format(const model::Tensor& tensor) const = 0;
    /// Rows [first, first + n) of matrix `index` of a stack (0 unless experts). May be called by several
    /// threads.
    virtual QuantMatrix rows(const model::Tensor& tensor, std::int64_t index, std::int64_t first,
                             std::int64_t n) const = 0;
    /// A norm, bias or table of factors.
    virtual std::vector<float> vector(const model::Tensor& tensor) const = 0;
    /// Panels of a matrix that differ; the others repeat them. 0 = all differ.
    virtual std::int64_t distinct_panels(const model::Tensor&) const { return 0; }
    /// What a file says of rotation and norms; 0 = nothing.
    virtual double rope_base() const { return 0; }
    virtual double epsilon() const { return 0; }
};

/// Weights without meaning, uniform with variance 1 / inputs, quantized to the settings' formats. The same
/// seed gives the same. `distinct` panels a matrix are drawn and repeated (routers are drawn whole): enough
/// for timing, and a gigabyte takes a second; 0 draws every one.
std::unique_ptr<WeightSource> synthetic_weights(const EngineSettings& settings, std::uint64_t seed,
                                                std::int64_t distinct);

/// Tensors of one GGUF file. F16, Q4_0, Q8_0 and Q4_K keep their values exactly; F32 and BF16 become f16;
/// every other format the project decodes (Q6_K, Q5_K ...) becomes w8g32. Throws Error as the readers do, and
/// for files that are cut, split or big-endian.
std::unique_ptr<WeightSource> gguf_weights(const std::string& path);

}  // namespace memwall::kernels
