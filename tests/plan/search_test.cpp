#include "core/plan/search.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "core/base/error.h"
#include "core/model/catalog.h"
#include "core/plan/auto_placement.h"
#include "core/plan/decide.h"
#include "devices/planning.h"
#include "devices/recommend.h"
#include "tests/catch.h"

using namespace memwall;
using namespace memwall::plan;

namespace {

struct Problem {
    devices::Opened opened;
    Grid grid;
    Constraints limits;
};

template <class T>
const T& pick(std::mt19937& random, const std::vector<T>& values) {
    return values[random() % values.size()];
}

template <class T>
std::vector<T> some(std::mt19937& random, std::vector<T> values, std::size_t most) {
    std::shuffle(values.begin(), values.end(), random);
    values.resize(1 + random() % std::min(most, values.size()));
    return values;
}

Problem random_problem(std::mt19937& random) {
    Deployment d;
    d.model = pick<std::string>(random, {"qwen2.5-7b", "llama-3.2-3b", "qwen3-30b-a3b", "gemma-3-4b",
                                         "smollm2-360m", "falcon-h1-1.5b", "deepseek-v2-lite", "phi-4-mini"});
    d.device =
        pick<std::string>(random, {"raspberry-pi-5:8GiB", "pixel-9-pro", "apple-m4:16GiB", "rtx-3060-12gb",
                                   "ram=6GiB,bandwidth=30GB/s,class=pc_cpu,isa=avx2"});
    d.prompt = 1 + static_cast<std::int64_t>(random() % 2000);
    d.generate = 1 + static_cast<std::int64_t>(random() % 500);
    Problem p{devices::open_deployment(d), {}, {}};
    for (const std::string& r : some<std::string>(
             random, {"Q8_0", "Q6_K", "Q5_K_M", "Q4_K_M", "IQ4_XS", "Q3_K_M", "Q2_K", "Q4_0"}, 3))
        p.grid.recipes.push_back({"llama.cpp", r});
    p.grid.drafts = {""};
    if (d.model == "qwen2.5-7b" && random() % 2) p.grid.drafts.push_back("qwen2.5-0.5b:Q4_K_M");
    p.grid.kv = some<std::pair<std::string, std::string>>(
        random, {{"f16", "f16"}, {"q8_0", "q8_0"}, {"q8_0", "q4_0"}, {"q4_0", "q4_0"}}, 3);
    p.grid.contexts = some<std::int64_t>(random, {512, 1024, 3000, 4096, 16384}, 3);
    p.grid.sequences = some<std::int64_t>(random, {1, 2, 4}, 2);
    p.grid.offload = {false};
    if (random() % 3 == 0) p.grid.offload.push_back(true);
    if (random() % 2) p.limits.min_decode = 1 + static_cast<double>(random() % 20);
    if (random() % 2) p.limits.max_memory = Bytes(static_cast<std::int64_t>(1 + random() % 12) << 30);
    if (random() % 3 == 0) p.limits.min_quality = 0.85;
    if (random() % 3 == 0) p.limits.confidence = 0.9;
    p.limits.min_context = random() % 2 ? 2048 : 0;
    p.limits.allow_unknown_quality = random() % 2;
    return p;
}

}  // namespace

