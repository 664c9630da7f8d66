#include <Eigen/Dense>
#include <cmath>

#include "core/base/error.h"
#include "kernels/lab/layer_error.h"
#include "kernels/lab/random_weights.h"
#include "kernels/quantize/awq.h"
#include "kernels/quantize/gptq.h"
#include "kernels/quantize/layer_objective.h"
#include "tests/catch.h"

using namespace memwall;
using namespace memwall::quantize;

namespace {

Matrix gaussian(std::size_t rows, std::size_t cols, std::uint64_t seed) {
    return lab::random_weights({}, rows, cols, seed);
}

/// GPTQ as its paper writes it: the inverse of H, one channel after the other, every weight to the right
/// corrected at once, the inverse shrunk by the channel. Doubles throughout.
std::vector<std::uint8_t> gptq_by_the_book(const Matrix& w, const Matrix& h, UniformFormat f,
                                           double damping) {
    const auto n = static_cast<Eigen::Index>(w.cols), m = static_cast<Eigen::Index>(w.rows);
    Eigen::MatrixXd hessian(n, n), weights(m, n);
    for (Eigen::Index r = 0; r < n; ++r)
        for (Eigen::Index c = 0; c < n; ++c) hessian(r, c) = h.data[static_cast<std::size_t>(r * n + c)];
    for (Eigen::Index r = 0; r < m; ++r)
        for (Eigen::Index c = 0; c < n; ++c) weights(r, c) = w.data[static_cast<std::size_t>(r * n + c)];
    hessian.diagonal().array() += damping * hessian.diagonal().mean();
    Eigen::MatrixXd inverse = hessian.inverse();
    const auto length = static_cast<Eigen::Index>(f.group);
    std::vector<std::uint8_t> codes(w.data.size());
    std::vector<Step> steps(w.rows);
    for (Eigen::Index k = 0; k < n; ++k) {
        if (k % length == 0)
            for (Eigen::Index r = 0; r < m; ++r) {
                const auto part = weights.row(r).segment(k, length);
                steps[static_cast<std::size_t>(r)] =
                    step_for(f, static_cast<float>(part.minCoeff()), static_cast<float>(part.maxCoeff()));
            }
        for (Eigen::Index r = 0; r < m; ++r) {
            const Step step = steps[static_cast<std::size_t>(r)];
            const std::uint8_t code = code_for(f, step, static_cast<float>(weights(r, k)));
            codes[static_cast<std::size_t>(r * n + k)] = code;
            const double error = (weights(r, k) - value_of(step, code)) / inverse(k, k);
            weights.row(r).tail(n - k) -= error * inverse.row(k).tail(n - k);
        }
        inverse -= (inverse.col(k) * inverse.row(k) / inverse(k, k)).eval();
    }
    return codes;
}

}  // namespace

TEST_CASE("second moments and output errors equal their definitions", "[quantize]") {
    const Matrix x = gaussian(50, 130, 1), a = gaussian(70, 130, 2), b = gaussian(70, 130, 3);
    const Matrix h = second_moment(x.view());
    double sum = 0, energy = 0, worst = 0;
    for (std::size_t i = 0; i < 130; ++i)
        for (std::size_t j = 0; j < 130; ++j) {
            double s = 0;
            for (std::size_t t = 0; t < 50; ++t) s += static_cast<double>(x.row(t)[i]) * x.row(t)[j];
            worst = std::max(worst, std::fabs(s / 50 - h.row(i)[j]));
        }
    CHECK(worst < 1e-5);
    for (std::size_t t = 0; t < 50; ++t)
        for (std::size_t r = 0; r < 70; ++r) {
            double e = 0, y = 0;
            for (std::size_t c = 0; c < 130; ++c) {
                e += static_cast<double>(x.row(t)[c]) * (static_cast<double>(a.row(r)[c]) - b.row(r)[c]);
                y += static_cast<double>(x.row(t)[c]) * a.row(r)[c];
            }
            sum += e * e;
            energy += y * y;
        }
    CHECK(output_error(a.view(), b.view(), x.view()) == Approx(sum / 50).epsilon(1e-5));
    CHECK(relative_output_error(a.view(), b.view(), x.view()) ==
          Approx(std::sqrt(sum / energy)).epsilon(1e-5));
}

TEST_CASE("GPTQ without correlation is plain rounding", "[quantize]") {
    const Matrix w = gaussian(20, 256, 4);
    Matrix h(256, 256);
    for (std::size_t i = 0; i < 256; ++i) h.row(i)[i] = 2;
    const UniformFormat f = *parse_uniform("int4-asym-g64");
    const QuantMatrix q = gptq(w.view(), factor_hessian(h.view()), f), plain = quantize_uniform(f, w.view());
    CHECK(q.codes == plain.codes);
    CHECK(q.scales == plain.scales);
    CHECK(q.zeros == plain.zeros);
}

