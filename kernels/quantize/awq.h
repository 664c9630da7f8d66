// AWQ (Lin et al., arXiv 2306.00978): input channels that carry large activations are scaled up before plain
// rounding and their activations scaled down, by mean|x|^alpha with alpha searched; then the range of each
// group is clipped where that lowers the error of its share of the output.
#pragma once

#include "kernels/quantize/uniform.h"

namespace memwall::quantize {

struct AwqOptions {
    UniformFormat format;
    int alphas = 20;  ///< alpha = 0, 1/alphas, ... below 1
    bool clip = true;
};

struct AwqResult {
    QuantMatrix matrix;  ///< input_scale holds the channel scales
    double alpha = 0;
    bool clipped = false;  ///< whether clipping lowered the error of the whole output
};

/// `inputs`: calibration inputs [tokens, cols]. Throws Error when the widths differ.
AwqResult awq(MatrixView w, MatrixView inputs, const AwqOptions& options);

}  // namespace memwall::quantize
