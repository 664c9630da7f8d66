#include "core/quality/fitting.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <set>

namespace memwall::quality {
namespace {

constexpr double kHuber = 0.5;       // errors of the logarithm beyond it count linearly
constexpr double kModelPrior = 1.0;  // (row spread / spread between models)^2
constexpr double kTypePrior = 0.5;   // (row spread / spread of types about the parabola)^2
constexpr double kSmallPrior = 3.0;  // (row spread / plausible exponent of small models)^2
constexpr const char* kAnchor = "Q4_K_M";
constexpr int kSteps = 60;

double huber_weight(double error) {
    return std::abs(error) <= kHuber ? 1 : kHuber / std::abs(error);
}

double log_small(const FitBook& book, const FitRow& r) {
    return r.parameters < book.small_below ? std::log(book.small_below / r.parameters) : 0;
}

std::vector<std::string> distinct(const std::vector<FitRow>& rows, std::string FitRow::*member) {
    std::set<std::string> names;
    for (const FitRow& r : rows) names.insert(r.*member);
    return {names.begin(), names.end()};
}

std::size_t index_of(const std::vector<std::string>& names, const std::string& name) {
    return static_cast<std::size_t>(std::lower_bound(names.begin(), names.end(), name) - names.begin());
}

double quantile(std::vector<double> values, double q) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    const double at = q * static_cast<double>(values.size() - 1);
    const auto low = static_cast<std::size_t>(at);
    const std::size_t high = std::min(low + 1, values.size() - 1);
    return values[low] + (at - static_cast<double>(low)) * (values[high] - values[low]);
}

/// Rows "equation . x = value" collected into normal equations.
struct Equations {
    Eigen::MatrixXd a;
    Eigen::VectorXd b;
    explicit Equations(Eigen::Index n) : a(Eigen::MatrixXd::Zero(n, n)), b(Eigen::VectorXd::Zero(n)) {}
    void add(const Eigen::VectorXd& row, double value, double weight) {
        a += weight * row * row.transpose();
        b += weight * value * row;
    }
    /// Pulls one unknown to `value`.
    void pull(Eigen::Index i, double value, double weight) {
        a(i, i) += weight;
        b(i) += weight * value;
    }
};

Eigen::Index at(std::size_t i) {
    return static_cast<Eigen::Index>(i);
}

}  // namespace

double predict_additive(const FitBook& book, const FitRow& r) {
    double sum = 0;
    for (const auto& [type, share] : r.shares) {
        const auto it = book.types.find(type);
        sum += share * (it != book.types.end() ? it->second
                                               : curve_loss(book, quant::bits_per_weight(quant::ggml(type)),
                                                            type_family(type), false, true));
    }
    return sum * (r.sensitive ? book.sensitive : 1) * small_factor(book, r.parameters) *
           (r.imatrix ? 1 : book.no_imatrix);
}

double predict_curve(const FitBook& book, const FitRow& r) {
    return curve_loss(book, r.bits, r.type_family, r.sensitive, r.imatrix) * small_factor(book, r.parameters);
}

void fit_curve(FitBook& book, const std::vector<FitRow>& rows) {
    const std::vector<std::string> models = distinct(rows, &FitRow::model);
    constexpr std::size_t kTerms = 7;
    Eigen::VectorXd x = Eigen::VectorXd::Zero(at(kTerms + models.size()));
    for (int step = 0; step < kSteps; ++step) {
        Equations e(x.size());
        for (const FitRow& r : rows) {
            Eigen::VectorXd row = Eigen::VectorXd::Zero(x.size());
            const double b = r.bits - 4.5;
            row.head(kTerms) << 1, b, b * b, r.type_family == TypeFamily::k_quant,
                r.type_family == TypeFamily::legacy, !r.imatrix, r.sensitive;
            row(at(kTerms + index_of(models, r.model))) = 1;
            const double value = std::log(r.ratio) - book.small_exponent * log_small(book, r);
            e.add(row, value, step == 0 ? 1 : huber_weight(value - row.dot(x)));
        }
        for (std::size_t m = 0; m < models.size(); ++m) e.pull(at(kTerms + m), 0, kModelPrior);
        x = e.a.ldlt().solve(e.b);
    }
    book.c0 = x(0);
    book.c1 = x(1);
    book.c2 = x(2);
    book.c_k = x(3);
    book.c_legacy = x(4);
    book.c_no_imatrix = x(5);
    book.c_sensitive = x(6);
}