TEST_CASE("GPTQ makes the choices of the published algorithm", "[quantize]") {
    const Matrix w = gaussian(24, 256, 5);
    const Matrix x = lab::synthetic_inputs(512, 256, 6);
    const Matrix h = second_moment(x.view());
    for (const char* name : {"int4-g64", "int3-asym-g128"}) {
        INFO(name);
        const UniformFormat f = *parse_uniform(name);
        const QuantMatrix q = gptq(w.view(), factor_hessian(h.view(), {.act_order = false}), f);
        const auto book = gptq_by_the_book(w, h, f, 0.01);
        // A code that falls on a boundary goes either way with the last bits, and drags its row along.
        std::size_t rows = 0;
        for (std::size_t r = 0; r < w.rows; ++r)
            rows += std::equal(book.begin() + static_cast<std::ptrdiff_t>(r * 256),
                               book.begin() + static_cast<std::ptrdiff_t>(r * 256 + 256),
                               q.codes.begin() + static_cast<std::ptrdiff_t>(r * 256));
        CHECK(rows >= w.rows - 3);
    }
}

TEST_CASE("act-order keeps the order beside the codes", "[quantize]") {
    const Matrix w = gaussian(8, 128, 7);
    const Matrix x = lab::synthetic_inputs(256, 128, 8);
    const Matrix h = second_moment(x.view());
    const QuantMatrix q = gptq(w.view(), factor_hessian(h.view()), *parse_uniform("int8-g64"));
    REQUIRE(q.input_order.size() == 128);
    const auto first = static_cast<std::size_t>(q.input_order[0]);
    for (std::size_t i = 0; i < 128; ++i) CHECK(h.row(first)[first] >= h.row(i)[i]);
    CHECK(relative_output_error(w.view(), dequantize(q).view(), x.view()) < 0.01);
}

TEST_CASE("GPTQ and AWQ beat rounding on layers with correlated inputs and outlier channels", "[quantize]") {
    for (const std::uint64_t seed : {21u, 22u, 23u})
        for (const char* name :
             {"int4-g128", "int4-asym-g64", "int3-g128", "int3-asym-g64", "int4-channel"}) {
            INFO("seed " << seed << " " << name);
            const UniformFormat f = *parse_uniform(name);
            const Matrix w = gaussian(96, 512, seed);
            const Matrix all = lab::synthetic_inputs(2048, 512, seed + 100);
            const MatrixView calibration{all.data.data(), 1024, 512},
                held_out{all.row(1024).data(), 1024, 512};
            const Matrix plain = dequantize(quantize_uniform(f, w.view()));
            const QuantMatrix g = gptq(w.view(), factor_hessian(second_moment(calibration).view()), f);
            const AwqResult a = awq(w.view(), calibration, {f});
            // The objective that both minimise, then inputs neither has seen.
            const double base = output_error(w.view(), plain.view(), calibration);
            CHECK(output_error(w.view(), dequantize(g).view(), calibration) < 0.5 * base);
            CHECK(output_error(w.view(), dequantize(a.matrix).view(), calibration) < 0.8 * base);
            CHECK(a.alpha > 0);
            const double unseen = output_error(w.view(), plain.view(), held_out);
            CHECK(output_error(w.view(), dequantize(g).view(), held_out) < 0.7 * unseen);
            CHECK(output_error(w.view(), dequantize(a.matrix).view(), held_out) < 0.85 * unseen);
        }
}

TEST_CASE("AWQ is never worse than rounding, and unscaled where no channel stands out", "[quantize]") {
    const Matrix w = gaussian(32, 256, 9), x = gaussian(600, 256, 10);
    for (const char* name : {"int4-g64", "int3-min-g32", "int4-tensor"}) {
        INFO(name);
        const UniformFormat f = *parse_uniform(name);
        const AwqResult a = awq(w.view(), x.view(), {f});
        CHECK(output_error(w.view(), dequantize(a.matrix).view(), x.view()) <=
              output_error(w.view(), dequantize(quantize_uniform(f, w.view())).view(), x.view()));
        for (const float s : a.matrix.input_scale) CHECK(s == Approx(1).margin(0.15));
    }
}

TEST_CASE("degenerate layers are rounded, wrong shapes refused", "[quantize]") {
    const Matrix w = gaussian(4, 64, 11), zeros(100, 64);
    const UniformFormat f = *parse_uniform("int4-g32");
    const QuantMatrix q = gptq(w.view(), factor_hessian(second_moment(zeros.view()).view()), f);
    CHECK(dequantize(q).data == dequantize(quantize_uniform(f, w.view())).data);
    // One token: H has rank one and factors only because it is damped.
    const Matrix one = gaussian(1, 64, 12);
    CHECK(relative_output_error(
              w.view(),
              dequantize(gptq(w.view(), factor_hessian(second_moment(one.view()).view()), f)).view(),
              one.view()) < 0.1);
    Matrix broken = second_moment(one.view());
    broken.data[0] = NAN;
    CHECK_THROWS_AS(factor_hessian(broken.view()), Error);
    CHECK_THROWS_AS(factor_hessian(one.view()), Error);
    CHECK_THROWS_AS(gptq(gaussian(4, 32, 1).view(), factor_hessian(second_moment(zeros.view()).view()), f),
                    Error);
    CHECK_THROWS_AS(awq(w.view(), gaussian(5, 32, 1).view(), {f}), Error);
}
