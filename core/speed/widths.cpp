// How wide the priors are: from residuals that were made without the device they belong to.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "core/speed/fit.h"

namespace memwall::speed {
namespace {

double square(double x) {
    return x * x;
}

struct Residual {
    double error, weight;
    std::string_view device;
    const std::string* family;
    bool prefill;
    RateVector gradient;
};

/// Deviations that explain residuals best when they are taken as Laplace-distributed: the sum of ln s +
/// |error| / s. The members of a book that are searched, each with a log-normal prior around the skeleton's
/// value.
class Deviations {
  public:
    explicit Deviations(const PriorBook& start) {
        for (std::size_t i = 0; i < rate_count; ++i) value_[i] = start.spread[i];
        value_[rate_count] = start.noise;
        value_[rate_count + 1] = start.prefill_noise;
        value_[kCommon] = start.common_spread;
        start_ = value_;
    }
    /// Deviation of a residual; streams and matrix products scale with the family, the rest does not.
    double of(const Residual& r, double family = 1) const {
        const RateVector& g = r.gradient;
        const auto part = [&](std::size_t i, double slope) { return square(value_[i] * slope); };
        const double decode =
            g[weight_stream] + g[dequantization] + g[kv_stream] - g[layer_overhead] - g[expert_overhead];
        const double scaled = part(kCommon, r.prefill ? 0 : decode) + part(weight_stream, g[weight_stream]) +
                              part(dequantization, g[dequantization]) +
                              part(matrix_rate, g[matrix_rate] + g[attention_rate]);
        return std::sqrt(family * family * scaled + part(kv_stream, g[kv_stream]) +
                         part(layer_overhead, g[layer_overhead] + g[expert_overhead]) +
                         part(expert_overhead, g[expert_overhead]) + part(step_overhead, g[step_overhead]) +
                         part(attention_rate, g[attention_rate]) +
                         square(value_[rate_count + (r.prefill ? 1 : 0)]));
    }
    void search(const std::vector<Residual>& residuals) {
        double best = cost(residuals);
        for (double step = 0.4; step > 0.03; step /= 2)
            for (bool moved = true; moved;) {
                moved = false;
                for (const std::size_t i : kSearched)
                    for (const double factor : {std::exp(step), std::exp(-step)}) {
                        double& v = value_[i];
                        const double before = v;
                        v *= factor;
                        const double now = cost(residuals);
                        if (now < best - 1e-9)
                            best = now, moved = true;
                        else
                            v = before;
                    }
            }
    }
    void store(PriorBook& book) const {
        book.common_spread = value_[kCommon];
        for (std::size_t i = 0; i < rate_count; ++i) book.spread[i] = value_[i];
    }

  private:
    double cost(const std::vector<Residual>& residuals) const {
        constexpr double kPriorDeviation = 0.4;
        double sum = 0;
        for (const Residual& r : residuals) {
            const double s = of(r);
            sum += r.weight * (std::log(s) + std::abs(r.error) / s);
        }
        for (std::size_t i = 0; i < value_.size(); ++i)
            sum += square(std::log(value_[i] / start_[i]) / kPriorDeviation) / 2;
        return sum;
    }
    static constexpr std::size_t kCommon = rate_count + 2;
    static constexpr std::array<std::size_t, 9> kSearched = {0, 1, 2, 3, 4, 5, 6, 7, kCommon};
    std::array<double, rate_count + 3> value_{}, start_{};
};

std::vector<Residual> residuals_of(const PriorBook& book, const std::vector<Prediction>& honest,
                                   const std::string& without) {
    std::map<std::string_view, int> rows[2];
    for (const Prediction& p : honest) ++rows[p.prefill][p.point->device];
    std::vector<Residual> out;
    for (const Prediction& p : honest)
        if (p.point->device != without)
            out.push_back({p.log_error(), 1 / std::sqrt(rows[p.prefill][p.point->device]), p.point->device,
                           &book.classified(p.point->traits.efficiency_class).family, p.prefill, p.gradient});
    return out;
}

/// Families wider or narrower than the pool: root mean square of |error| / deviation by device, with kPull
/// devices' worth of "as the pool" and single rows capped.
void scale_families(PriorBook& book, const Deviations& deviations, const std::vector<Residual>& residuals) {
    constexpr double kPull = 1, kCap = 3.5;
    for (auto& [name, family] : book.families)
        for (const bool prefill : {false, true}) {
            std::map<std::string_view, std::pair<double, int>> devices;
            for (const Residual& r : residuals) {
                if (r.prefill != prefill || *r.family != name) continue;
                auto& [sum, rows] = devices[r.device];
                sum += std::min(std::abs(r.error) / deviations.of(r), kCap);
                ++rows;
            }
            double sum = kPull;
            for (const auto& [device, s] : devices) sum += square(s.first / s.second);
            (prefill ? family.prefill_spread : family.spread) =
                std::sqrt(sum / (kPull + static_cast<double>(devices.size())));
        }
}

/// Scatter of one device's rows around their own mean, as the deviation of a Laplace distribution would be.
double scatter(const std::vector<Residual>& residuals, bool prefill) {
    std::map<std::string_view, std::vector<double>> devices;
    for (const Residual& r : residuals)
        if (r.prefill == prefill) devices[r.device].push_back(r.error);
    double sum = 0, weights = 0;
    for (const auto& [device, errors] : devices) {
        const auto n = static_cast<double>(errors.size());
        if (errors.size() < 3) continue;
        double mean = 0, deviation = 0;
        for (const double e : errors) mean += e / n;
        for (const double e : errors) deviation += std::abs(e - mean) / (n - 1);
        sum += std::sqrt(n) * deviation;
        weights += std::sqrt(n);
    }
    return weights > 0 ? sum / weights : 0;
}

/// The smallest value that `level` of all lie at or below.
double quantile_of(std::vector<double> values, double level) {
    if (values.empty()) return 1.645;
    std::sort(values.begin(), values.end());
    const auto rank = static_cast<std::size_t>(std::ceil(level * static_cast<double>(values.size())));
    return values[std::clamp<std::size_t>(rank, 1, values.size()) - 1];
}

}  // namespace

void fit_widths(PriorBook& book, const std::vector<Prediction>& honest, const std::string& without) {
    const std::vector<Residual> residuals = residuals_of(book, honest, without);
    book.noise = scatter(residuals, false);
    book.prefill_noise = scatter(residuals, true);
    Deviations deviations(book);
    deviations.search(residuals);
    deviations.store(book);
    scale_families(book, deviations, residuals);
    // The same deviations as a machine of that family would print them.
    for (const bool prefill : {false, true}) {
        std::vector<double> z;
        for (const Residual& r : residuals) {
            if (r.prefill != prefill) continue;
            const FamilyPrior& family = book.families.at(*r.family);
            const double scale = prefill ? family.prefill_spread : family.spread;
            z.push_back(std::abs(r.error) / deviations.of(r, scale));
        }
        (prefill ? book.prefill_quantile : book.quantile) = quantile_of(std::move(z), book.level);
    }
}

}  // namespace memwall::speed
