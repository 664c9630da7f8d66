#include "core/plan/decide.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <tuple>

#include "core/base/size_text.h"
#include "core/plan/pareto.h"
#include "core/quality/words.h"

namespace memwall::plan {
namespace {

constexpr std::array<std::string_view, kGoals> kGoalNames{"latency", "memory", "quality"};
constexpr std::array<std::string_view, kBrokenKinds> kBrokenNames{
    "unsupported", "does_not_fit", "too_close_to_call", "max_memory",    "min_decode", "max_ttft",  "max_job",
    "min_context", "min_quality",  "quality_unknown",   "speed_unknown", "max_load",   "max_energy"};

/// z with P(Z <= z) = p of the standard normal, by bisection: 60 halvings of [-8, 8] reach double precision.
double normal_quantile(double p) {
    double low = -8, high = 8;
    for (int i = 0; i < 60; ++i) {
        const double z = (low + high) / 2;
        (0.5 * std::erfc(-z / std::sqrt(2.0)) < p ? low : high) = z;
    }
    return (low + high) / 2;
}

template <class T>
double at(const Interval<T>& x, double p) {
    return quantile(x.low.value, x.central.value, x.high.value, x.level, p);
}

/// A limit from above holds with confidence p when the p-quantile does; one from below when the
/// (1-p)-quantile does.
template <class T>
bool exceeds(const Interval<T>& x, double limit, double p) {
    return limit > 0 && at(x, p) > limit;
}

/// The share of tokens lost that is exceeded in 1-p of the cases.
double lost(const Candidate& c, double p) {
    const auto& d = c.loss.top1_disagreement;
    return quantile(d.low, d.central, d.high, 0.8, p);
}

Bytes bytes_at(const Interval<Bytes>& x, double p) {
    return Bytes(std::llround(at(x, p)));
}

std::string time_at(const Interval<Seconds>& x, double p) {
    return seconds_text(Seconds(at(x, p)));
}

/// Three digits, never an exponent where a reader expects a number.
std::string plain(double x) {
    return x >= 999.5 && x < 1e15 ? count_text(std::llround(x)) : fmt::format("{:.3g}", x);
}

/// Without the names that reason_text() knows: a candidate keeps the reason alone.
std::string unsupported_text(Reason reason) {
    switch (reason) {
        case Reason::processor_missing:
        case Reason::runtime_processor:
            return "the runtime does not run on this processor";
        case Reason::kv_type:
            return "the runtime has no such KV type for this model";
        case Reason::recipe:
            return "the runtime does not load such files";
        case Reason::npu_routing:
            return "compiled NPU programs cannot route tokens to experts";
        default:
            return "unsupported";
    }
}

/// Of the front, the best in one goal; within 3 % of it the one that is best in quality, then memory, then
/// latency: a percent of memory is no reason to lose more tokens.
std::int64_t best_of(std::span<const std::array<double, kGoals>> values, std::span<const std::uint32_t> front,
                     Goal goal) {
    const auto g = static_cast<std::size_t>(goal);
    double least = std::numeric_limits<double>::infinity();
    for (const std::uint32_t i : front) least = std::min(least, values[i][g]);
    if (!std::isfinite(least)) return -1;  // unknown for all: no answer under this priority
    constexpr double kNear = 1.03;
    std::int64_t best = -1;
    const auto key = [&](std::int64_t i) {
        const auto& v = values[static_cast<std::size_t>(i)];
        return std::array{v[2], v[1], v[0]};
    };
    for (const std::uint32_t i : front)
        if (values[i][g] <= least * kNear && (best < 0 || key(i) < key(best))) best = i;
    return best;
}

}  // namespace

std::string_view goal_name(Goal goal) {
    return kGoalNames[static_cast<std::size_t>(goal)];
}

std::string_view broken_name(Broken one) {
    for (std::size_t i = 0; i < kBrokenKinds; ++i)
        if (one == 1u << i) return kBrokenNames[i];
    return "";
}

double quantile(double low, double central, double high, double level, double p) {
    if (low == high || p == 0.5) return central;
    const double share = normal_quantile(p) / normal_quantile(0.5 + level / 2);
    const double end = share > 0 ? high : low;
    if (central <= 0 || end <= 0) return central + (end - central) * std::abs(share);
    return central * std::pow(end / central, std::abs(share));
}

std::uint16_t broken(const Candidate& c, const Constraints& limits) {
    if (c.verdict == Verdict::unsupported) return kUnsupported;
    unsigned b = 0;
    if (c.verdict == Verdict::does_not_fit) b |= kDoesNotFit;
    if (c.verdict == Verdict::too_close_to_call) b |= kUndecided;
    const double p = limits.confidence;
    if (limits.max_memory.value > 0 && at(c.footprint, p) > limits.max_memory.as_double()) b |= kMemory;
    if (c.context < limits.min_context) b |= kContext;
    // Only what is asked for must be known.
    if (limits.min_decode > 0 && !c.decode_known) b |= kSpeedUnknown;
    if ((limits.max_ttft > 0 || limits.max_job > 0) && !c.timed) b |= kSpeedUnknown;
    if (limits.max_load > 0 && !c.load_known) b |= kSpeedUnknown;
    if (limits.max_energy > 0 && !c.energy_known) b |= kSpeedUnknown;
    if (c.decode_known && limits.min_decode > 0 && at(c.decode, 1 - p) < limits.min_decode) b |= kDecode;
    if (c.timed && exceeds(c.first_token, limits.max_ttft, p)) b |= kFirstToken;
    if (c.timed && exceeds(c.job, limits.max_job, p)) b |= kJob;
    if (c.load_known && exceeds(c.load, limits.max_load, p)) b |= kLoad;
    if (c.energy_known && exceeds(c.energy_per_token, limits.max_energy, p)) b |= kEnergy;
    if (!c.loss.known()) {
        if (!limits.allow_unknown_quality) b |= kQualityUnknown;
    } else if (limits.min_quality > 0) {
        if (1 - lost(c, p) < limits.min_quality) b |= kQuality;
    }
    return static_cast<std::uint16_t>(b);
}

std::string broken_text(Broken one, const Candidate& c, const Constraints& limits) {
    const double p = limits.confidence;
    const std::string sure = p == 0.5 ? "" : fmt::format(" with {:.3g} % confidence", 100 * p);
    switch (one) {
        case kUnsupported:
            return unsupported_text(c.reason);
        case kDoesNotFit:
            return fmt::format("needs {} of {}", bytes_text(c.needed.low), bytes_text(c.budget));
        case kUndecided:
            if (c.reason == Reason::pool_size_unknown)
                return fmt::format("needs {} of memory whose size is unknown", bytes_text(c.needed.high));
            return fmt::format("needs {} to {} of {}: too close to call", bytes_text(c.needed.low),
                               bytes_text(c.needed.high), bytes_text(c.budget));
        case kMemory:
            return fmt::format("needs {}{}, {} allowed", bytes_text(bytes_at(c.footprint, p)), sure,
                               bytes_text(limits.max_memory));
        case kDecode:
            return fmt::format("decodes {} tokens/s{}, {} asked", plain(at(c.decode, 1 - p)), sure,
                               plain(limits.min_decode));
        case kFirstToken:
            return fmt::format("first token after {}{}, {} allowed", time_at(c.first_token, p), sure,
                               seconds_text(Seconds(limits.max_ttft)));
        case kJob:
            return fmt::format("job takes {}{}, {} allowed", time_at(c.job, p), sure,
                               seconds_text(Seconds(limits.max_job)));
        case kContext:
            return fmt::format("holds {} tokens, {} asked", count_text(c.context),
                               count_text(limits.min_context));
        case kQuality:
            return fmt::format("keeps {:.1f} % of tokens{}, {:.1f} % asked", 100 * (1 - lost(c, p)), sure,
                               100 * limits.min_quality);
        case kQualityUnknown:
            return fmt::format("quality unknown: {}", quality::reason_text(c.loss.reason));
        case kSpeedUnknown:
            return fmt::format("{} unknown", limits.min_decode > 0 && !c.decode_known ? "decode speed"
                                             : (limits.max_ttft > 0 || limits.max_job > 0) && !c.timed
                                                 ? "speed of prompt processing"
                                             : limits.max_load > 0 && !c.load_known ? "load time"
                                                                                    : "energy");
        case kLoad:
            return fmt::format("loads in {}{}, {} allowed", time_at(c.load, p), sure,
                               seconds_text(Seconds(limits.max_load)));
        case kEnergy:
            return fmt::format("takes {} J a token{}, {} J allowed", plain(at(c.energy_per_token, p)), sure,
                               plain(limits.max_energy));
    }
    return "";
}

std::vector<Broken> broken_list(std::uint16_t set) {
    std::vector<Broken> list;
    for (std::size_t i = 0; i < kBrokenKinds; ++i)
        if (set & 1u << i) list.push_back(static_cast<Broken>(1u << i));
    return list;
}

std::int64_t closest(std::span<const Candidate> candidates, const Decision& decision, int recipe) {
    std::int64_t best = -1;
    const auto key = [&](std::int64_t i) {
        const auto at = static_cast<std::size_t>(i);
        const auto broken = static_cast<unsigned>(decision.broken[at]);
        // What cannot be had at all is one demand broken, and never close.
        // Among them a KV type of another runtime says least.
        return std::tuple((broken & kUnsupported) != 0, candidates[at].reason == Reason::kv_type,
                          std::popcount(broken), candidates[at].footprint.central.value);
    };
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        if (recipe >= 0 && candidates[i].recipe != recipe) continue;
        const auto index = static_cast<std::int64_t>(i);
        if (best < 0 || key(index) < key(best)) best = index;
    }
    return best;
}

