#include "kernels/lab/random_weights.h"

#include <cmath>

#include "core/base/error.h"
#include "core/base/parallel.h"
#include "tests/catch.h"

using namespace memwall;
using namespace memwall::lab;

namespace {

double moment(const Matrix& m, int power) {
    double sum = 0;
    for (const float x : m.data) sum += std::pow(x, power);
    return sum / static_cast<double>(m.data.size());
}

}  // namespace

TEST_CASE("random weights have the moments of their distributions", "[lab]") {
    const Matrix normal = random_weights(parse_synthetic("gaussian"), 200, 5000, 1);
    CHECK(std::fabs(moment(normal, 1)) < 0.004);  // four standard errors of a million values
    CHECK(moment(normal, 2) == Approx(1).margin(0.006));
    CHECK(moment(normal, 4) == Approx(3).margin(0.04));
    const Matrix t9 = random_weights(parse_synthetic("student-t:9"), 200, 5000, 2);
    CHECK(moment(t9, 2) == Approx(9.0 / 7).epsilon(0.01));
    CHECK(moment(t9, 4) / std::pow(moment(t9, 2), 2) == Approx(3 + 6.0 / 5).epsilon(0.05));
    const Matrix large = random_weights(parse_synthetic("outliers"), 100, 1024, 3);
    int channels = 0;
    for (std::size_t c = 0; c < 1024; ++c) {
        double energy = 0;
        for (std::size_t r = 0; r < 100; ++r)
            energy += static_cast<double>(large.row(r)[c]) * large.row(r)[c];
        channels += energy > 100 * 20;
    }
    CHECK(channels == 2);  // one in 512
}

TEST_CASE("a row depends on the seed and its number alone", "[lab]") {
    const Synthetic t5 = parse_synthetic("student-t:5");
    const Matrix few = random_weights(t5, 3, 64, 9), many = random_weights(t5, 50, 64, 9);
    for (std::size_t r = 0; r < 3; ++r)
        CHECK(std::equal(few.row(r).begin(), few.row(r).end(), many.row(r).begin()));
    CHECK(random_weights(t5, 3, 64, 10).data != few.data);
    CHECK_FALSE(std::equal(many.row(0).begin(), many.row(0).end(), many.row(1).begin()));
}

TEST_CASE("names of synthetic weights that mean nothing are refused", "[lab]") {
    for (const char* name : {"", "normal", "student-t", "student-t:", "student-t:2", "student-t:5x",
                             "student-t:nan", "student-t:-3", "student-t:1e9"}) {
        INFO(name);
        CHECK_THROWS_AS(parse_synthetic(name), Error);
    }
}

TEST_CASE("work on all cores visits each index once and hands on exceptions", "[lab]") {
    std::vector<int> visits(1000);
    parallel_for(visits.size(), [&](std::size_t i) { ++visits[i]; });
    parallel_ranges(visits.size(), 7, [&](std::size_t a, std::size_t b) {
        for (; a < b; ++a) ++visits[a];
    });
    CHECK(std::all_of(visits.begin(), visits.end(), [](int v) { return v == 2; }));
    parallel_for(0, [](std::size_t) { FAIL(); });
    CHECK_THROWS_AS(parallel_for(100,
                                 [](std::size_t i) {
                                     if (i == 57) throw Error("", "57");
                                 }),
                    Error);
}