void fit_additive(FitBook& book, const std::vector<FitRow>& rows) {
    const std::vector<std::string> models = distinct(rows, &FitRow::model);
    std::set<std::string> type_set;
    for (const FitRow& r : rows)
        for (const auto& [type, share] : r.shares) type_set.insert(type);
    const std::vector<std::string> types(type_set.begin(), type_set.end());
    // Unknowns: ln L of each type, ln class, exponent of small models, ln no-imatrix, one intercept a model.
    const std::size_t first_factor = types.size(), first_model = first_factor + 3;
    Eigen::VectorXd x = Eigen::VectorXd::Zero(at(first_model + models.size()));
    std::vector<double> prior;
    for (const std::string& type : types)
        prior.push_back(std::log(
            curve_loss(book, quant::bits_per_weight(quant::ggml(type)), type_family(type), false, true)));
    for (std::size_t t = 0; t < types.size(); ++t) x(at(t)) = prior[t];
    x(at(first_factor)) = book.c_sensitive;
    for (int step = 0; step < kSteps; ++step) {  // Gauss-Newton with Huber weights
        Equations e(x.size());
        for (const FitRow& r : rows) {
            double sum = 0;
            for (const auto& [type, share] : r.shares) sum += share * std::exp(x(at(index_of(types, type))));
            Eigen::VectorXd row = Eigen::VectorXd::Zero(x.size());
            for (const auto& [type, share] : r.shares) {
                const Eigen::Index t = at(index_of(types, type));
                row(t) = share * std::exp(x(t)) / sum;
            }
            row(at(first_factor)) = r.sensitive;
            row(at(first_factor + 1)) = log_small(book, r);
            row(at(first_factor + 2)) = !r.imatrix;
            row(at(first_model + index_of(models, r.model))) = 1;
            const double predicted =
                std::log(sum) +
                row.tail(x.size() - at(first_factor)).dot(x.tail(x.size() - at(first_factor)));
            const double error = std::log(r.ratio) - predicted;
            e.add(row, error + row.dot(x), huber_weight(error));
        }
        for (std::size_t t = 0; t < types.size(); ++t) e.pull(at(t), prior[t], kTypePrior);
        for (std::size_t m = 0; m < models.size(); ++m) e.pull(at(first_model + m), 0, kModelPrior);
        e.pull(at(first_factor + 1), 0, kSmallPrior);
        const Eigen::VectorXd next = e.a.ldlt().solve(e.b);
        x += 0.7 * (next - x);
    }
    book.types.clear();
    for (std::size_t t = 0; t < types.size(); ++t) book.types[types[t]] = std::exp(x(at(t)));
    book.sensitive = std::exp(x(at(first_factor)));
    book.small_exponent = x(at(first_factor + 1));
    book.no_imatrix = std::exp(x(at(first_factor + 2)));
}

bool LeftOut::held() const {
    return std::abs(log_error) <= std::log(at80);
}

