#include "kernels/lab/weight_error.h"

#include <cmath>
#include <numeric>

#include "core/base/error.h"
#include "kernels/lab/hadamard.h"
#include "kernels/lab/random_weights.h"
#include "tests/catch.h"

using namespace memwall;
using namespace memwall::lab;

TEST_CASE("every method name is read as it is printed, with its stored bits", "[lab]") {
    for (const Method& m : default_methods()) CHECK(parse_method(m.name).name == m.name);
    CHECK(parse_method("q4_k").bits == 4.5);
    CHECK(parse_method("BNB-NF4").name == "NF4");
    CHECK(parse_method("bnb-nf4-dq").bits == Approx(4.127).margin(0.001));
    CHECK(parse_methods("Q4_0,int4-g64,q4_0").size() == 2);
    for (const char* name : {"", "Q4_0,,Q8_0", "IQ4_XS", "int4", "gptq-4bit-128g", "Q4_0;Q8_0"}) {
        INFO(name);
        if (*name) CHECK_THROWS_AS(parse_methods(name), Error);
        CHECK_THROWS_AS(parse_method(name), Error);
    }
}

TEST_CASE("row lengths that do not suit a block are said so, not rounded up", "[lab]") {
    const Matrix w = random_weights({}, 4, 160, 1);
    CHECK_FALSE(weight_error(parse_method("Q4_K"), w.view()).fits);
    CHECK_FALSE(weight_error(parse_method("NF4"), w.view()).fits);
    CHECK(weight_error(parse_method("Q4_0"), w.view()).fits);
    CHECK(weight_error(parse_method("int4-g128"), w.view()).fits);
}

TEST_CASE("ratios of a case worked by hand", "[lab]") {
    Matrix w(3, 2), stored(3, 2);
    w.data = {3, 4, 0, 0, 6, 8};
    stored.data = {3, 3.5f, 0, 0, 5, 8};
    const WeightError e = weight_error(w.view(), stored.view());
    CHECK(e.sqnr_db == Approx(10 * std::log10(125 / 1.25)));
    CHECK(e.worst_row_db == Approx(20));  // rows of 25 / 0.25 and 100 / 1; zeros do not count
    CHECK(e.worst_row == 0);
    CHECK(std::isinf(weight_error(w.view(), w.view()).sqnr_db));
}

TEST_CASE("every block format's round trip equals encoding and decoding row by row", "[lab]") {
    const Matrix w = random_weights({}, 37, 512, 3);
    for (const quantize::BlockCodec& c : quantize::block_codecs()) {
        if (!c.encode || c.tensor_scale) continue;
        INFO(c.name);
        const Matrix all = round_trip(parse_method(c.name), w.view());
        std::vector<std::byte> bytes(quantize::encoded_bytes(c, 512));
        std::vector<float> row(512);
        for (std::size_t r = 0; r < w.rows; ++r) {
            quantize::encode(c, w.row(r), bytes);
            quantize::decode(c, bytes, row);
            CHECK(std::equal(row.begin(), row.end(), all.row(r).begin()));
        }
    }
}

TEST_CASE("scaling a tensor does not change what NVFP4 and FP8 leave of it", "[lab]") {
    Matrix w = random_weights({}, 16, 512, 4);
    for (const char* name : {"NVFP4", "fp8-tensor", "fp8-channel", "int4-g128"}) {
        INFO(name);
        Matrix small = w;
        for (float& x : small.data) x *= 0x1p-9f;
        CHECK(weight_error(parse_method(name), small.view()).sqnr_db ==
              Approx(weight_error(parse_method(name), w.view()).sqnr_db).margin(0.01));
    }
}

TEST_CASE("the Hadamard rotation keeps lengths and undoes itself", "[lab]") {
    CHECK(hadamard_block(4096, 128) == 128);
    CHECK(hadamard_block(896, 1024) == 128);
    CHECK(hadamard_block(33, 128) == 1);
    const Matrix w = random_weights({}, 1, 384, 5);
    Matrix r = w;
    hadamard(r.row(0), 128);
    double before = 0, after = 0, worst = 0;
    for (std::size_t i = 0; i < 384; ++i) before += w.data[i] * w.data[i], after += r.data[i] * r.data[i];
    hadamard(r.row(0), 128);
    for (std::size_t i = 0; i < 384; ++i)
        worst = std::max(worst, std::fabs(static_cast<double>(w.data[i]) - r.data[i]));
    CHECK(after == Approx(before).epsilon(1e-6));
    CHECK(worst < 1e-5);
    // A single value spreads evenly: 8 in one of 64 channels becomes +-1 in all.
    Matrix one(1, 64);
    one.data[9] = 8;
    hadamard(one.row(0), 64);
    for (const float x : one.data) CHECK(std::fabs(x) == 1.0f);
}

TEST_CASE("outlier measures of known distributions", "[lab]") {
    const Outliers normal = outliers(random_weights({}, 128, 4096, 6).view());
    CHECK(std::fabs(normal.excess_kurtosis) < 0.03);
    CHECK(normal.group_max_over_rms == Approx(2.8).margin(0.1));
    CHECK(normal.channel_ratio < 1.3);
    CHECK(normal.channels == 0);
    CHECK(std::fabs(normal.rotation_gain_db) < 0.1);
    CHECK_FALSE(normal.heavy());
    // The top thousandth lies beyond z = 3.29; its energy is 2 (z phi(z) + Q(z)) = 0.0127.
    CHECK(normal.top_energy == Approx(0.0127).margin(0.0005));

    const Outliers planted = outliers(random_weights(parse_synthetic("outliers"), 512, 1024, 7).view());
    CHECK(planted.channels == 2);
    CHECK(planted.channel_ratio == Approx(20).margin(4));
    CHECK(planted.heavy());
    CHECK(planted.rotate());
    // Two channels in 1024 at 20 times: kurtosis of the mixture, (1022 x 3 + 2 x 3 x 20^4) / 1024 over the
    // square of (1022 + 2 x 400) / 1024, less 3.
    CHECK(planted.excess_kurtosis ==
          Approx((1022 * 3 + 2 * 3 * 160000.0) / 1024 / std::pow(1822.0 / 1024, 2) - 3).epsilon(0.25));

    Matrix one(4, 256);
    one.row(2)[17] = -5;
    const Outliers spike = outliers(one.view());
    CHECK(spike.top_energy == 1.0);
    CHECK(spike.max_over_rms == Approx(32));  // sqrt(4 x 256)
    CHECK(spike.group_max_over_rms == Approx(std::sqrt(128.0)));
}
