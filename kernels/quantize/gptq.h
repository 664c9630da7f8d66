// GPTQ (Frantar et al., arXiv 2210.17323): round one input channel after the other, each time correcting for
// the errors already made, so that the layer's output over calibration inputs changes least.
//
// We use the form of LDLQ, shown to be the same in QuIP (Chee et al., arXiv 2307.13304, theorem 6): with
// H = A D A^T, A unit upper triangular, the error e of a row costs sum_k D_k (e_k + sum_{j<k} e_j A_jk)^2, so
// the best target for channel k is w_k - sum_{j<k} e_j A_jk. It needs one Cholesky factor and no inverse.
#pragma once

#include "kernels/quantize/uniform.h"

namespace memwall::quantize {

/// A of H = A D A^T, H damped and its channels reordered. Serves any format of the same layer.
struct HessianFactor {
    Matrix upper;
    std::vector<std::int32_t> order;  ///< input channel of each column
    bool reordered = false;
};

struct HessianOptions {
    bool act_order = true;  ///< channels with large inputs first; groups are of that order (input_order)
    double damping = 0.01;  ///< of the mean diagonal, added to it; raised tenfold until H can be factored
};

/// `hessian`: second_moment(inputs). Throws Error when it is not square or holds a value that is not finite.
HessianFactor factor_hessian(MatrixView hessian, const HessianOptions& options = {});

/// Throws Error when the factor is for another number of inputs.
QuantMatrix gptq(MatrixView w, const HessianFactor& factor, UniformFormat format);

}  // namespace memwall::quantize
