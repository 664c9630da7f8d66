// The time terms of a plan: steps from core/speed, put together for placement, paging and drafts.
#include <algorithm>
#include <cmath>

#include "core/plan/placement.h"
#include "core/speed/page_cache.h"
#include "core/speed/speculation.h"

namespace memwall::plan {
namespace {

using Time = Interval<Seconds>;

Time times(const Time& t, double n) {
    return {t.low * n, t.central * n, t.high * n, t.level, t.basis};
}

Interval<PerSecond> rate(const Time& step, double tokens = 1) {
    return {PerSecond(tokens / step.high.value), PerSecond(tokens / step.central.value),
            PerSecond(tokens / step.low.value), step.level, step.basis};
}

/// Reads `bytes` a step where the catalogue knows no CPU beside a card: desktop hosts of the speed facts,
/// dual-channel DDR4-2666 to DDR5-6400 at 0.6 of their peak.
Time assumed_host_read(double bytes) {
    return {Seconds(bytes / 61e9), Seconds(bytes / kAssumedHostRead), Seconds(bytes / 25e9), 0.9,
            "host memory assumed 25 to 61 GB/s: its CPU is not in the catalogue"};
}

/// Adds what layers, experts or a cache in host memory cost a step that would run on the card alone.
void add_host_parts(Time& step, std::string_view& bound, const Prepared& p, const Knobs& k, const Target& t,
                    const Placement& placement, const speed::KvTraffic& traffic) {
    if (!placement.two_pools) return;
    const auto [moved, share] = host_part(p, k, placement, static_cast<double>(k.sequences));
    if (moved > 0) {
        const Time host =
            t.host_machine_known
                ? times(speed::decode_step(p.workload, t.host_machine, traffic, speed_settings(p, k)).total,
                        share)
                : assumed_host_read(moved);
        step = times(step, 1 - share) + host;
        if (host.central > step.central * 0.5) bound = "host";
    }
    if (k.kv_on_host && t.device.link && t.device.link->bandwidth.value > 0) {
        const double kv =
            speed::kv_bytes_read(traffic, static_cast<double>(k.context)) * static_cast<double>(k.sequences);
        const double seconds = kv / t.device.link->bandwidth.value;
        step += Time{Seconds(seconds), Seconds(seconds * kLinkSlowdown), Seconds(seconds * 1.6), 0.9,
                     "link bandwidth, 0.6 to 1 of it"};
    }
}

/// RAM that file pages may fill beside the system: assumed; 13.6 of 16 GB holds the 13.5 GB that an M3 ran.
constexpr double kPageCacheShare = 0.85;

/// Weights that do not fit beside the rest are read from storage while decoding, where the runtime maps its
/// file.
bool add_paging(Time& step, const Prepared& p, const Knobs& k, const Target& t, const Memory& memory) {
    const PoolUse& pool = memory.pools[0];
    if (t.discrete || !pool.limited || !k.mmap || !p.runtime.profile->weights_mapped) return false;
    const Bytes weights = p.weights.total.central;
    const Bytes left = pool.budget - (pool.needed.central - weights);
    if (left >= weights || t.device.storage.read.value <= 0) return false;
    const auto touched =
        static_cast<std::int64_t>(p.workload.touched_bytes(static_cast<double>(k.sequences)));
    const double share = std::min(1.0, static_cast<double>(touched) / weights.as_double());
    Interval<Seconds> paging = speed::paging_time(weights, std::max(left, Bytes(0)), t.device.storage.read);
    if (t.processor != device::ProcessorKind::cpu && t.budget_override.value == 0) {
        // What one process may wire for a GPU is less than what the page cache keeps: a 16 GB M3 decoded 13.5
        // GB of weights at 3.6 tokens/s, six times what its working-set limit of 10.7 GiB allows
        // (tests/data/speed).
        const Bytes cached = left +
                             Bytes(static_cast<std::int64_t>(kPageCacheShare * pool.capacity.as_double())) -
                             pool.budget;
        paging.low = weights / t.device.storage.read * speed::pinned_miss(weights, std::max(cached, left));
    }
    step += times(paging, share);
    return true;
}

void add_request(Speed& s, const Prepared& p, const Knobs& k, const Target& t, const Placement& placement,
                 const speed::KvTraffic& traffic, const Time& step) {
    const speed::SpeedSettings settings = speed_settings(p, k);
    // Byte-pair encoders of this kind of engine take about a microsecond a token; a slow core ten times that.
    const double tokens = static_cast<double>(settings.prompt);
    s.tokenization = {Seconds(tokens * 0.2e-6), Seconds(tokens * 1e-6), Seconds(tokens * 10e-6), 0.9,
                      "allowance: 0.2 to 10 us a token"};
    if (t.machine.compute <= 0) return;
    const speed::TimeTerms prompt = speed::prefill(p.workload, t.machine, traffic, settings);
    s.prefill_known = true;
    const std::int64_t fresh = settings.prompt - settings.cached_prompt;
    s.prefill_time = prompt.total + prompt_transfers(k, t, placement, fresh);
    s.prefill = rate(s.prefill_time, static_cast<double>(fresh * k.sequences));
    s.first_decode = step;
    s.first_token = s.prefill_time + s.first_decode + s.tokenization;
    s.job = s.first_token + times(step, static_cast<double>(k.generate - 1));
}

void add_energy(Speed& s, const Prepared& p, const Knobs& k, const Target& t, const speed::KvTraffic& traffic,
                const Time& step) {
    const double n = static_cast<double>(k.sequences);
    const double bytes =
        p.workload.touched_bytes(n) + n * speed::kv_bytes_read(traffic, static_cast<double>(k.context));
    double joules = 0, spread = 0;
    std::string_view basis;
    if (t.machine.joules_per_byte > 0) {
        joules = t.machine.joules_per_byte * bytes + t.machine.static_watts * step.central.value;
        spread = 0.2;
        basis = "joules per GB read of this device";
    } else if (t.device.sustained_power.value > 0) {
        joules = t.device.sustained_power.value * step.central.value;
        spread = 0.5;
        basis = "sustained power x time";
    } else {
        return;
    }
    joules /= n;
    s.energy_known = true;
    s.energy_per_token = {Joules(joules * (1 - spread)), Joules(joules), Joules(joules * (1 + spread)), 0.9,
                          basis};
    if (t.machine.battery_joules > 0)
        s.battery_percent_per_1000_tokens = 100 * 1000 * joules / t.machine.battery_joules;
}

void add_load(Speed& s, const Prepared& p, const Target& t) {
    const double read = t.device.storage.read.value;
    if (read <= 0) return;
    const double seconds = p.weights.total.central.as_double() / read;
    s.load_known = true;
    s.load = {Seconds(seconds * 0.75), Seconds(seconds), Seconds(seconds * 1.8), 0.9,
              "sequential read of the storage class"};
}

std::string_view remedy(std::string_view bound, bool paging) {
    if (paging) return "a recipe that fits memory";
    if (bound == "bandwidth") return "more bandwidth or fewer bits a weight";
    if (bound == "dequantization") return "a format that is cheaper to unpack";
    if (bound == "compute") return "more compute";
    if (bound == "host") return "more layers on the card";
    return "fewer layers or a faster engine";
}

}  // namespace

HostPart host_part(const Prepared& p, const Knobs& k, const Placement& placement, double rows) {
    if (!placement.two_pools) return {};
    const double layer_bytes = [&] {
        double sum = 0;
        for (const Bytes b : p.weights.layer) sum += b.as_double();
        return std::max(sum, 1.0);
    }();
    // Touched bytes are spread over layers as stored ones are.
    const double touched = p.workload.touched_bytes(rows);
    const auto layers = static_cast<std::int64_t>(p.weights.layer.size());
    const std::int64_t on_host =
        std::max<std::int64_t>(0, layers - std::max<std::int64_t>(placement.device_layers - 1, 0));
    double host_layer_bytes = 0, host_expert_bytes = 0, expert_bytes = 0;
    for (std::int64_t i = 0; i < layers; ++i) {
        const auto n = static_cast<std::size_t>(i);
        expert_bytes += p.weights.layer_experts[n].as_double();
        if (i < on_host)
            host_layer_bytes += p.weights.layer[n].as_double();
        else if (k.experts_on_host)
            host_expert_bytes += p.weights.layer_experts[n].as_double();
    }
    const double layer_share = host_layer_bytes / layer_bytes;
    // Experts weigh far less per token than they are stored: only the visited ones are read.
    const double dense_bytes = p.workload.body.bytes + p.workload.head.bytes;
    const double touched_experts = std::max(0.0, touched - dense_bytes);
    const double expert_share = expert_bytes > 0 ? host_expert_bytes / expert_bytes : 0;
    const double moved = touched * layer_share + touched_experts * expert_share;
    return {moved, moved / std::max(touched, 1.0)};
}

/// Source: llama.cpp 0.5.0 copies host weights to the card for 32 rows and more (ENGINE_GPU section 1, rule
/// 3).
Interval<Seconds> prompt_transfers(const Knobs& k, const Target& t, const Placement& placement,
                                   std::int64_t tokens) {
    const bool linked = placement.two_pools && t.device.link && t.device.link->bandwidth.value > 0;
    if (!linked || placement.host_layer_weights.value == 0) return Time::exact(Seconds(0));
    const double batches = std::ceil(static_cast<double>(tokens) / static_cast<double>(k.ubatch));
    const double seconds =
        batches * placement.host_layer_weights.as_double() / t.device.link->bandwidth.value;
    return {Seconds(seconds), Seconds(seconds * kLinkSlowdown), Seconds(seconds * 1.6), 0.9,
            "link bandwidth, 0.6 to 1 of it"};
}

speed::SpeedSettings speed_settings(const Prepared& p, const Knobs& k) {
    speed::SpeedSettings s;
    s.context = k.context;
    s.sequences = k.sequences;
    s.prompt = k.prompt + k.images * p.tokens_per_image;
    s.cached_prompt = std::min(k.cached_prompt, s.prompt - 1);
    s.generate = k.generate;
    s.micro_batch = k.ubatch;
    return s;
}

Speed time(const Prepared& p, const Knobs& k, const Target& t, const Placement& placement,
           const Memory& memory) {
    Speed s;
    add_load(s, p, t);
    if (t.refusal != Reason::fits || !t.machine_known || p.model.embedder) return s;
    const speed::KvTraffic traffic = kv_traffic(p, k);
    const speed::SpeedSettings settings = speed_settings(p, k);
    const speed::TimeTerms terms = speed::decode_step(p.workload, t.machine, traffic, settings);
    Time step = terms.total;
    s.bound = speed::bound_name(terms.bound);
    add_host_parts(step, s.bound, p, k, t, placement, traffic);
    const bool paging = add_paging(step, p, k, t, memory);
    if (paging) s.bound = "storage";
    s.helps = remedy(s.bound, paging);
    s.decode_known = true;
    s.sustained_fraction = t.machine.sustained_fraction;

    if (p.draft && t.draft && t.draft->machine_known && !paging) {
        const speed::TimeTerms draft =
            speed::decode_step(p.draft->workload, t.draft->machine, kv_traffic(*p.draft, k), settings);
        Time verify =
            speed::verification_step(p.workload, t.machine, traffic, settings, k.draft_tokens + 1).total;
        std::string_view same_bound = s.bound;
        add_host_parts(verify, same_bound, p, k, t, placement, traffic);
        const speed::AcceptancePrior& prior = speed::acceptance_prior();
        const auto acceptance =
            k.acceptance > 0 ? Interval<double>::exact(k.acceptance)
                             : Interval<double>{prior.low, prior.central, prior.high, 0.9, prior.source};
        const auto round =
            speed::speculate(step, draft.total.central, verify.central, k.draft_tokens, acceptance);
        s.speculative = true;
        s.plain_decode = rate(step);
        s.tokens_per_round = round.tokens_per_round;
        s.break_even_acceptance = round.break_even_acceptance;
        step = round.per_token;
    }
    s.decode = rate(step);
    s.decode_all = rate(step, static_cast<double>(k.sequences));
    add_request(s, p, k, t, placement, traffic, step);
    add_energy(s, p, k, t, traffic, step);
    return s;
}

}  // namespace memwall::plan
