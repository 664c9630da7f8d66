#include <algorithm>
#include <array>
#include <cmath>

#include "sim/result/result.h"

namespace memwall::sim {
namespace {

using R = const RunResult&;
using A = const AppResult&;
using U = MetricUnit;

double count(std::int64_t n) {
    return static_cast<double>(n);
}
double over(double a, double b) {
    return b > 0 ? a / b : 0;
}
bool thermal(R r) {
    return r.thermal;
}
bool memory(R r) {
    return r.memory;
}
bool card(R r) {
    return r.card;
}
bool battery(R r) {
    return r.battery;
}
bool energy(R r) {
    return r.joules > 0;
}

template <Histogram AppResult::*Which, int PerMille>
double quantile(R, A a) {
    return (a.*Which).quantile(PerMille / 1000.0);
}
template <Histogram AppResult::*Which>
double mean(R, A a) {
    return (a.*Which).mean();
}

const Metric kMetrics[] = {
    {"requests", U::count, "requests that arrived", [](R, A a) { return count(a.arrived); }},
    {"finished", U::count, "requests whose answer came out whole", [](R, A a) { return count(a.finished); }},
    {"cut_short", U::count, "answers ended by the context or by a pool too small for them alone",
     [](R, A a) { return count(a.cut_short); }},
    {"refused", U::count, "requests that could never fit, or met a full queue or a device switched off",
     [](R, A a) { return count(a.refused); }},
    {"unfinished", U::count, "requests still waiting or running at the end",
     [](R, A a) { return count(a.unfinished); }},
    {"ttft_mean", U::seconds,
     "time to first token: from arrival to the first token, loading and queueing included",
     mean<&AppResult::ttft>},
    {"ttft_p50", U::seconds, "half of the requests had their first token by then",
     quantile<&AppResult::ttft, 500>},
    {"ttft_p90", U::seconds, "90 % of them", quantile<&AppResult::ttft, 900>},
    {"ttft_p95", U::seconds, "95 % of them", quantile<&AppResult::ttft, 950>},
    {"ttft_p99", U::seconds, "99 % of them", quantile<&AppResult::ttft, 990>},
    {"tpot_mean", U::seconds,
     "time per output token: (end to end - TTFT) / (output tokens - 1), one value a request",
     mean<&AppResult::tpot>},
    {"tpot_p50", U::seconds, "half of the requests were at least as fast", quantile<&AppResult::tpot, 500>},
    {"tpot_p95", U::seconds, "95 % of them", quantile<&AppResult::tpot, 950>},
    {"tpot_p99", U::seconds, "99 % of them", quantile<&AppResult::tpot, 990>},
    {"itl_p50", U::seconds, "inter-token latency: one gap between two tokens of an answer",
     quantile<&AppResult::itl, 500>},
    {"itl_p99", U::seconds, "99 % of the gaps are at most so long", quantile<&AppResult::itl, 990>},
    {"e2e_mean", U::seconds, "end to end: from arrival to the last token", mean<&AppResult::e2e>},
    {"e2e_p50", U::seconds, "half of the answers were complete by then", quantile<&AppResult::e2e, 500>},
    {"e2e_p95", U::seconds, "95 % of them", quantile<&AppResult::e2e, 950>},
    {"e2e_p99", U::seconds, "99 % of them", quantile<&AppResult::e2e, 990>},
    {"queue_mean", U::seconds, "from arrival to the first step that computes the request",
     mean<&AppResult::queue>},
    {"queue_p95", U::seconds, "95 % of the requests waited at most so long",
     quantile<&AppResult::queue, 950>},
    {"goodput", U::share, "requests finished within every objective over requests that arrived",
     [](R, A a) { return over(count(a.good), count(a.arrived)); }, [](R r) { return r.objectives; }},
    {"output_rate", U::per_second, "output tokens of all requests over the simulated time",
     [](R r, A a) { return over(count(a.output_tokens), r.seconds); }},
    {"output_tokens", U::tokens, "tokens that came out", [](R, A a) { return count(a.output_tokens); }},
    {"utilization", U::share, "share of the time in which a step was computed",
     [](R r, A) { return over(r.busy_seconds, r.seconds); }},
    {"batch_mean", U::count, "sequences that decode in a step, over steps that decode",
     [](R r, A) { return over(r.batch_integral, count(r.decode_rows)); }},
    {"pool_occupancy", U::share, "time-weighted share of the KV pool that sequences and kept sessions hold",
     [](R r, A) { return over(r.occupancy_integral, r.seconds * count(r.pool_tokens)); }},
    {"pool_cached", U::share, "time-weighted share of the pool that only the prefix cache keeps",
     [](R r, A) { return over(r.cached_integral, r.seconds * count(r.pool_tokens)); }},
    {"pool_waste", U::share, "of what is held, cells without a token (time-weighted)",
     [](R r, A) { return over(r.waste_integral, r.occupancy_integral); }},
    {"pool_fragmentation", U::share,
     "of a contiguous pool's free cells, those outside its largest hole (time-weighted)",
     [](R r, A) { return over(r.unusable_integral, r.free_integral); },
     [](R r) { return r.free_integral > 0; }},
    {"preemptions", U::count, "running sequences sent back to the queue",
     [](R r, A) { return count(r.scheduler.preemptions); }},
    {"recomputed_tokens", U::tokens, "tokens computed again after a preemption or a kill",
     [](R r, A) { return count(r.scheduler.recomputed_tokens); }},
    {"prefix_hit", U::share, "prompt tokens found in the cache over all prompt tokens of started requests",
     [](R r, A) {
         const SchedulerCounts& c = r.scheduler;
         return over(count(c.hit_tokens), count(c.hit_tokens + c.prompt_tokens));
     }},
    {"evicted_tokens", U::tokens, "cached tokens given up for room",
     [](R r, A) { return count(r.evicted_tokens); }},
    {"sessions_evicted", U::count, "kept sessions given up for room",
     [](R r, A) { return count(r.sessions_evicted); }},
    {"swapped", U::bytes, "moved to and from the swap space", [](R r, A) { return r.swapped_bytes; }},
    {"draft_acceptance", U::share, "accepted drafts over drafted tokens",
     [](R r, A) { return over(count(r.scheduler.accepted), count(r.scheduler.drafted)); },
     [](R r) { return r.scheduler.drafted > 0; }},
    {"peak_memory", U::bytes, "largest total of weights, KV and scratch of the model's process",
     [](R r, A) { return count(r.peak.ours()); }},
    {"mean_memory", U::bytes, "the same, time-weighted", [](R r, A) { return count(r.mean.ours()); }},
    {"loads", U::count, "times the model was loaded", [](R r, A) { return count(r.loads); }},
    {"loading", U::seconds, "time spent loading", [](R r, A) { return r.loading_seconds; }},
    {"kills", U::count, "other apps ended for memory", [](R r, A) { return count(r.kills); }, memory},
    {"own_kills", U::count, "times the model's process was ended for memory",
     [](R r, A) { return count(r.own_kills); }, memory},
    {"major_faults", U::bytes, "weights read again from storage because the page cache had lost them",
     [](R r, A) { return r.fault_bytes; }, memory},
    {"load_cached", U::bytes, "of what loads read, found in the page cache",
     [](R r, A) { return r.load_cached_bytes; }, memory},
    {"card_refusals", U::count, "other apps that found no room on the card",
     [](R r, A) { return count(r.card_refusals); }, card},
    {"card_wait", U::seconds, "time in which the model could not load because others had the card",
     [](R r, A) { return r.card_wait_seconds; }, card},
    {"throttled", U::seconds, "computing below full speed because of heat",
     [](R r, A) { return r.throttled_seconds; }, thermal},
    {"first_throttle", U::seconds, "until the governor first slowed the chip; -1 = never",
     [](R r, A) { return r.first_throttle_seconds; }, thermal},
    {"hottest", U::celsius, "highest temperature of the chip", [](R r, A) { return r.hottest; }, thermal},
    {"slowest_speed", U::share, "lowest share of full speed that the governor granted",
     [](R r, A) { return r.slowest; }, thermal},
    {"energy", U::joules, "drawn by the device over the run", [](R r, A) { return r.joules; }, energy},
    {"energy_per_token", U::joules, "energy over output tokens",
     [](R r, A a) { return over(r.joules, count(a.output_tokens)); }, energy},
    {"battery_end", U::share, "charge at the end", [](R r, A) { return r.battery_end; }, battery},
    {"battery_per_1000", U::share,
     "of the battery's capacity, energy drawn for 1,000 output tokens, idle time included",
     [](R r, A a) { return over(1000 * r.joules, r.battery_joules * count(a.output_tokens)); }, battery},
    {"switched_off", U::seconds, "time with an empty battery", [](R r, A) { return r.off_seconds; }, battery},
};

}  // namespace

std::span<const Metric> metrics() {
    return kMetrics;
}

const Metric* find_metric(std::string_view name) {
    for (const Metric& m : kMetrics)
        if (m.name == name) return &m;
    return nullptr;
}

std::string_view unit_suffix(MetricUnit unit) {
    constexpr std::array<std::string_view, 8> kSuffixes{"",       "",       "_seconds", "_per_second",
                                                        "_share", "_bytes", "_joules",  "_celsius"};
    return kSuffixes[static_cast<std::size_t>(unit)];
}

AppResult RunResult::all() const {
    AppResult sum;
    sum.name = "all";
    for (const AppResult& a : apps) {
        sum.arrived += a.arrived;
        sum.finished += a.finished;
        sum.cut_short += a.cut_short;
        sum.refused += a.refused;
        sum.unfinished += a.unfinished;
        sum.prompt_tokens += a.prompt_tokens;
        sum.output_tokens += a.output_tokens;
        sum.good += a.good;
        sum.pending.add(a.pending);
        sum.queue.add(a.queue);
        sum.ttft.add(a.ttft);
        sum.tpot.add(a.tpot);
        sum.itl.add(a.itl);
        sum.e2e.add(a.e2e);
    }
    return sum;
}

Estimate estimate(std::span<const double> values) {
    Estimate e;
    const auto n = static_cast<double>(values.size());
    if (values.empty()) return e;
    for (const double x : values) e.mean += x / n;
    if (values.size() < 2) return e;
    double square = 0;
    for (const double x : values) square += (x - e.mean) * (x - e.mean);
    // 97.5 % points of Student's t, degrees of freedom 1 to 30; beyond, the expansion around the normal one.
    constexpr std::array<double, 30> kT{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
                                        2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
                                        2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064,
                                        2.060,  2.056, 2.052, 2.048, 2.045, 2.042};
    const std::size_t freedom = values.size() - 1;
    const double t = freedom <= kT.size() ? kT[freedom - 1] : 1.95996 + 2.372 / static_cast<double>(freedom);
    e.half = t * std::sqrt(square / (n - 1) / n);
    return e;
}

}  // namespace memwall::sim
