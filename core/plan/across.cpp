#include "core/plan/across.h"

#include <algorithm>
#include <cmath>

namespace memwall::plan {
namespace {

constexpr std::size_t kCompared = kGoals + 1;  // and tokens kept
using Compared = std::array<double, kCompared>;

bool matches(const Compared& a, const Compared& b) {
    for (std::size_t i = 0; i < kCompared; ++i)
        if (a[i] > b[i]) return false;
    return true;
}

}  // namespace

std::array<double, kGoals> goals_across(const Candidate& c, double score) {
    std::array<double, kGoals> g = goals(c);
    g[static_cast<std::size_t>(Goal::quality)] =
        score < 0 ? std::numeric_limits<double>::infinity() : 100 - score;
    return g;
}

AcrossDecision decide_across(std::span<const Candidate> candidates, std::span<const double> scores,
                             const Constraints& limits, double min_score) {
    AcrossDecision d;
    d.broken.reserve(candidates.size());
    d.below_score.reserve(candidates.size());
    std::vector<std::pair<Compared, std::uint32_t>> order;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        d.broken.push_back(broken(candidates[i], limits));
        d.below_score.push_back(min_score > 0 && scores[i] < min_score);
        if (d.broken[i] != 0 || d.below_score[i]) continue;
        const auto index = static_cast<std::uint32_t>(i);
        d.admitted.push_back(index);
        if (scores[i] < 0) continue;
        const auto g = goals_across(candidates[i], scores[i]);
        order.push_back({{g[0], g[1], g[2], goals(candidates[i])[2]}, index});
    }
    // In lexical order only earlier ones can dominate; of equals the first stands for all.
    std::sort(order.begin(), order.end());
    std::vector<const Compared*> front;
    for (const auto& [values, index] : order) {
        if (std::any_of(front.begin(), front.end(), [&](const Compared* f) { return matches(*f, values); }))
            continue;
        front.push_back(&values);
        d.front.push_back(index);
    }
    return d;
}

MeritScale merit_scale(std::span<const std::array<double, kGoals>> goals,
                       std::span<const std::uint32_t> among) {
    MeritScale s;
    s.low.fill(std::numeric_limits<double>::infinity());
    s.high.fill(0);
    for (const std::uint32_t i : among)
        for (std::size_t g = 0; g < kGoals; ++g)
            if (std::isfinite(goals[i][g])) {
                s.low[g] = std::min(s.low[g], goals[i][g]);
                s.high[g] = std::max(s.high[g], goals[i][g]);
            }
    return s;
}

Merits merits_on(const MeritScale& s, const std::array<double, kGoals>& v) {
    constexpr double kBeta = 3.2;  // docs/decisions.md, "What is answered"
    Merits m;
    double sum = 0;
    for (std::size_t g = 0; g < kGoals; ++g) {
        if (!std::isfinite(v[g]))
            m.merit[g] = 0;
        else if (s.high[g] > s.low[g])
            m.merit[g] = std::clamp(std::log(s.high[g] / v[g]) / std::log(s.high[g] / s.low[g]), 0.0, 1.0);
        else
            m.merit[g] = 1;
        sum += m.balance[g] = std::exp(kBeta * m.merit[g]);
    }
    for (double& b : m.balance) b /= sum;
    return m;
}

std::int64_t nearest_balance(std::span<const Merits> merits, std::span<const std::uint32_t> among,
                             const std::array<double, kGoals>& wanted) {
    std::int64_t best = -1;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < among.size(); ++k) {
        double square = 0;
        for (std::size_t g = 0; g < kGoals; ++g) {
            const double d = merits[among[k]].balance[g] - wanted[g];
            square += d * d;
        }
        if (square < least) least = square, best = static_cast<std::int64_t>(k);
    }
    return best;
}

double agreement(std::span<const Merits> merits, std::span<const std::uint32_t> among, Goal a, Goal b) {
    if (among.size() < 3) return 0;
    const auto n = static_cast<double>(among.size());
    double sa = 0, sb = 0, saa = 0, sbb = 0, sab = 0;
    for (const std::uint32_t i : among) {
        const double x = merits[i].merit[static_cast<std::size_t>(a)];
        const double y = merits[i].merit[static_cast<std::size_t>(b)];
        sa += x, sb += y, saa += x * x, sbb += y * y, sab += x * y;
    }
    const double va = saa - sa * sa / n, vb = sbb - sb * sb / n;
    return va > 1e-12 && vb > 1e-12 ? (sab - sa * sb / n) / std::sqrt(va * vb) : 0;
}

}  // namespace memwall::plan
