#include "kernels/quantize/layer_objective.h"

#include <Eigen/Core>
#include <cmath>
#include <vector>

#include "kernels/quantize/eigen_view.h"
#include "kernels/quantize/parallel.h"

namespace memwall::quantize {
namespace {

constexpr std::size_t kRows = 64;  // a thread's portion

/// Sum of squares of X (a - b)^T, or of X a^T without b.
double output_energy(MatrixView a, const MatrixView* b, MatrixView inputs) {
    std::vector<double> parts((a.rows + kRows - 1) / kRows);
    parallel_ranges(a.rows, kRows, [&](std::size_t first, std::size_t last) {
        RowMatrix e = rows_of(a, first, last);
        if (b) e -= rows_of(*b, first, last);
        const RowMatrix out = e * eigen(inputs).transpose();
        parts[first / kRows] = out.cast<double>().squaredNorm();
    });
    double sum = 0;
    for (const double p : parts) sum += p;
    return sum;
}

}  // namespace

Matrix second_moment(MatrixView inputs) {
    Matrix h(inputs.cols, inputs.cols);
    const auto x = eigen(inputs);
    Eigen::Map<RowMatrix> out(h.data.data(), x.cols(), x.cols());
    parallel_ranges(inputs.cols, kRows, [&](std::size_t first, std::size_t last) {
        const auto from = static_cast<Eigen::Index>(first), n = static_cast<Eigen::Index>(last - first);
        // The lower triangle; the block on the diagonal is whole.
        out.block(from, 0, n, from + n).noalias() =
            x.middleCols(from, n).transpose() * x.leftCols(from + n) / static_cast<float>(inputs.rows);
    });
    out.triangularView<Eigen::StrictlyUpper>() = out.transpose();
    return h;
}

double output_error(MatrixView a, MatrixView b, MatrixView inputs) {
    return output_energy(a, &b, inputs) / static_cast<double>(inputs.rows);
}

double relative_output_error(MatrixView a, MatrixView b, MatrixView inputs) {
    return std::sqrt(output_energy(a, &b, inputs) / output_energy(a, nullptr, inputs));
}

}  // namespace memwall::quantize
