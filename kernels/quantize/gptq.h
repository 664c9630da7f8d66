// GPTQ (Frantar et al., arXiv 2210.17323): round one input channel after the other, each time correcting for
// the errors already made, so that the layer's output over calibration inputs changes least.
//
// We use the form of LDLQ, shown to be the same in QuIP (Chee et al., arXiv 2307.13304, theorem 6): with
// H = A D A^T, A unit upper triangular, the error e of a row costs sum_k D_k (e_k + sum_{j<k} e_j A_jk)^2, so
// the best target for channel k is w_k - sum_{j<k} e_j A_jk. It needs one Cholesky factor and no inverse.
#pragma once

#include "kernels/quantize/uniform.h"

namespace memwall::quantize {

struct GptqOptions {
    UniformFormat format;
    bool act_order = true;  ///< channels with large inputs first; groups are of that order (input_order)
    double damping = 0.01;  ///< of the mean diagonal, added to it; raised tenfold until H can be factored
};

/// `hessian`: second_moment(inputs), cols x cols. Throws Error when its size is another or when it holds a
/// value that is not finite.
QuantMatrix gptq(MatrixView w, MatrixView hessian, const GptqOptions& options);

}  // namespace memwall::quantize