TEST_CASE("search and recommend equal brute force on 200 random problems", "[search]") {
    const unsigned seed = std::random_device{}();
    INFO("seed " << seed);
    std::mt19937 random(seed);
    for (int n = 0; n < 200; ++n) {
        const Problem p = random_problem(random);
        const SearchResult r = search(p.opened.model, p.opened.deployment, p.opened.device, p.grid,
                                      devices::open_named_model, 1 + random() % 3);
        REQUIRE(r.candidates.size() == p.grid.size());
        INFO(p.opened.model.id << " on " << p.opened.deployment.device);
        const Decision decision = decide(r.candidates, p.limits);

        // Brute force: each configuration planned by itself, as the command does; each pair compared.
        std::vector<Candidate> alone;
        for (const Candidate& c : r.candidates) {
            const Deployment d = deployment_of(p.grid, c, p.opened.deployment);
            Candidate own;
            try {
                own = [&] {
                    const Prepared prepared = prepare(p.opened.model, d, devices::open_named_model);
                    const Target t = aim(prepared, p.opened.device);
                    const Knobs k = place_automatically(prepared, t, resolve_knobs(prepared, t));
                    return candidate_of(evaluate(prepared, k, t), k);
                }();
            } catch (const Error&) {
                own.verdict = Verdict::unsupported;
            }
            INFO("candidate " << alone.size() << " " << p.grid.recipes[c.recipe].recipe << " "
                              << p.grid.kv[c.kv].first << "/" << p.grid.kv[c.kv].second << " " << c.context);
            REQUIRE(own.verdict == c.verdict);
            REQUIRE(own.needed.high == c.needed.high);
            REQUIRE(own.footprint.central == c.footprint.central);
            REQUIRE(own.decode.central.value == c.decode.central.value);
            REQUIRE(own.job.high.value == c.job.high.value);
            REQUIRE(own.loss.top1_disagreement.central == c.loss.top1_disagreement.central);
            own.context = c.context;
            alone.push_back(own);
        }
        std::vector<std::uint32_t> front;
        for (std::size_t i = 0; i < alone.size(); ++i) {
            CHECK((broken(alone[i], p.limits) == 0) == (decision.broken[i] == 0));
            if (broken(alone[i], p.limits) != 0) continue;
            const auto mine = goals(alone[i]);
            bool beaten = false;
            for (std::size_t j = 0; j < alone.size() && !beaten; ++j) {
                if (i == j || broken(alone[j], p.limits) != 0) continue;
                const auto other = goals(alone[j]);
                bool no_worse = true, better = false;
                for (std::size_t g = 0; g < kGoals; ++g) {
                    no_worse = no_worse && other[g] <= mine[g];
                    better = better || other[g] < mine[g];
                }
                beaten = no_worse && (better || j < i);  // of equals the first stands for all
            }
            if (!beaten) front.push_back(static_cast<std::uint32_t>(i));
        }
        std::vector<std::uint32_t> found = decision.front;
        std::sort(found.begin(), found.end());
        REQUIRE(found == front);
        for (std::size_t g = 0; g < kGoals; ++g) {
            REQUIRE((decision.best[g] >= 0) == !front.empty());
            if (front.empty()) continue;
            double least = std::numeric_limits<double>::infinity();
            for (const std::uint32_t i : front) least = std::min(least, goals(alone[i])[g]);
            CHECK(goals(alone[static_cast<std::size_t>(decision.best[g])])[g] <= least * 1.03);
        }
    }
}

TEST_CASE("merits span the admitted, and balances add to one", "[search]") {
    Deployment d;
    d.model = "qwen2.5-7b";
    d.device = "apple-m4:16GiB";
    const devices::Opened o = devices::open_deployment(d);
    const Grid grid =
        default_grid(o.model, o.deployment, 4096, false, {{"qwen2.5-0.5b", "qwen2.5", 494'000'000}});
    CHECK(grid.drafts == std::vector<std::string>{"", "qwen2.5-0.5b:Q4_K_M"});
    CHECK(grid.contexts == std::vector<std::int64_t>{4096, 8192, 16384, 32768});
    const SearchResult r = search(o.model, o.deployment, o.device, grid, devices::open_named_model);
    const Decision decision = decide(r.candidates, {});
    REQUIRE(decision.front.size() > 2);
    const auto all = merits(r.candidates, decision.admitted);
    REQUIRE(all.size() == decision.admitted.size());
    std::array<double, kGoals> best{};
    for (const Merits& m : all) {
        double sum = 0;
        for (std::size_t g = 0; g < kGoals; ++g) {
            CHECK(m.merit[g] >= 0);
            CHECK(m.merit[g] <= 1);
            best[g] = std::max(best[g], m.merit[g]);
            sum += m.balance[g];
        }
        CHECK(sum == Approx(1));
        CHECK(m.balance[0] / m.balance[1] == Approx(std::exp(3.2 * (m.merit[0] - m.merit[1]))));
    }
    for (const double b : best) CHECK(b == Approx(1));
}