std::array<double, kGoals> goals(const Candidate& c) {
    constexpr double kNoise = 0.0026;  // top-1 disagreement of BF16 against F16 (QUALITY a.5)
    return {c.latency, c.footprint.central.as_double(),
            c.loss.known() ? std::max(c.loss.top1_disagreement.central, kNoise) : 1.0};
}

Decision decide(std::span<const Candidate> candidates, const Constraints& constraints) {
    Decision d;
    d.broken.reserve(candidates.size());
    std::vector<std::array<double, kGoals>> values(candidates.size());
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        d.broken.push_back(broken(candidates[i], constraints));
        if (d.broken[i] != 0) continue;
        d.admitted.push_back(static_cast<std::uint32_t>(i));
        values[i] = goals(candidates[i]);
    }
    std::vector<std::pair<std::array<double, kGoals>, std::uint32_t>> points;
    for (const std::uint32_t i : d.admitted) points.emplace_back(values[i], i);
    d.front = pareto_front(std::move(points));
    for (const Goal goal : {Goal::latency, Goal::memory, Goal::quality})
        d.best[static_cast<std::size_t>(goal)] = best_of(values, d.front, goal);
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

std::vector<Merits> merits(std::span<const Candidate> candidates, std::span<const std::uint32_t> admitted) {
    std::vector<std::array<double, kGoals>> values(candidates.size());
    for (const std::uint32_t i : admitted) values[i] = goals(candidates[i]);
    const MeritScale scale = merit_scale(values, admitted);
    std::vector<Merits> out;
    for (const std::uint32_t i : admitted) out.push_back(merits_on(scale, values[i]));
    return out;
}

