#include "kernels/lab/layer_error.h"

#include <fmt/format.h>

#include <cmath>

#include "core/base/error.h"
#include "kernels/quantize/awq.h"
#include "kernels/quantize/block_codec.h"
#include "kernels/quantize/gptq.h"
#include "kernels/quantize/layer_objective.h"
#include "kernels/quantize/parallel.h"

namespace memwall::lab {
namespace {

using namespace quantize;

constexpr std::size_t kFactors = 16;
constexpr std::size_t kChannelsAnOutlier = 128;

Matrix round_trip_inputs(MatrixView x,
                         const std::function<void(std::span<const float>, std::span<float>)>& row) {
    Matrix out(x.rows, x.cols);
    parallel_for(x.rows, [&](std::size_t t) { row(x.row(t), out.row(t)); });
    return out;
}

}  // namespace

Matrix synthetic_inputs(std::size_t tokens, std::size_t channels, std::uint64_t seed) {
    Random random(seed, 0);
    Matrix loadings(channels, kFactors);
    std::vector<float> size(channels, 1.0f);
    for (std::size_t c = 0; c < channels; ++c)
        for (float& l : loadings.row(c))
            l = random.gaussian() * (1.0f / std::sqrt(static_cast<float>(kFactors)));
    for (std::size_t i = 0; i < std::max<std::size_t>(1, channels / kChannelsAnOutlier); ++i)
        size[random.bits() % channels] = static_cast<float>(20 * std::pow(5.0, random.uniform()));
    Matrix x(tokens, channels);
    parallel_for(tokens, [&](std::size_t t) {
        Random own(seed, t + 1);
        float factors[kFactors];
        for (float& f : factors) f = own.gaussian();
        for (std::size_t c = 0; c < channels; ++c) {
            float v = 0.5f * own.gaussian();
            for (std::size_t k = 0; k < kFactors; ++k) v += factors[k] * loadings.row(c)[k];
            x.row(t)[c] = v * size[c];
        }
    });
    return x;
}

LayerReport layer_errors(MatrixView w, MatrixView inputs, const std::vector<UniformFormat>& formats) {
    if (inputs.cols != w.cols || inputs.rows < 2)
        throw Error("", fmt::format("inputs of {} tokens x {} channels", inputs.rows, inputs.cols),
                    fmt::format("at least 2 tokens of {} channels", w.cols));
    const std::size_t half = inputs.rows / 2;
    const MatrixView calibration{inputs.data, half, inputs.cols};
    const MatrixView unseen{inputs.row(half).data(), inputs.rows - half, inputs.cols};
    LayerReport report{.rows = w.rows,
                       .channels = w.cols,
                       .calibration_tokens = half,
                       .unseen_tokens = inputs.rows - half,
                       .formats = {}};
    const HessianFactor factor = factor_hessian(second_moment(calibration).view());
    for (const UniformFormat& f : formats) {
        const Matrix plain = dequantize(quantize_uniform(f, w));
        const Matrix by_gptq = dequantize(gptq(w, factor, f));
        const AwqResult a = awq(w, calibration, {f});
        const Matrix by_awq = dequantize(a.matrix);
        report.formats.push_back({.format = uniform_name(f),
                                  .bits = stored_bits(f),
                                  .rounding = relative_output_error(w, plain.view(), calibration),
                                  .gptq = relative_output_error(w, by_gptq.view(), calibration),
                                  .awq = relative_output_error(w, by_awq.view(), calibration),
                                  .rounding_unseen = relative_output_error(w, plain.view(), unseen),
                                  .gptq_unseen = relative_output_error(w, by_gptq.view(), unseen),
                                  .awq_unseen = relative_output_error(w, by_awq.view(), unseen),
                                  .awq_alpha = a.alpha,
                                  .awq_clipped = a.clipped});
    }
    // The roles change: the inputs are what is rounded, the weights what it is multiplied with.
    const UniformFormat int8{8, Shift::symmetric, 0};
    const Matrix per_token =
        round_trip_inputs(unseen, [&](auto x, auto out) { round_trip_uniform(int8, {}, x, out); });
    report.inputs_int8 = relative_output_error(unseen, per_token.view(), w);
    const BlockCodec& q8 = *find_codec("Q8_0");
    if (w.cols % static_cast<std::size_t>(q8.block_len) == 0) {
        const Matrix blocks = round_trip_inputs(unseen, [&](auto x, auto out) {
            std::vector<std::byte> bytes(encoded_bytes(q8, x.size()));
            encode(q8, x, bytes);
            decode(q8, bytes, out);
        });
        report.inputs_q8_0 = relative_output_error(unseen, blocks.view(), w);
    }
    return report;
}

}  // namespace memwall::lab
