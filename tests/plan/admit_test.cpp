// Why not, and what would help: of the real search of one model.
#include "core/plan/admit.h"

#include <algorithm>
#include <cmath>

#include "core/plan/across.h"
#include "devices/field.h"
#include "tests/catch.h"

using namespace memwall;
using namespace memwall::plan;

namespace {

const devices::Field& field() {
    static const devices::Field f = [] {
        Deployment d;
        d.model = "llama-3.2-3b";
        d.device = "raspberry-pi-5:8GiB";
        return devices::search_model(d, 0);
    }();
    return f;
}

Constraints limits() {
    Constraints c;
    c.max_memory = Bytes(std::int64_t{3} << 30);
    c.max_job = 60;
    c.min_quality = 0.9;
    c.min_context = 4096;
    return c;
}

}  // namespace

TEST_CASE("the smallest change is admitted and none with fewer options is", "[admit]") {
    const auto& all = field().candidates;
    const Grid& grid = field().models.front().grid;
    const Decision d = decide(all, limits());
    REQUIRE(!d.admitted.empty());
    REQUIRE(d.admitted.size() < all.size());
    for (std::size_t i = 0; i < all.size(); i += 7) {
        if (d.broken[i] == 0) continue;
        const SmallestChange s = smallest_change(grid, all, d, limits(), i);
        REQUIRE(s.candidate >= 0);
        CHECK(d.broken[static_cast<std::size_t>(s.candidate)] == 0);
        CHECK(!s.options.empty());
        for (const std::uint32_t other : d.admitted)
            CHECK(changes(grid, all[i], all[other]).size() >= s.options.size());
    }
}

TEST_CASE("limits moved just so far admit the candidate, and a little less does not", "[admit]") {
    const auto& all = field().candidates;
    const Decision d = decide(all, limits());
    std::size_t helped = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (d.broken[i] == 0) continue;
        const SmallestChange s = smallest_change(field().models.front().grid, all, d, limits(), i);
        if (s.moved.empty()) {
            // No limit makes a device larger, and nothing here is otherwise unknown.
            CHECK((d.broken[i] & (kUnsupported | kDoesNotFit | kUndecided | kSpeedUnknown)) != 0);
            continue;
        }
        ++helped;
        CHECK(broken(all[i], s.limits) == 0);
        Constraints tighter = s.limits;
        for (const Broken one : s.moved) {
            if (one == kMemory) tighter.max_memory = Bytes(tighter.max_memory.value - 8192);
            if (one == kJob) tighter.max_job *= 1 - 1e-6;
            if (one == kQuality) tighter.min_quality *= 1 + 1e-6;
            if (one == kContext) tighter.min_context += 1;
            if (one == kMemory || one == kJob || one == kQuality || one == kContext)
                CHECK(broken(all[i], tighter) != 0);
            tighter = s.limits;
        }
    }
    CHECK(helped > 10);
}

TEST_CASE("merits on the scale of the admitted are the merits of recommend", "[admit]") {
    const auto& all = field().candidates;
    const Decision d = decide(all, limits());
    std::vector<std::array<double, kGoals>> values;
    for (const Candidate& c : all) values.push_back(goals(c));
    const MeritScale scale = merit_scale(values, d.admitted);
    const auto expected = merits(all, d.admitted);
    for (std::size_t k = 0; k < d.admitted.size(); ++k) {
        const Merits m = merits_on(scale, values[d.admitted[k]]);
        for (std::size_t g = 0; g < kGoals; ++g) {
            CHECK(std::abs(m.merit[g] - expected[k].merit[g]) < 1e-12);
            CHECK(std::abs(m.balance[g] - expected[k].balance[g]) < 1e-12);
        }
    }
}

TEST_CASE("between models nothing on the front is beaten, and everything else is", "[admit]") {
    Deployment d;
    d.device = "raspberry-pi-5:8GiB";
    const devices::Field f = devices::search_catalogue(d, {4096});
    REQUIRE(f.models.size() > 20);
    std::vector<double> scores;
    for (std::size_t i = 0; i < f.candidates.size(); ++i) {
        const auto s = quality::score(f.models[f.model_of[i]].id, quality::Lane::mmlu_pro_written);
        scores.push_back(s ? s->value : kNoScore);
    }
    Constraints limits;
    limits.max_job = 300;
    const AcrossDecision a = decide_across(f.candidates, scores, limits, 30);
    REQUIRE(!a.front.empty());
    const auto compared = [&](std::uint32_t i) {
        const auto g = goals_across(f.candidates[i], scores[i]);
        return std::array{g[0], g[1], g[2], goals(f.candidates[i])[2]};
    };
    const auto beats = [](const auto& x, const auto& y) {
        bool better = false;
        for (std::size_t k = 0; k < 4; ++k) {
            if (x[k] > y[k]) return false;
            better = better || x[k] < y[k];
        }
        return better;
    };
    for (const std::uint32_t i : a.front)
        for (const std::uint32_t j : a.admitted) CHECK_FALSE(beats(compared(j), compared(i)));
    for (const std::uint32_t i : a.admitted) {
        CHECK(scores[i] >= 30);  // a limit on the score excludes what has none
        if (std::find(a.front.begin(), a.front.end(), i) != a.front.end()) continue;
        CHECK(std::any_of(a.front.begin(), a.front.end(), [&](std::uint32_t k) {
            return beats(compared(k), compared(i)) || compared(k) == compared(i);
        }));
    }
}
