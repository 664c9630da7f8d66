#include "core/plan/across.h"

#include <cmath>
#include <utility>

#include "core/plan/pareto.h"

namespace memwall::plan {
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
    // The three goals, and tokens kept.
    std::vector<std::pair<std::array<double, kGoals + 1>, std::uint32_t>> scored;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        d.broken.push_back(broken(candidates[i], limits));
        d.below_score.push_back(min_score > 0 && scores[i] < min_score);
        if (d.broken[i] != 0 || d.below_score[i]) continue;
        const auto index = static_cast<std::uint32_t>(i);
        d.admitted.push_back(index);
        if (scores[i] < 0) continue;
        const auto g = goals_across(candidates[i], scores[i]);
        scored.push_back({{g[0], g[1], g[2], goals(candidates[i])[2]}, index});
    }
    d.front = pareto_front(std::move(scored));
    return d;
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
