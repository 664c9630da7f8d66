// What GPTQ and AWQ minimise: the error of a linear layer's output over calibration inputs.
#pragma once

#include "kernels/quantize/matrix.h"

namespace memwall::quantize {

/// X^T X / tokens of inputs [tokens, channels].
Matrix second_moment(MatrixView inputs);

/// Sum over rows of e H e^T, e = a - b, H = second_moment(inputs): tokens x this is the squared error of the
/// outputs.
double output_error(MatrixView a, MatrixView b, MatrixView inputs);
/// |X (a - b)^T| / |X a^T|, Frobenius norms.
double relative_output_error(MatrixView a, MatrixView b, MatrixView inputs);

}  // namespace memwall::quantize
