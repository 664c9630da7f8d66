#include "core/speed/fit.h"

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

namespace memwall::speed {
namespace {

constexpr double kShortfall = 0.03;  ///< log error below which the robust loss turns quadratic
constexpr double kDecodeScale = 0.08, kPrefillScale = 0.1;

/// The shared laws of a book and their priors: start and deviation, of the logarithm where that is the
/// parameter.
struct Law {
    double PriorBook::*member;
    double start, deviation;
    bool logarithmic;
};
constexpr std::array kLaws = {
    Law{&PriorBook::cpu_flops_per_weight, 8, 0.5, true},
    Law{&PriorBook::gpu_flops_per_weight, 25, 0.5, true},
    Law{&PriorBook::simple_block_cost, 0.7, 0.2, true},
    Law{&PriorBook::split_field_cost, 1.5, 0.3, true},
    Law{&PriorBook::nested_matrix_cost, 1.15, 0.1, true},
    Law{&PriorBook::overhead_per_year, 0.2, 0.2, false},
    Law{&PriorBook::served_overhead, 4e-4, 0.5, true},
    Law{&PriorBook::unfused_kv, 2, 0.4, true},
    Law{&PriorBook::unfused_score_bytes, 20, 0.4, true},
    Law{&PriorBook::unfused_attention, 0.7, 0.4, true},
    Law{&PriorBook::cpu_width_exponent, 0.1, 0.15, false},
    Law{&PriorBook::expert_overhead, 1.5, 0.5, true},
};

/// The numbers of a family: a pooled value with a prior, and how far a family lies from its parent. Where a
/// family has its own start (peaks differ in kind) that start replaces the parent's value.
struct Trait {
    double FamilyPrior::*member;
    double start, pool_deviation, family_deviation;
};
constexpr std::array kTraits = {
    Trait{&FamilyPrior::weights, 0.8, 0.3, 0.12},         Trait{&FamilyPrior::kv, 0.4, 0.5, 0.4},
    Trait{&FamilyPrior::layer_overhead, 80e-6, 1.0, 0.6}, Trait{&FamilyPrior::utilisation, 1.0, 1e-6, 0.5},
    Trait{&FamilyPrior::attention, 0.5, 0.5, 0.4},
};
constexpr int kPool = static_cast<int>(kLaws.size());
constexpr int kTraitCount = static_cast<int>(kTraits.size());

/// Parameter vector <-> book: laws, pool, then one block of offsets for each family.
class Layout {
  public:
    explicit Layout(const PriorBook& skeleton) : skeleton_(skeleton) {
        for (const Law& law : kLaws) add(law.logarithmic ? std::log(law.start) : law.start, law.deviation);
        for (const Trait& t : kTraits) add(std::log(t.start), t.pool_deviation);
        for (const auto& [name, family] : skeleton.families) {
            Block& block = blocks_[name];
            block.at = size();
            for (std::size_t k = 0; k < kTraits.size(); ++k) {
                const Trait& t = kTraits[k];
                const bool can_start =
                    t.member == &FamilyPrior::utilisation || t.member == &FamilyPrior::weights;
                const bool own = can_start && family.*t.member > 0;
                add(own ? std::log(family.*t.member / t.start) : 0, t.family_deviation);
                block.inherits[k] = !own;
            }
        }
        for (auto& [name, block] : blocks_) {
            const auto parent = blocks_.find(skeleton.families.at(name).parent);
            if (parent != blocks_.end() && parent->first != "pooled") block.parent = parent->second.at;
        }
    }
    int size() const { return static_cast<int>(centres_.size()); }
    Eigen::VectorXd centres() const { return Eigen::Map<const Eigen::VectorXd>(centres_.data(), size()); }
    Eigen::VectorXd deviations() const {
        return Eigen::Map<const Eigen::VectorXd>(deviations_.data(), size());
    }

