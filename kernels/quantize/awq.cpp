#include "kernels/quantize/awq.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "kernels/quantize/eigen_view.h"
#include "kernels/quantize/layer_objective.h"
#include "kernels/quantize/parallel.h"

namespace memwall::quantize {
namespace {

using Index = Eigen::Index;
constexpr std::size_t kRows = 64;  // a thread's portion
constexpr int kClips = 10;         // ranges of 1.00, 0.95, ... 0.55 of the full one
constexpr float kClipStep = 0.05f;
constexpr float kSmallest = 1e-4f;  // of a channel's mean and of its scale, as AWQ's own code has it

std::vector<float> mean_magnitude(MatrixView x) {
    std::vector<double> sum(x.cols);
    for (std::size_t t = 0; t < x.rows; ++t)
        for (std::size_t c = 0; c < x.cols; ++c) sum[c] += std::fabs(x.row(t)[c]);
    std::vector<float> mean(x.cols);
    for (std::size_t c = 0; c < x.cols; ++c)
        mean[c] = static_cast<float>(sum[c] / static_cast<double>(x.rows));
    return mean;
}

/// mean^alpha, centred so that the largest and the smallest are each other's inverse.
std::vector<float> channel_scales(const std::vector<float>& mean, double alpha) {
    std::vector<float> s(mean.size());
    for (std::size_t c = 0; c < s.size(); ++c)
        s[c] = std::max(std::pow(std::max(mean[c], kSmallest), static_cast<float>(alpha)), kSmallest);
    const auto [low, high] = std::minmax_element(s.begin(), s.end());
    const float centre = std::sqrt(*low * *high);
    for (float& v : s) v /= centre;
    return s;
}

Matrix scaled(MatrixView w, const std::vector<float>& s) {
    Matrix out(w.rows, w.cols);
    parallel_for(w.rows, [&](std::size_t r) {
        for (std::size_t c = 0; c < w.cols; ++c) out.row(r)[c] = w.row(r)[c] * s[c];
    });
    return out;
}

/// Chooses for each row and group the clip with the smallest error of that group's share of the output, and
/// rounds again.
void clip_groups(UniformFormat format, MatrixView w, MatrixView inputs, QuantMatrix& q) {
    const auto length = static_cast<std::size_t>(q.group), groups = static_cast<std::size_t>(q.groups());
    for (std::size_t g = 0; g < groups; ++g) {
        const std::size_t from = g * length, n = std::min(length, w.cols - from);
        const auto cols = static_cast<Index>(n), at = static_cast<Index>(from);
        // The scaled weights see inputs divided by their scale.
        RowMatrix x = eigen(inputs).middleCols(at, cols);
        for (Index c = 0; c < cols; ++c) x.col(c) /= q.input_scale[from + static_cast<std::size_t>(c)];
        const RowMatrix h = x.transpose() * x;
        parallel_ranges(w.rows, kRows, [&](std::size_t first, std::size_t last) {
            const RowMatrix part = rows_of(w, first, last).middleCols(at, cols);
            std::vector<float> least(last - first, INFINITY);
            RowMatrix error(part.rows(), cols);
            std::vector<Step> steps(last - first);
            for (int clip = 0; clip < kClips; ++clip) {
                const float keep = 1 - kClipStep * static_cast<float>(clip);
                for (Index r = 0; r < part.rows(); ++r) {
                    const Range range = range_of({part.row(r).data(), n});
                    const Step step = steps[static_cast<std::size_t>(r)] =
                        step_for(format, range.low * keep, range.high * keep);
                    for (Index c = 0; c < cols; ++c)
                        error(r, c) = part(r, c) - value_of(step, code_for(format, step, part(r, c)));
                }
                const RowMatrix cost = error * h;
                for (Index r = 0; r < part.rows(); ++r) {
                    const float e = cost.row(r).dot(error.row(r));
                    const auto i = static_cast<std::size_t>(r);
                    if (!(e < least[i])) continue;
                    least[i] = e;
                    set_step(q, (first + i) * groups + g, steps[i]);
                }
            }
            for (std::size_t r = first; r < last; ++r) {
                const Step step = step_at(q, r * groups + g);
                for (std::size_t c = from; c < from + n; ++c)
                    q.codes[r * w.cols + c] = code_for(format, step, w.row(r)[c]);
            }
        });
    }
}

}  // namespace

AwqResult awq(MatrixView w, MatrixView inputs, const AwqOptions& o) {
    if (inputs.cols != w.cols || inputs.rows == 0)
        throw Error("", fmt::format("inputs of {} channels for {} columns", inputs.cols, w.cols));
    const std::vector<float> mean = mean_magnitude(inputs);
    AwqResult best;
    double least = INFINITY;
    Matrix best_weights;
    for (int i = 0; i < o.alphas; ++i) {
        const double alpha = static_cast<double>(i) / o.alphas;
        std::vector<float> scales = channel_scales(mean, alpha);
        Matrix weights = scaled(w, scales);
        QuantMatrix q = quantize_uniform(o.format, weights.view());
        q.input_scale = std::move(scales);
        const double error = output_error(w, dequantize(q).view(), inputs);
        if (!(error < least)) continue;
        least = error;
        best = {std::move(q), alpha, false};
        best_weights = std::move(weights);
    }
    if (!o.clip || best.matrix.rows == 0 || o.format.group < 0) return best;
    QuantMatrix clipped = best.matrix;
    clip_groups(o.format, best_weights.view(), inputs, clipped);
    if (output_error(w, dequantize(clipped).view(), inputs) < least) {
        best.matrix = std::move(clipped);
        best.clipped = true;
    }
    return best;
}

}  // namespace memwall::quantize
