#include "kernels/quantize/gptq.h"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/error.h"
#include "kernels/quantize/eigen_view.h"
#include "kernels/quantize/parallel.h"

namespace memwall::quantize {
namespace {

using Index = Eigen::Index;
constexpr std::size_t kRows = 32;  // a thread's portion
constexpr int kBlock = 128;        // channels between two products over everything before

std::vector<std::int32_t> channel_order(MatrixView h, bool by_size) {
    std::vector<std::int32_t> order(h.cols);
    std::iota(order.begin(), order.end(), 0);
    const auto size = [&](std::int32_t c) {
        return h.row(static_cast<std::size_t>(c))[static_cast<std::size_t>(c)];
    };
    if (by_size)
        std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return size(a) > size(b); });
    return order;
}

/// The upper factor is the lower one of the reversed matrix; false when that is not positive definite.
bool factor(MatrixView h, const std::vector<std::int32_t>& order, double added, Matrix& upper) {
    const auto n = static_cast<Index>(h.cols);
    const auto channel = [&](Index reversed) {
        return static_cast<std::size_t>(order[static_cast<std::size_t>(n - 1 - reversed)]);
    };
    Eigen::MatrixXd reversed(n, n);
    for (Index c = 0; c < n; ++c)
        for (Index r = c; r < n; ++r) reversed(r, c) = h.row(channel(r))[channel(c)];
    reversed.diagonal().array() += added;
    Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>> llt(reversed);  // in place
    if (llt.info() != Eigen::Success) return false;
    upper = Matrix(h.cols, h.cols);
    for (Index k = 0; k < n; ++k) {
        const double inverse = 1 / reversed(n - 1 - k, n - 1 - k);
        for (Index j = 0; j <= k; ++j)
            upper.data[static_cast<std::size_t>(j * n + k)] =
                static_cast<float>(reversed(n - 1 - j, n - 1 - k) * inverse);
    }
    return true;
}

/// Rounds `last - first` rows of w, whose columns are in stored order.
void round_rows(const RowMatrix& w, const Eigen::Map<const RowMatrix>& a, UniformFormat format, Range tensor,
                std::size_t first, QuantMatrix& q) {
    const Index rows = w.rows(), cols = w.cols();
    const bool grouped = format.group > 0;
    const Index block = grouped ? q.group : kBlock;
    const auto groups = static_cast<std::size_t>(q.groups());
    RowMatrix error = RowMatrix::Zero(rows, cols);
    std::vector<Step> steps(static_cast<std::size_t>(rows));
    const auto set_step = [&](Index r, std::size_t g, Range range) {
        const Step step = steps[static_cast<std::size_t>(r)] = step_for(format, range.low, range.high);
        quantize::set_step(q, (first + static_cast<std::size_t>(r)) * groups + g, step);
    };
    if (!grouped)
        for (Index r = 0; r < rows; ++r)
            set_step(r, 0,
                     format.group < 0 ? tensor : range_of({w.row(r).data(), static_cast<std::size_t>(cols)}));

    for (Index from = 0; from < cols; from += block) {
        const Index n = std::min(block, cols - from);
        const auto within = a.block(from, from, n, n);
        RowMatrix target = w.middleCols(from, n);
        RowMatrix feedback = -error.leftCols(from) * a.block(0, from, from, n);
        if (grouped) {
            // A group's range is that of its weights after the corrections known so far, as if the channels
            // within it were not to be rounded: feedback x within^-1.
            RowMatrix corrected =
                target +
                within.triangularView<Eigen::UnitUpper>().template solve<Eigen::OnTheRight>(feedback);
            for (Index r = 0; r < rows; ++r)
                set_step(r, static_cast<std::size_t>(from / block),
                         range_of({corrected.row(r).data(), static_cast<std::size_t>(n)}));
        }
        target += feedback;
        const RowMatrix before = within.transpose();  // row k: what channel k takes from those before it
        for (Index k = 0; k < n; ++k)
            for (Index r = 0; r < rows; ++r) {
                const Step step = steps[static_cast<std::size_t>(r)];
                const float wanted = target(r, k) - error.row(r).segment(from, k).dot(before.row(k).head(k));
                const std::uint8_t code = code_for(format, step, wanted);
                q.codes[(first + static_cast<std::size_t>(r)) * static_cast<std::size_t>(cols) +
                        static_cast<std::size_t>(from + k)] = code;
                error(r, from + k) = value_of(step, code) - w(r, from + k);
            }
    }
}

}  // namespace

HessianFactor factor_hessian(MatrixView h, const HessianOptions& o) {
    if (h.rows != h.cols || h.cols == 0)
        throw Error("", fmt::format("a second moment of {} x {}", h.rows, h.cols), "a square matrix");
    HessianFactor f{{}, channel_order(h, o.act_order), o.act_order};
    double mean = 0;
    for (std::size_t i = 0; i < h.cols; ++i) mean += h.row(i)[i] / static_cast<double>(h.cols);
    if (mean <= 0) mean = 1;  // inputs that are all zero: plain rounding
    for (double damping = o.damping; std::isfinite(mean) && damping < 1e6; damping *= 10)
        if (factor(h, f.order, damping * mean, f.upper)) return f;
    throw Error("", "calibration inputs whose second moment cannot be factored", "finite inputs");
}

QuantMatrix gptq(MatrixView w, const HessianFactor& factor, UniformFormat format) {
    if (factor.order.size() != w.cols)
        throw Error("", fmt::format("a second moment of {} inputs", factor.order.size()),
                    fmt::format("{}", w.cols));
    QuantMatrix q = empty_matrix(format, w);
    if (factor.reordered) q.input_order = factor.order;
    const auto a = eigen(factor.upper.view());
    const Range tensor = range_of(w.all());
    parallel_ranges(w.rows, kRows, [&](std::size_t first, std::size_t last) {
        RowMatrix rows(static_cast<Index>(last - first), static_cast<Index>(w.cols));
        for (std::size_t r = first; r < last; ++r)
            for (std::size_t c = 0; c < w.cols; ++c)
                rows(static_cast<Index>(r - first), static_cast<Index>(c)) =
                    w.row(r)[static_cast<std::size_t>(factor.order[c])];
        round_rows(rows, a, format, tensor, first, q);
    });
    return q;
}

}  // namespace memwall::quantize