std::span<const Preset> presets() {
    // Limits people name for these uses; prompts and answers of the usual length.
    static const Preset table[] = {
        {"chat",
         "interactive chat: first token within 2 s, at least 10 tokens/s, 4,096 tokens",
         {.min_decode = 10, .max_ttft = 2, .min_context = 4096},
         Goal::quality,
         512,
         256},
        {"instant",
         "interactive chat with a warm prompt: first token under 100 ms, over 20 tokens/s",
         {.min_decode = 20, .max_ttft = 0.1, .min_context = 4096},
         Goal::quality,
         32,
         128},
        {"documents",
         "long documents: 32,768 tokens of context, an answer within 10 minutes",
         {.max_job = 600, .min_context = 32768},
         Goal::quality,
         24576,
         512},
        {"code",
         "code completion and edits: 16,384 tokens, at least 15 tokens/s, nine tokens of ten kept",
         {.min_decode = 15, .min_context = 16384, .min_quality = 0.9},
         Goal::latency,
         2048,
         256},
        {"voice",
         "voice assistant on a small box: first token within 1 s, 8 tokens/s, 2,048 tokens",
         {.min_decode = 8, .max_ttft = 1, .min_context = 2048},
         Goal::memory,
         128,
         64},
        {"quality",
         "quality first: whatever fits, 4,096 tokens",
         {.min_context = 4096},
         Goal::quality,
         512,
         256},
    };
    return table;
}

const Preset* find_preset(std::string_view name) {
    const auto all = presets();
    const auto it = std::find_if(all.begin(), all.end(), [&](const Preset& p) { return p.name == name; });
    return it == all.end() ? nullptr : &*it;
}

}  // namespace memwall::plan
