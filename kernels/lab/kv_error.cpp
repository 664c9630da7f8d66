#include "kernels/lab/kv_error.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "core/base/error.h"
#include "kernels/lab/hadamard.h"
#include "kernels/quantize/block_codec.h"
#include "kernels/quantize/eigen_view.h"
#include "kernels/quantize/parallel.h"
#include "kernels/quantize/uniform.h"

namespace memwall::lab {
namespace {

using namespace quantize;

constexpr std::size_t kTokensAScale = 32;  // per-channel formats, as KIVI's residual window

constexpr KvFormat kFormats[] = {
    {"q8_0", 8, false, "Q8_0"}, {"int8", 8, false, ""}, {"int8-channel32", 8, true, ""},
    {"q4_0", 4, false, "Q4_0"}, {"int4", 4, false, ""}, {"int4-channel32", 4, true, ""},
};

Matrix transposed(MatrixView m) {
    Matrix t(m.cols, m.rows);
    for (std::size_t r = 0; r < m.rows; ++r)
        for (std::size_t c = 0; c < m.cols; ++c) t.row(c)[r] = m.row(r)[c];
    return t;
}

Matrix rotated_rows(Matrix m) {
    for (std::size_t r = 0; r < m.rows; ++r) hadamard(m.row(r), m.cols);
    return m;
}

RowMatrix logits(const Matrix& queries, const Matrix& keys) {
    return eigen(queries.view()) * eigen(keys.view()).transpose() / std::sqrt(static_cast<float>(keys.cols));
}

/// Row-wise log softmax in double precision.
Eigen::MatrixXd log_softmax(const RowMatrix& x) {
    Eigen::MatrixXd p = x.cast<double>();
    for (Eigen::Index r = 0; r < p.rows(); ++r) {
        const double top = p.row(r).maxCoeff();
        p.row(r).array() -= top + std::log((p.row(r).array() - top).exp().sum());
    }
    return p;
}

}  // namespace

Head synthetic_head(const SyntheticHead& s, std::uint64_t seed) {
    if (s.width < 32 || !std::has_single_bit(s.width) || s.tokens == 0 || s.queries == 0)
        throw Error(
            "", fmt::format("a head of width {} with {} tokens and {} queries", s.width, s.tokens, s.queries),
            "a power of two from 32 on, and at least one of each");
    Head head{random_weights({}, s.tokens, s.width, seed), random_weights({}, s.tokens, s.width, seed + 1),
              random_weights({}, s.queries, s.width, seed + 2)};
    Random random(seed + 3);
    const std::size_t each = s.offset_channels > 0 ? s.width / s.offset_channels : 0;
    for (std::size_t i = 0; each > 0 && i < s.offset_channels; ++i) {
        const std::size_t channel = i * each + random.bits() % each;
        for (std::size_t t = 0; t < s.tokens; ++t) head.keys.row(t)[channel] += s.offset;
    }
    for (float& q : head.queries.data) q *= s.query_rms;
    return head;
}

std::span<const KvFormat> kv_formats() {
    return kFormats;
}

double stored_bits(const KvFormat& f, std::size_t width) {
    if (!f.block.empty()) return quant::bits_per_weight(quant::ggml(f.block));
    return f.bits + (f.channel ? 32.0 / kTokensAScale : 16.0 / static_cast<double>(width));
}

Matrix round_trip(const KvFormat& f, MatrixView half) {
    Matrix out(half.rows, half.cols);
    if (f.channel) {
        const Matrix by_channel = transposed(half);
        Matrix stored(by_channel.rows, by_channel.cols);
        const UniformFormat u{f.bits, Shift::minimum, static_cast<int>(kTokensAScale)};
        parallel_for(stored.rows,
                     [&](std::size_t c) { round_trip_uniform(u, {}, by_channel.row(c), stored.row(c)); });
        return transposed(stored.view());
    }
    const BlockCodec* codec = f.block.empty() ? nullptr : find_codec(f.block);
    parallel_for(half.rows, [&](std::size_t t) {
        if (!codec) return round_trip_uniform({f.bits, Shift::symmetric, 0}, {}, half.row(t), out.row(t));
        std::vector<std::byte> bytes(encoded_bytes(*codec, half.cols));
        encode(*codec, half.row(t), bytes);
        decode(*codec, bytes, out.row(t));
    });
    return out;
}

KvError kv_error(const Head& head, bool keys, const KvFormat& f, bool rotated) {
    const Matrix& half = keys ? head.keys : head.values;
    Matrix stored = round_trip(f, (rotated ? rotated_rows(half) : half).view());
    if (rotated) stored = rotated_rows(std::move(stored));
    KvError error{.keys = keys, .format = f.name, .rotated = rotated, .bits = stored_bits(f, half.cols)};

    const RowMatrix exact = logits(head.queries, head.keys);
    const RowMatrix given = keys ? logits(head.queries, stored) : exact;
    Eigen::MatrixXd difference = (given - exact).cast<double>();
    difference.colwise() -= difference.rowwise().mean().eval();
    error.logit_rms = std::sqrt(difference.squaredNorm() / static_cast<double>(difference.size()));

    const Eigen::MatrixXd p = log_softmax(exact), q = log_softmax(given);
    error.softmax_kl = (p.array().exp() * (p - q).array()).sum() / static_cast<double>(p.rows());
    const Eigen::MatrixXd values = eigen(head.values.view()).cast<double>();
    const Eigen::MatrixXd seen = eigen((keys ? head.values : stored).view()).cast<double>();
    const Eigen::MatrixXd out = p.array().exp().matrix() * values;
    error.output_error = (q.array().exp().matrix() * seen - out).norm() / out.norm();
    return error;
}

std::vector<KvError> kv_errors(const Head& head) {
    std::vector<KvError> errors;
    for (const bool keys : {true, false})
        for (const KvFormat& f : kv_formats())
            for (const bool rotated : {false, true}) errors.push_back(kv_error(head, keys, f, rotated));
    return errors;
}

}  // namespace memwall::lab