std::vector<LeftOut> leave_out(const std::vector<FitRow>& rows, LeaveOut what, Form form) {
    std::string FitRow::*group = what == LeaveOut::model ? &FitRow::model : &FitRow::family;
    std::vector<LeftOut> errors;
    for (const std::string& name : distinct(rows, group)) {
        std::vector<FitRow> kept;
        for (const FitRow& r : rows)
            if (r.*group != name) kept.push_back(r);
        FitBook book;
        fit_curve(book, kept);
        fit_additive(book, kept);
        fit_curve(book, kept);  // once more, with the exponent of small models
        for (const FitRow& r : rows)
            if (r.*group == name)
                errors.push_back({&r, std::log((form == Form::additive ? predict_additive(book, r)
                                                                       : predict_curve(book, r)) /
                                               r.ratio)});
    }
    // The band of a row comes from the errors of the other groups: a row does not widen its own.
    for (LeftOut& e : errors) {
        std::vector<double> others;
        for (const LeftOut& o : errors)
            if (o.row->*group != e.row->*group && o.row->in_valid_domain() == e.row->in_valid_domain())
                others.push_back(std::abs(o.log_error));
        e.at80 = std::exp(quantile(others, 0.8));
    }
    return errors;
}

FitScore score(const std::vector<LeftOut>& rows, bool valid_domain_only) {
    FitScore s;
    std::vector<double> sizes;
    std::set<std::string> models;
    double squares = 0;
    for (const LeftOut& r : rows) {
        if (valid_domain_only && !r.row->in_valid_domain()) continue;
        sizes.push_back(std::abs(r.log_error));
        squares += r.log_error * r.log_error;
        s.bias += r.log_error;
        s.held80 += r.held();
        models.insert(r.row->model);
    }
    s.rows = sizes.size();
    s.groups = models.size();
    if (s.rows == 0) return s;
    const auto n = static_cast<double>(s.rows);
    s.rms = std::sqrt(squares / n);
    s.bias /= n;
    s.held80 /= n;
    s.p50 = quantile(sizes, 0.5);
    s.p80 = quantile(sizes, 0.8);
    s.p90 = quantile(sizes, 0.9);
    s.p95 = quantile(sizes, 0.95);
    return s;
}

FitScore score_interpolation(const FitBook& book, const std::vector<FitRow>& rows) {
    std::vector<LeftOut> errors;
    const auto residual = [&](const FitRow& r) { return std::log(r.ratio / predict_additive(book, r)); };
    for (const FitRow& r : rows) {
        const FitRow *below = nullptr, *above = nullptr;
        for (const FitRow& o : rows) {
            if (o.model != r.model || o.imatrix != r.imatrix || o.method == r.method) continue;
            if (o.bits <= r.bits && (!below || o.bits > below->bits)) below = &o;
            if (o.bits >= r.bits && (!above || o.bits < above->bits)) above = &o;
        }
        if (!below || !above) continue;
        const double span = above->bits - below->bits;
        const double share = span > 0 ? (r.bits - below->bits) / span : 0.5;
        errors.push_back({&r, (1 - share) * residual(*below) + share * residual(*above) - residual(r)});
    }
    return score(errors, false);
}

std::vector<LeftOut> out_of_sample(const FitBook& book, const std::vector<FitRow>& relative) {
    std::vector<LeftOut> errors;
    for (const FitRow& r : relative) {
        const auto anchor = std::find_if(relative.begin(), relative.end(), [&](const FitRow& o) {
            return o.model == r.model && o.method == kAnchor;
        });
        if (anchor == relative.end() || r.method == kAnchor) continue;
        const double measured = std::log(r.ratio / anchor->ratio) + predict_additive(book, *anchor);
        if (measured > 0)
            errors.push_back({&r, std::log(predict_additive(book, r) / measured), book.additive.at80});
    }
    return errors;
}

FitBook fit_all(const std::vector<FitRow>& rows, const FitBook& constants) {
    FitBook book = constants;
    book.small_exponent = 0;
    fit_curve(book, rows);
    fit_additive(book, rows);
    fit_curve(book, rows);
    const auto spread = [](const FitScore& s) {
        return FitBook::Spread{s.rms, std::exp(s.p80), std::exp(s.p95)};
    };
    book.additive = spread(score(leave_out(rows, LeaveOut::model, Form::additive), true));
    book.curve = spread(score(leave_out(rows, LeaveOut::model, Form::curve), true));
    book.interpolated = spread(score_interpolation(book, rows));
    return book;
}

}  // namespace memwall::quality
