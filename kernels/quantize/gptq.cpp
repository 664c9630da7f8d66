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

/// A of H = A D A^T for H permuted and damped. The upper factor is the lower one of the reversed matrix.
RowMatrix unit_upper_factor(MatrixView h, const std::vector<std::int32_t>& order, double damping) {
    const auto n = static_cast<Index>(h.cols);
    double mean = 0;
    for (std::size_t i = 0; i < h.cols; ++i) mean += h.row(i)[i];
    mean /= static_cast<double>(h.cols);
    if (!std::isfinite(mean)) throw Error("", "calibration inputs that are not finite", "finite inputs");
    if (mean <= 0) mean = 1;  // inputs that are all zero: plain rounding
    const auto channel = [&](Index reversed) {
        return static_cast<std::size_t>(order[static_cast<std::size_t>(n - 1 - reversed)]);
    };
    for (; damping < 1e6; damping *= 10) {
        Eigen::MatrixXd reversed(n, n);
        for (Index c = 0; c < n; ++c)
            for (Index r = c; r < n; ++r) reversed(r, c) = h.row(channel(r))[channel(c)];
        reversed.diagonal().array() += damping * mean;
        const Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>> llt(reversed);
        if (llt.info() != Eigen::Success) continue;
        RowMatrix a = RowMatrix::Zero(n, n);
        for (Index k = 0; k < n; ++k) {
            const double inverse = 1 / reversed(n - 1 - k, n - 1 - k);
            for (Index j = 0; j <= k; ++j)
                a(j, k) = static_cast<float>(reversed(n - 1 - j, n - 1 - k) * inverse);
        }
        return a;
    }
    throw Error("", "a second moment that cannot be factored", "finite calibration inputs");
}

/// Rounds `last - first` rows of w, whose columns are in stored order.
void round_rows(const RowMatrix& w, const RowMatrix& a, const GptqOptions& o, Range tensor, std::size_t first,
                QuantMatrix& q) {
    const Index rows = w.rows(), cols = w.cols();
    const bool grouped = o.format.group > 0;
    const Index block = grouped ? q.group : kBlock;
    const auto groups = static_cast<std::size_t>(q.groups());
    RowMatrix error = RowMatrix::Zero(rows, cols);
    std::vector<Step> steps(static_cast<std::size_t>(rows));
    const auto set_step = [&](Index r, std::size_t g, Range range) {
        const Step step = steps[static_cast<std::size_t>(r)] = step_for(o.format, range.low, range.high);
        quantize::set_step(q, (first + static_cast<std::size_t>(r)) * groups + g, step);
    };
    if (!grouped)
        for (Index r = 0; r < rows; ++r)
            set_step(
                r, 0,
                o.format.group < 0 ? tensor : range_of({w.row(r).data(), static_cast<std::size_t>(cols)}));

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
                const std::uint8_t code = code_for(o.format, step, wanted);
                q.codes[(first + static_cast<std::size_t>(r)) * static_cast<std::size_t>(cols) +
                        static_cast<std::size_t>(from + k)] = code;
                error(r, from + k) = value_of(step, code) - w(r, from + k);
            }
    }
}

}  // namespace

QuantMatrix gptq(MatrixView w, MatrixView hessian, const GptqOptions& o) {
    if (hessian.rows != w.cols || hessian.cols != w.cols || w.cols == 0)
        throw Error(
            "", fmt::format("a second moment of {} x {} for {} inputs", hessian.rows, hessian.cols, w.cols));
    QuantMatrix q{.rows = static_cast<int>(w.rows),
                  .cols = static_cast<int>(w.cols),
                  .bits = o.format.bits,
                  .group = o.format.group > 0 ? o.format.group : static_cast<int>(w.cols),
                  .codes = std::vector<std::uint8_t>(w.rows * w.cols),
                  .scales = {},
                  .zeros = {},
                  .minima = {},
                  .input_order = channel_order(hessian, o.act_order),
                  .input_scale = {}};
    q.scales.resize(w.rows * static_cast<std::size_t>(q.groups()));
    q.zeros.resize(q.scales.size());
    if (o.format.shift == Shift::minimum) q.minima.resize(q.scales.size());
    const RowMatrix a = unit_upper_factor(hessian, q.input_order, o.damping);
    const Range tensor = range_of(w.all());
    parallel_ranges(w.rows, kRows, [&](std::size_t first, std::size_t last) {
        RowMatrix rows(static_cast<Index>(last - first), static_cast<Index>(w.cols));
        for (Index r = 0; r < rows.rows(); ++r)
            for (Index c = 0; c < rows.cols(); ++c)
                rows(r, c) = w.row(
                    first + static_cast<std::size_t>(
                                r))[static_cast<std::size_t>(q.input_order[static_cast<std::size_t>(c)])];
        round_rows(rows, a, o, tensor, first, q);
    });
    if (!o.act_order) q.input_order.clear();
    return q;
}

}  // namespace memwall::quantize
