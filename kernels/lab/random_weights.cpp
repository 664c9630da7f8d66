#include "kernels/lab/random_weights.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "core/base/error.h"
#include "kernels/quantize/parallel.h"

namespace memwall::lab {

Random::Random(std::uint64_t seed, std::uint64_t index) : state_(seed) {
    state_ = bits() ^ index * 0x9e3779b97f4a7c15u;
    state_ = bits();
}

std::uint64_t Random::bits() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

double Random::uniform() {
    return (static_cast<double>(bits() >> 12) + 0.5) * 0x1p-52;
}

// Marsaglia's polar method: two independent values from a point in the unit disc.
float Random::gaussian() {
    if (has_spare_) {
        has_spare_ = false;
        return spare_;
    }
    double u, v, s;
    do {
        u = 2 * uniform() - 1;
        v = 2 * uniform() - 1;
        s = u * u + v * v;
    } while (s >= 1);
    const double f = std::sqrt(-2 * std::log(s) / s);
    spare_ = static_cast<float>(v * f);
    has_spare_ = true;
    return static_cast<float>(u * f);
}

// Bailey, "Polar generation of random variates with the t-distribution" (1994); one value a point.
float Random::student_t(double freedom) {
    double u, s;
    do {
        u = 2 * uniform() - 1;
        const double v = 2 * uniform() - 1;
        s = u * u + v * v;
    } while (s >= 1);
    return static_cast<float>(u * std::sqrt(freedom * (std::pow(s, -2 / freedom) - 1) / s));
}

Synthetic parse_synthetic(std::string_view text) {
    constexpr std::string_view kStudent = "student-t:";
    Synthetic what;
    if (text == "gaussian") return what;
    if (text == "outliers") {
        what.kind = Synthetic::Kind::outliers;
        return what;
    }
    if (text.starts_with(kStudent)) {
        const std::string_view number = text.substr(kStudent.size());
        const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), what.freedom);
        what.kind = Synthetic::Kind::student_t;
        // Below 2 the variance is infinite and a signal-to-noise ratio means nothing.
        if (error == std::errc{} && end == number.data() + number.size() && what.freedom > 2 &&
            what.freedom <= 1000)
            return what;
    }
    throw Error("synthetic", fmt::format("'{}'", text),
                "gaussian, student-t:DF with 2 < DF <= 1000, or outliers");
}

Matrix random_weights(const Synthetic& what, std::size_t rows, std::size_t cols, std::uint64_t seed) {
    std::vector<float> factor(cols, 1.0f);
    if (what.kind == Synthetic::Kind::outliers) {
        Random channels(seed, ~std::uint64_t{0});
        const auto count = static_cast<std::size_t>(
            std::max(1.0f, std::round(what.outlier_share * static_cast<float>(cols))));
        for (std::size_t i = 0; i < count; ++i) factor[channels.bits() % cols] = what.outlier_factor;
    }
    Matrix w(rows, cols);
    quantize::parallel_for(rows, [&](std::size_t r) {
        Random random(seed, r);
        for (std::size_t c = 0; c < cols; ++c)
            w.row(r)[c] =
                factor[c] * (what.kind == Synthetic::Kind::student_t ? random.student_t(what.freedom)
                                                                     : random.gaussian());
    });
    return w;
}

}  // namespace memwall::lab
