// Our matrices as Eigen sees them. Only for .cpp files: Eigen stays out of public headers.
#pragma once

#include <Eigen/Core>

#include "kernels/quantize/matrix.h"

namespace memwall::quantize {

using RowMatrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

inline Eigen::Map<const RowMatrix> eigen(MatrixView m) {
    return {m.data, static_cast<Eigen::Index>(m.rows), static_cast<Eigen::Index>(m.cols)};
}
inline Eigen::Map<const RowMatrix> rows_of(MatrixView m, std::size_t first, std::size_t last) {
    return {m.data + first * m.cols, static_cast<Eigen::Index>(last - first),
            static_cast<Eigen::Index>(m.cols)};
}

}  // namespace memwall::quantize
