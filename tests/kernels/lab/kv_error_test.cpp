#include "kernels/lab/kv_error.h"

#include <cmath>

#include "core/base/error.h"
#include "tests/catch.h"

using namespace memwall;
using namespace memwall::lab;

namespace {

const KvFormat& format(std::string_view name) {
    for (const KvFormat& f : kv_formats())
        if (f.name == name) return f;
    FAIL(name);
    return kv_formats()[0];
}

struct Row {
    const char* format;
    bool outliers, rotated;
    double logit_rms, softmax_kl, output_error;
};

}  // namespace

// QUALITY b.4, one synthetic run there and two here: 128 wide, 2048 tokens, 4 offset channels at 20 rms.
TEST_CASE("keys with offset channels break under q4_0, less so rotated, not per channel", "[lab]") {
    constexpr Row kRows[] = {
        {"q8_0", false, false, 0.008, 3e-5, 0.008}, {"q8_0", true, false, 0.067, 0.0022, 0.065},
        {"q4_0", false, false, 0.13, 0.008, 0.15},  {"q4_0", true, false, 1.04, 0.54, 1.16},
        {"q4_0", true, true, 0.43, 0.093, 0.43},    {"int4-channel32", true, false, 0.12, 0.007, 0.12},
    };
    for (const Row& row : kRows) {
        KvError sum;
        for (const std::uint64_t seed : {1u, 2u}) {
            const Head head = synthetic_head({.offset_channels = row.outliers ? std::size_t{4} : 0}, seed);
            const KvError e = kv_error(head, true, format(row.format), row.rotated);
            sum.logit_rms += e.logit_rms / 2;
            sum.softmax_kl += e.softmax_kl / 2;
            sum.output_error += e.output_error / 2;
        }
        INFO(row.format << " outliers " << row.outliers << " rotated " << row.rotated);
        CHECK(sum.logit_rms == Approx(row.logit_rms).epsilon(0.1));
        CHECK(sum.softmax_kl == Approx(row.softmax_kl).epsilon(0.2));
        CHECK(sum.output_error == Approx(row.output_error).epsilon(0.15));
    }
    const Head head = synthetic_head({.offset_channels = 4}, 4);
    const KvError v = kv_error(head, false, format("q4_0"), false);
    CHECK(v.logit_rms == 0);
    CHECK(v.softmax_kl == 0);
    CHECK(v.output_error == Approx(0.085).margin(0.005));
}

TEST_CASE("attention errors equal those of a plain loop", "[lab]") {
    const SyntheticHead shape{.tokens = 40, .width = 32, .queries = 3, .offset_channels = 1};
    const Head head = synthetic_head(shape, 5);
    const KvFormat& f = format("int4");
    const Matrix stored = round_trip(f, head.keys.view());
    double kl = 0, squares = 0, lost = 0, norm = 0;
    for (std::size_t q = 0; q < shape.queries; ++q) {
        std::vector<double> a(shape.tokens), b(shape.tokens);
        double sa = 0, sb = 0, mean = 0;
        for (std::size_t t = 0; t < shape.tokens; ++t) {
            for (std::size_t c = 0; c < shape.width; ++c) {
                a[t] += static_cast<double>(head.queries.row(q)[c]) * head.keys.row(t)[c] / std::sqrt(32.0);
                b[t] += static_cast<double>(head.queries.row(q)[c]) * stored.row(t)[c] / std::sqrt(32.0);
            }
            sa += std::exp(a[t]), sb += std::exp(b[t]);
            mean += (b[t] - a[t]) / static_cast<double>(shape.tokens);
        }
        for (std::size_t t = 0; t < shape.tokens; ++t) {
            squares += std::pow(b[t] - a[t] - mean, 2);
            kl += std::exp(a[t]) / sa * (a[t] - std::log(sa) - b[t] + std::log(sb));
        }
        for (std::size_t c = 0; c < shape.width; ++c) {
            double oa = 0, ob = 0;
            for (std::size_t t = 0; t < shape.tokens; ++t) {
                oa += std::exp(a[t]) / sa * head.values.row(t)[c];
                ob += std::exp(b[t]) / sb * head.values.row(t)[c];
            }
            lost += std::pow(oa - ob, 2), norm += oa * oa;
        }
    }
    const KvError e = kv_error(head, true, f, false);
    CHECK(e.logit_rms == Approx(std::sqrt(squares / 120)).epsilon(1e-3));
    CHECK(e.softmax_kl == Approx(kl / 3).epsilon(1e-3));
    CHECK(e.output_error == Approx(std::sqrt(lost / norm)).epsilon(1e-3));
}

TEST_CASE("rotation alone changes nothing, and heads of odd shape are refused", "[lab]") {
    const Head head = synthetic_head({.tokens = 64, .width = 64, .queries = 4}, 6);
    const KvFormat fine{"int8", 8, false, "F32"};
    for (const bool keys : {true, false}) CHECK(kv_error(head, keys, fine, true).output_error < 1e-5);
    CHECK_THROWS_AS(synthetic_head({.width = 96}, 1), Error);
    CHECK_THROWS_AS(synthetic_head({.tokens = 0}, 1), Error);
    CHECK(stored_bits(format("int8"), 128) == 8.125);
    CHECK(stored_bits(format("int4-channel32"), 128) == 5.0);
    CHECK(stored_bits(format("q4_0"), 128) == 4.5);
}
