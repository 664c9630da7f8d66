#include "sim/capacity.h"

#include <algorithm>
#include <map>

#include "core/base/error.h"

namespace memwall::sim {
namespace {

AppResult together(const std::vector<RunResult>& runs) {
    RunResult all;
    for (const RunResult& r : runs) all.apps.push_back(r.all());
    return all.all();
}

/// Share `p` of the values, late ones included, is at most `limit`.
bool within(double limit, double p, const Histogram& values, std::int64_t late) {
    if (limit <= 0) return true;
    const auto n = static_cast<double>(values.count() + late);
    return n > 0 && static_cast<double>(values.at_most(limit)) >= p * n;
}

/// Runs the scenario as changed for a value and remembers what came out.
class Trials {
  public:
    Trials(const RunOptions& options, std::int64_t replications, std::function<Scenario(std::int64_t)> at)
        : options_(options), replications_(replications), at_(std::move(at)) {}

    bool operator()(std::int64_t value) {
        if (const auto it = seen_.find(value); it != seen_.end()) return it->second.holds;
        const Setup setup = prepare(at_(value));
        const auto runs = replicate(setup, replications_, options_);
        const AppResult all = together(runs);
        CapacityPoint p{value,
                        holds(setup.scenario.objectives, runs),
                        all.ttft.quantile(0.95),
                        all.ttft.quantile(0.99),
                        all.tpot.quantile(0.95),
                        all.e2e.quantile(0.95)};
        for (const RunResult& r : runs) stopped_ |= r.interrupted;
        seen_[value] = p;
        return p.holds;
    }
    bool stopped() const { return stopped_; }
    std::vector<CapacityPoint> points() const {
        std::vector<CapacityPoint> all;
        for (const auto& [value, p] : seen_) all.push_back(p);
        return all;
    }

  private:
    RunOptions options_;
    std::int64_t replications_;
    std::function<Scenario(std::int64_t)> at_;
    std::map<std::int64_t, CapacityPoint> seen_;
    bool stopped_ = false;
};

}  // namespace

void need_objectives(const Scenario& s) {
    if (s.objectives.any()) return;
    throw placed(
        s, Error("objectives", "none", "'objectives: {ttft_p95: 2s}' in the scenario, or --ttft-p95 2s"));
}

bool holds(const Objectives& o, const std::vector<RunResult>& runs) {
    const AppResult all = together(runs);
    if (all.arrived == 0) return true;
    // A request without a first token is late once it has waited longer than is allowed.
    const auto late = [&](double limit) {
        return all.refused + all.pending.count() - all.pending.at_most(limit);
    };
    return within(o.ttft_p95, 0.95, all.ttft, late(o.ttft_p95)) &&
           within(o.ttft_p99, 0.99, all.ttft, late(o.ttft_p99)) &&
           within(o.tpot_p95, 0.95, all.tpot, all.refused) &&
           within(o.e2e_p95, 0.95, all.e2e, late(o.e2e_p95));
}

CapacityAnswer find_users(const Scenario& scenario, const RunOptions& options, std::int64_t most) {
    need_objectives(scenario);
    for (const App& a : scenario.apps)
        if (a.trace)
            throw Error("--find users", "'" + a.name + "' replays a trace", "apps with a rate of arrivals");
    Trials holds_at(options, scenario.replications, [&](std::int64_t n) {
        Scenario s = scenario;
        for (App& a : s.apps) a.users *= static_cast<double>(n);
        return s;
    });
    CapacityAnswer answer;
    answer.question = "users";
    answer.users = 0;
    for (const App& a : scenario.apps) answer.users += a.users;
    std::int64_t low = 0, high = 1;
    while (high <= most && holds_at(high) && !holds_at.stopped()) {
        low = high;
        high *= 2;
    }
    answer.bounded = high <= most;
    while (answer.bounded && high - low > 1 && !holds_at.stopped()) {
        const std::int64_t middle = low + (high - low) / 2;
        (holds_at(middle) ? low : high) = middle;
    }
    answer.best = low;
    answer.points = holds_at.points();
    return answer;
}

CapacityAnswer find_pool(const Scenario& scenario, const RunOptions& options) {
    need_objectives(scenario);
    const Setup own = prepare(scenario);
    if (own.token_bytes <= 0)
        throw Error("--find pool", "a model without a cache that grows", "one with attention");
    const std::int64_t block = own.store.block_tokens, blocks = own.store.cells / block;
    Trials holds_at(options, scenario.replications, [&](std::int64_t tokens) {
        Scenario s = scenario;
        // Half a token more, so that dividing by its bytes gives the tokens asked for.
        s.kv.pool_bytes = static_cast<std::int64_t>((static_cast<double>(tokens) + 0.5) * own.token_bytes);
        return s;
    });
    CapacityAnswer answer;
    answer.question = "pool";
    answer.now = own.store.cells;
    answer.token_bytes = own.token_bytes;
    std::int64_t low = 0, high = blocks;  // holds at high, not at low
    if (!holds_at(blocks * block)) high = 0;
    while (high - low > 1 && !holds_at.stopped()) {
        const std::int64_t middle = low + (high - low) / 2;
        (holds_at(middle * block) ? high : low) = middle;
    }
    // The edge is not sharp: whether a slightly smaller pool happens to hold as well.
    for (std::int64_t i = 1; i <= 8 && high - i > 0 && !holds_at.stopped(); ++i)
        if (holds_at((high - i) * block)) high -= i, i = 0;
    answer.best = high * block;
    answer.margin = high > 0 ? 1 - static_cast<double>(high) / static_cast<double>(blocks) : 0;
    answer.points = holds_at.points();
    return answer;
}

CapacityAnswer find_throttle(const Scenario& scenario, const RunOptions& options) {
    if (scenario.thermal.resistance <= 0)
        throw placed(scenario,
                     Error("thermal", "no heat in this scenario", "'thermal: {resistance: 7, from: 38}'"));
    const auto runs = replicate(prepare(scenario), scenario.replications, options);
    CapacityAnswer answer;
    answer.question = "throttle";
    answer.runs = static_cast<std::int64_t>(runs.size());
    answer.simulated = scenario.seconds;
    std::vector<double> times;
    for (const RunResult& r : runs)
        if (r.first_throttle_seconds >= 0) times.push_back(r.first_throttle_seconds);
    answer.throttled = static_cast<std::int64_t>(times.size());
    answer.bounded = !times.empty();
    answer.seconds = estimate(times);
    if (answer.bounded)
        answer.best = static_cast<std::int64_t>(*std::min_element(times.begin(), times.end()));
    return answer;
}

}  // namespace memwall::sim