TEST_CASE("several runtimes are searched at once, each candidate as its own plan", "[search]") {
    Deployment d;
    d.model = "llama-3.1-8b";
    d.device = "apple-m4:16GiB";
    const Axes axes = devices::search_axes({{"runtime", {"llama.cpp", "mlx"}},
                                            {"context", {"4096"}},
                                            {"sequences", {"1", "2"}},
                                            {"kv", {"f16", "int8", "q8_0/q4_0"}}});
    const view::Recommendation r = devices::recommend(d, {}, axes);
    const Grid& g = r.search.grid;
    CHECK(g.sequences == std::vector<std::int64_t>{1, 2});
    CHECK(g.drafts == std::vector<std::string>{"", "llama-3.2-1b"});
    std::map<std::string, int> supported;
    for (const Candidate& c : r.search.candidates) {
        const RecipeChoice& recipe = g.recipes[c.recipe];
        if (c.verdict == Verdict::unsupported) continue;
        ++supported[recipe.runtime];
        // MLX has no block formats and llama.cpp no int8.
        CHECK((g.kv[c.kv].first == "f16" || (g.kv[c.kv].first == "int8") == (recipe.runtime == "mlx")));
        const Plan plan = devices::make_plan(deployment_of(g, c, r.deployment)).plan;
        CHECK(plan.memory.pools[plan.memory.deciding_pool].needed.central == c.needed.central);
        CHECK(plan.speed.decode.central.value == c.decode.central.value);
    }
    CHECK(supported["llama.cpp"] > 0);
    CHECK(supported["mlx"] > 0);
    CHECK_THROWS_AS(devices::search_axes({{"threads", {"4"}}}), Error);
    CHECK_THROWS_AS(devices::search_axes({{"kv", {"q8_0/zero"}}}), Error);
    CHECK_THROWS_AS(devices::search_axes({{"sequences", {"0"}}}), Error);
    CHECK_THROWS_AS(devices::search_axes({{"runtime", {"nothing"}}}), Error);
}

TEST_CASE("only what is asked for must be known", "[search]") {
    Deployment d;
    d.model = "llama-3.1-8b";
    d.context = 4096;
    Demands demands;
    // Bandwidth alone gives decode, but no first token.
    d.device = "ram=8GiB,bandwidth=50GB/s,class=pc_cpu";
    const view::Recommendation plain = devices::recommend(d, demands);
    REQUIRE_FALSE(plain.decision.admitted.empty());
    for (const std::int64_t best : plain.decision.best) CHECK(best >= 0);
    for (const Merits& m : merits(plain.search.candidates, plain.decision.admitted))
        for (const double x : m.merit) CHECK((x >= 0 && x <= 1));
    demands.limits.min_decode = 1;
    CHECK_FALSE(devices::recommend(d, demands).decision.admitted.empty());
    demands.limits.max_ttft = 1000;
    const view::Recommendation timed = devices::recommend(d, demands);
    CHECK(timed.decision.admitted.empty());
    CHECK(broken_text(kSpeedUnknown, timed.search.candidates[0], demands.limits) ==
          "speed of prompt processing unknown");
    // Without bandwidth there is no answer under latency, and one under the others.
    d.device = "ram=8GiB";
    const view::Recommendation blind = devices::recommend(d, {});
    REQUIRE_FALSE(blind.decision.admitted.empty());
    CHECK(blind.decision.best[static_cast<std::size_t>(Goal::latency)] == -1);
    CHECK(blind.decision.best[static_cast<std::size_t>(Goal::memory)] >= 0);
    for (const Merits& m : merits(blind.search.candidates, blind.decision.admitted))
        CHECK(m.balance[0] + m.balance[1] + m.balance[2] == Approx(1));
}

TEST_CASE("a quantile of an interval is its centre, its ends, and monotone between", "[search]") {
    CHECK(quantile(5, 10, 20, 0.9, 0.5) == 10);
    CHECK(quantile(5, 10, 20, 0.9, 0.95) == Approx(20));
    CHECK(quantile(5, 10, 20, 0.9, 0.05) == Approx(5));
    CHECK(quantile(10, 10, 10, 1, 0.99) == 10);
    double last = 0;
    for (double p = 0.05; p < 0.96; p += 0.05) {
        CHECK(quantile(5, 10, 20, 0.9, p) > last);
        last = quantile(5, 10, 20, 0.9, p);
    }
}
