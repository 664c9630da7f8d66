#include "kernels/lab/weight_error.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "kernels/lab/hadamard.h"
#include "kernels/quantize/parallel.h"

namespace memwall::lab {
namespace {

constexpr std::size_t kRows = 64;      // a thread's portion
constexpr std::size_t kGroup = 128;    // values whose largest is compared with their rms
constexpr std::size_t kRotated = 128;  // block of the rotation
constexpr double kLargerChannel = 5;

double median(std::vector<double> x) {
    if (x.empty()) return 0;
    const auto middle = x.begin() + static_cast<std::ptrdiff_t>(x.size() / 2);
    std::nth_element(x.begin(), middle, x.end());
    return *middle;
}

/// Sums over columns or powers, made in portions of rows whose order of addition is fixed.
template <class Body>
std::vector<double> summed(std::size_t rows, std::size_t width, const Body& body) {
    std::vector<std::vector<double>> parts((rows + kRows - 1) / kRows);
    quantize::parallel_ranges(rows, kRows, [&](std::size_t first, std::size_t last) {
        std::vector<double>& part = parts[first / kRows];
        part.resize(width);
        for (std::size_t r = first; r < last; ++r) body(r, part);
    });
    std::vector<double> total(width);
    for (const auto& part : parts)
        for (std::size_t i = 0; i < width; ++i) total[i] += part[i];
    return total;
}

double rotation_gain(MatrixView w) {
    const std::size_t block = hadamard_block(w.cols, kRotated);
    Matrix rotated(w.rows, w.cols);
    quantize::parallel_for(w.rows, [&](std::size_t r) {
        std::copy(w.row(r).begin(), w.row(r).end(), rotated.row(r).begin());
        hadamard(rotated.row(r), block);
    });
    const Method int4 = parse_method("int4-g128");
    return weight_error(int4, rotated.view()).sqnr_db - weight_error(int4, w).sqnr_db;
}

}  // namespace

double decibels(double signal, double noise) {
    return noise > 0 ? 10 * std::log10(signal / noise) : std::numeric_limits<double>::infinity();
}

WeightError weight_error(MatrixView w, MatrixView stored) {
    std::vector<double> signal(w.rows), noise(w.rows);
    quantize::parallel_for(w.rows, [&](std::size_t r) {
        const auto a = w.row(r), b = stored.row(r);
        for (std::size_t c = 0; c < w.cols; ++c) {
            const double x = a[c], e = x - b[c];
            signal[r] += x * x;
            noise[r] += e * e;
        }
    });
    WeightError error;
    error.sqnr_db = decibels(std::accumulate(signal.begin(), signal.end(), 0.0),
                             std::accumulate(noise.begin(), noise.end(), 0.0));
    std::vector<double> rows;
    error.worst_row_db = std::numeric_limits<double>::infinity();
    for (std::size_t r = 0; r < w.rows; ++r) {
        if (signal[r] == 0) continue;
        rows.push_back(decibels(signal[r], noise[r]));
        if (rows.back() < error.worst_row_db) error.worst_row_db = rows.back(), error.worst_row = r;
    }
    std::sort(rows.begin(), rows.end());
    error.worst_decile_db = rows.empty() ? 0 : rows[(rows.size() - 1) / 10];
    return error;
}

WeightError weight_error(const Method& method, MatrixView w) {
    if (!fits(method, w.cols)) return {.fits = false};
    return weight_error(w, round_trip(method, w).view());
}

Outliers outliers(MatrixView w) {
    Outliers o;
    const auto count = static_cast<double>(w.rows * w.cols);
    const double mean = summed(w.rows, 1,
                               [&](std::size_t r, auto& sum) {
                                   for (const float x : w.row(r)) sum[0] += x;
                               })[0] /
                        count;
    const auto moments = summed(w.rows, 2, [&](std::size_t r, auto& sum) {
        for (const float x : w.row(r)) {
            const double d = (x - mean) * (x - mean);
            sum[0] += d;
            sum[1] += d * d;
        }
    });
    o.excess_kurtosis = moments[0] > 0 ? count * moments[1] / (moments[0] * moments[0]) - 3 : 0;

    std::vector<double> channel = summed(w.rows, w.cols, [&](std::size_t r, auto& sum) {
        for (std::size_t c = 0; c < w.cols; ++c) sum[c] += static_cast<double>(w.row(r)[c]) * w.row(r)[c];
    });
    const double energy = std::accumulate(channel.begin(), channel.end(), 0.0);
    for (double& c : channel) c = std::sqrt(c);
    const double middle = median(channel);
    if (middle > 0) {
        o.channel_ratio = *std::max_element(channel.begin(), channel.end()) / middle;
        o.channels = static_cast<std::size_t>(std::count_if(
            channel.begin(), channel.end(), [&](double c) { return c >= kLargerChannel * middle; }));
    }

    std::vector<float> squares(w.rows * w.cols);
    std::transform(w.all().begin(), w.all().end(), squares.begin(), [](float x) { return x * x; });
    std::vector<double> groups;
    for (std::size_t r = 0; r < w.rows; ++r)
        for (std::size_t from = 0; from < w.cols; from += kGroup) {
            const auto first = squares.begin() + static_cast<std::ptrdiff_t>(r * w.cols + from);
            const auto last = first + static_cast<std::ptrdiff_t>(std::min(kGroup, w.cols - from));
            const double sum = std::accumulate(first, last, 0.0);
            if (sum > 0)
                groups.push_back(
                    std::sqrt(*std::max_element(first, last) / sum * static_cast<double>(last - first)));
        }
    o.group_max_over_rms = median(std::move(groups));
    const auto top = static_cast<std::ptrdiff_t>(std::max<std::size_t>(1, squares.size() / 1000));
    std::nth_element(squares.begin(), squares.begin() + top - 1, squares.end(), std::greater<>());
    o.top_energy = std::accumulate(squares.begin(), squares.begin() + top, 0.0) / energy;
    o.max_over_rms = std::sqrt(*std::max_element(squares.begin(), squares.begin() + top) / (energy / count));
    o.rotation_gain_db = rotation_gain(w);
    return o;
}

}  // namespace memwall::lab
