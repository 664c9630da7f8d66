// GGUF tensors as QuantMatrix: the codes and scales of the file, moved, never rounded again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "kernels/panels/panels.h"

namespace memwall::kernels {

/// The panel format that holds a ggml type (id as in GGUF files) exactly: F16, Q4_0, Q8_0, Q4_K.
std::optional<PanelFormat> panel_format_of_ggml(std::uint32_t ggml_type);

/// `bytes` is the tensor as it stands in the file: rows of k values in blocks. Throws Error when the type has
/// no panel format, k does not divide into blocks, or the bytes are not as many as rows x k ask for.
QuantMatrix matrix_of_ggml(std::uint32_t ggml_type, std::int64_t rows, std::int64_t k,
                           std::span<const std::byte> bytes);

}  // namespace memwall::kernels
