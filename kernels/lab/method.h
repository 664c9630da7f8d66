// A way of storing weights that the laboratory tries: a block format, a uniform one, or FP8. One name, one
// round trip.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/quantize/block_codec.h"
#include "kernels/quantize/matrix.h"
#include "kernels/quantize/uniform.h"

namespace memwall::lab {

using quantize::Matrix;
using quantize::MatrixView;

struct Method {
    enum class Kind : std::uint8_t { block, uniform, fp8, nf4_double } kind = Kind::block;
    std::string name;
    double bits = 0;                              ///< stored a weight of a 4096 x 4096 matrix
    const quantize::BlockCodec* codec = nullptr;  ///< block
    quantize::UniformFormat uniform;              ///< uniform; fp8: only its group, 0 or -1
};

/// "Q4_K", "int4-g128", "fp8-channel", "bnb-nf4-dq", ... in any case. Throws Error naming what there is.
Method parse_method(std::string_view name);
/// Comma-separated names, each once.
std::vector<Method> parse_methods(std::string_view names);
/// What the command tries unless told otherwise, large to small.
std::vector<Method> default_methods();

/// Whether rows of that length can be stored so.
bool fits(const Method& method, std::size_t cols);
/// Quantized and back. Scales of a whole tensor are those of the rows given. `w` must be finite and fit.
Matrix round_trip(const Method& method, MatrixView w);

}  // namespace memwall::lab