    /// Whether the numbers of `family` depend on parameter k.
    bool moves(int k, const std::string& family) const {
        const Block& b = blocks_.at(family);
        const auto in = [&](int at) { return at >= 0 && k >= at && k < at + kTraitCount; };
        return k < kPool + kTraitCount || in(b.at) || in(b.parent);
    }
    PriorBook book(const Eigen::VectorXd& x) const {
        PriorBook b = skeleton_;
        for (int i = 0; i < kPool; ++i) {
            const Law& law = kLaws[static_cast<std::size_t>(i)];
            b.*law.member = law.logarithmic ? std::exp(x[i]) : x[i];
        }
        for (auto& [name, family] : b.families)
            for (int k = 0; k < kTraitCount; ++k)
                family.*kTraits[static_cast<std::size_t>(k)].member =
                    std::exp(from(name, k, x) + x[blocks_.at(name).at + k]);
        return b;
    }
    Eigen::VectorXd parameters(const PriorBook& b) const {
        Eigen::VectorXd x = centres();
        for (int i = 0; i < kPool; ++i) {
            const Law& law = kLaws[static_cast<std::size_t>(i)];
            x[i] = law.logarithmic ? std::log(b.*law.member) : b.*law.member;
        }
        for (int k = 0; k < kTraitCount; ++k)
            x[kPool + k] = std::log(b.families.at("pooled").*kTraits[static_cast<std::size_t>(k)].member);
        for (const bool children : {false, true})  // parents first: children are offsets from them
            for (const auto& [name, block] : blocks_)
                for (int k = 0; k < kTraitCount; ++k)
                    if ((block.parent >= 0) == children)
                        x[block.at + k] =
                            std::log(b.families.at(name).*kTraits[static_cast<std::size_t>(k)].member) -
                            from(name, k, x);
        return x;
    }

  private:
    struct Block {
        int at = 0, parent = -1;
        std::array<bool, kTraits.size()> inherits{};
    };
    void add(double centre, double deviation) {
        centres_.push_back(centre);
        deviations_.push_back(deviation);
    }
    /// What the offset of trait k is relative to.
    double from(const std::string& family, int k, const Eigen::VectorXd& x) const {
        const Block& b = blocks_.at(family);
        const bool inherits = b.parent >= 0 && b.inherits[static_cast<std::size_t>(k)];
        return x[kPool + k] + (inherits ? x[b.parent + k] : 0);
    }
    const PriorBook& skeleton_;
    std::vector<double> centres_, deviations_;
    std::map<std::string, Block> blocks_;
};

/// One measured quantity with its weight.
struct Row {
    const MeasuredPoint* point;
    bool prefill;
    double weight;
    const std::string* family;
};

double seconds(const Row& row, const PriorBook& book) {
    const MeasuredPoint& p = *row.point;
    const Machine m = p.machine(book);
    return row.prefill ? prefill_time(prefill_load(p.work, m, p.kv, p.settings), m.rates.central).seconds
                       : step_time(step_load(p.work, m, p.kv, p.settings), m.rates.central).seconds;
}

double residual(const Row& row, const PriorBook& book) {
    const MeasuredPoint& p = *row.point;
    const double e = std::log(seconds(row, book) / (row.prefill ? p.prefill_seconds() : p.decode_seconds()));
    const double loss =
        2 * (std::hypot(e, kShortfall) - kShortfall) / (row.prefill ? kPrefillScale : kDecodeScale);
    return std::copysign(std::sqrt(loss * row.weight), e);
}

class Fit {
  public:
    Fit(const PointSet& set, const std::string& without) : layout_(set.skeleton) {
        std::map<std::string, int> decode_rows, prefill_rows;
        for (const MeasuredPoint& p : set.points) {
            if (p.set == MeasuredPoint::Set::cases || p.regime != MeasuredPoint::Regime::resident ||
                p.device == without)
                continue;
            const std::string* family = &set.skeleton.classified(p.traits.efficiency_class).family;
            if (p.decode_per_second > 0) rows_.push_back({&p, false, 1, family}), ++decode_rows[p.device];
            if (p.prefill_per_second > 0) rows_.push_back({&p, true, 1, family}), ++prefill_rows[p.device];
        }
        for (Row& r : rows_)
            r.weight = 1 / std::sqrt((r.prefill ? prefill_rows : decode_rows)[r.point->device]);
    }

    /// Levenberg-Marquardt.
    PriorBook run(const PriorBook* start) const {
        Eigen::VectorXd x = start ? layout_.parameters(*start) : layout_.centres();
        Eigen::VectorXd r = residuals(x);
        double damping = 1e-2;
        for (int round = 0; round < 60 && damping < 1e8; ++round) {
            const Eigen::MatrixXd j = jacobian(x, r);
            const Eigen::MatrixXd normal = j.transpose() * j;
            const Eigen::VectorXd down = j.transpose() * r;
            const double before = r.squaredNorm();
            for (; damping < 1e8; damping *= 4) {
                Eigen::MatrixXd damped = normal;
                damped.diagonal() *= 1 + damping;
                const Eigen::VectorXd moved_x = x - damped.ldlt().solve(down);
                const Eigen::VectorXd moved_r = residuals(moved_x);
                if (moved_r.squaredNorm() < before) {
                    x = moved_x;
                    r = moved_r;
                    damping = std::max(damping / 4, 1e-6);
                    break;
                }
            }
            if (before - r.squaredNorm() < 1e-5 * before) break;
        }
        return layout_.book(x);
    }
    const std::vector<Row>& rows() const { return rows_; }

  private:
    /// Rows through a loss that grows linearly, then the priors.
    Eigen::VectorXd residuals(const Eigen::VectorXd& x) const {
        const PriorBook book = layout_.book(x);
        const auto n = static_cast<int>(rows_.size());
        Eigen::VectorXd r(n + layout_.size());
        for (int i = 0; i < n; ++i) r[i] = residual(rows_[static_cast<std::size_t>(i)], book);
        r.tail(layout_.size()) = (x - layout_.centres()).cwiseQuotient(layout_.deviations());
        return r;
    }

    /// Differences; a row depends on the laws, the pool and its own family only.
    Eigen::MatrixXd jacobian(const Eigen::VectorXd& x, const Eigen::VectorXd& r) const {
        constexpr double step = 1e-6;
        const auto n = static_cast<int>(rows_.size());
        Eigen::MatrixXd j = Eigen::MatrixXd::Zero(r.size(), x.size());
        for (int k = 0; k < x.size(); ++k) {
            Eigen::VectorXd moved = x;
            moved[k] += step;
            const PriorBook book = layout_.book(moved);
            for (int i = 0; i < n; ++i) {
                const Row& row = rows_[static_cast<std::size_t>(i)];
                if (layout_.moves(k, *row.family)) j(i, k) = (residual(row, book) - r[i]) / step;
            }
            j(n + k, k) = 1 / layout_.deviations()[k];
        }
        return j;
    }

    Layout layout_;
    std::vector<Row> rows_;
};

}  // namespace

PriorBook fit_centres(const PointSet& set, const std::string& without, const PriorBook* start) {
    const Fit fit(set, without);
    PriorBook book = fit.run(start);
    std::map<std::string, std::set<std::string>> decode, prefill;
    std::set<std::string_view> seen;
    for (const Row& row : fit.rows()) {
        seen.insert(row.point->traits.efficiency_class);
        const std::string& family = book.classified(row.point->traits.efficiency_class).family;
        (row.prefill ? prefill : decode)[family].insert(row.point->device);
    }
    for (auto& [name, family] : book.families) {
        family.devices = static_cast<int>(decode[name].size());
        family.prefill_devices = static_cast<int>(prefill[name].size());
    }
    const auto classes = book.classes;
    for (const auto& [name, c] : classes) book.add_class(name, c.family, !seen.count(name));
    return book;
}

}  // namespace memwall::speed
