#include "sim/schedule/planned_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/speed/operators.h"
#include "core/speed/speculation.h"

namespace memwall::sim {
namespace {

/// What is left of the memory for the model.
void take_bandwidth(speed::Machine& m, double taken) {
    if (taken <= 0) return;
    if (taken >= m.bandwidth)
        throw Error("shared_bandwidth", fmt::format("{:.1f} of {:.1f} GB/s", taken / 1e9, m.bandwidth / 1e9),
                    "less than the memory has");
    const double left = 1 - taken / m.bandwidth;
    m.rates.central[speed::weight_stream] *= left;
    m.rates.central[speed::kv_stream] *= left;
}

speed::SpeedSettings settings_at(std::int64_t context, std::int64_t sequences = 1) {
    speed::SpeedSettings s;
    s.context = context;
    s.sequences = sequences;
    return s;
}

void refuse_unsimulated(const plan::Prepared& p, const plan::Target& t) {
    if (t.refusal != plan::Reason::fits)
        throw Error("deployment", "the plan's verdict is unsupported", "a pair that `memwall plan` supports");
    if (!t.machine_known || p.model.embedder || t.machine.compute <= 0)
        throw Error("deployment", "no speed is known for this pair",
                    "a device with known bandwidth and compute, and a model that generates");
}

std::vector<std::vector<double>> visits_of(const speed::Workload& work, double skew) {
    std::vector<std::vector<double>> all;
    for (int g = 0; skew > 0 && g < work.expert_groups; ++g) {
        const speed::Workload::Experts& e = work.experts[static_cast<std::size_t>(g)];
        all.push_back(zipf_visits(std::llround(e.count), e.used, skew));
    }
    return all;
}

/// What skewed routing reads of the experts beyond what uniform routing does: less, as a rule.
speed::MatrixSet skewed_excess(const speed::Workload& work, const std::vector<std::vector<double>>& visits,
                               double rows) {
    speed::MatrixSet sum;
    for (std::size_t g = 0; g < visits.size(); ++g) {
        const speed::Workload::Experts& e = work.experts[g];
        const double share =
            (speed::distinct_experts(visits[g], rows) - speed::distinct_experts(e.count, e.used, rows)) /
            e.count;
        sum.bytes += share * e.bytes;
        sum.simple_weights += share * e.simple_weights;
        sum.nested_weights += share * e.nested_weights;
        sum.split_weights += share * e.split_weights;
    }
    return sum;
}

}  // namespace

std::vector<double> zipf_visits(std::int64_t count, double used, double skew) {
    std::vector<double> p(static_cast<std::size_t>(count), 1.0);
    if (used >= static_cast<double>(count)) return p;
    // An expert is among the picks when its exponential clock, of a rate in proportion to its weight, rings
    // before the time at which `used` have rung on average.
    const auto visits = [&](double log_time) {
        double sum = 0;
        for (std::size_t i = 0; i < p.size(); ++i) {
            p[i] = -std::expm1(-std::exp(log_time - skew * std::log(static_cast<double>(i + 1))));
            sum += p[i];
        }
        return sum;
    };
    double low = -60, high = 60 + skew * std::log(static_cast<double>(count));
    for (int i = 0; i < 200; ++i) {
        const double middle = (low + high) / 2;
        (visits(middle) < used ? low : high) = middle;
    }
    return p;
}

PlannedSteps::PlannedSteps(const plan::Prepared& p, const plan::Knobs& k, const plan::Target& t,
                           const StepConditions& c)
    : prepared_(p), knobs_(k), target_(t), placement_(plan::place(p, k, t)), tier_(c.tier) {
    refuse_unsimulated(p, t);
    const auto side = [&](const plan::Prepared& model, const speed::Machine& machine) {
        Side s;
        s.work = &model.workload;
        s.machine = machine;
        s.traffic = plan::kv_traffic(model, k);
        s.visits = visits_of(model.workload, c.expert_skew);
        return s;
    };
    main_ = side(p, t.machine);
    take_bandwidth(main_.machine, c.taken_bandwidth);
    split_ = plan::host_part(p, k, placement_, 1).moved > 0;
    if (split_ && t.host_machine_known) {
        host_ = side(p, t.host_machine);
    }
    if (t.discrete && k.kv_on_host && t.device.link) kv_link_ = t.device.link->bandwidth.value;
    if (main_.machine.joules_per_byte > 0)
        joules_per_byte_ = main_.machine.joules_per_byte, watts_ = main_.machine.static_watts;
    else
        watts_ = t.device.sustained_power.value;
    if (p.draft && t.draft && t.draft->machine_known) {
        drafts_ = k.draft_tokens;
        acceptance_ = k.acceptance > 0 ? k.acceptance : speed::acceptance_prior().central;
        draft_ = side(*p.draft, t.draft->machine);
        take_bandwidth(draft_.machine, c.taken_bandwidth);
        main_.tokens = drafts_ + 1;
    }
}

const PlannedSteps::Rows& PlannedSteps::rows(Side& side, std::int64_t n) {
    const auto i = static_cast<std::size_t>(n);
    if (i >= side.rows.size()) side.rows.resize(i + 1);
    Rows& r = side.rows[i];
    if (!r.known) {
        speed::StepLoad load = speed::step_load(*side.work, side.machine, side.traffic, settings_at(0, n));
        load.kv_bytes = load.attention_ops = 0;  // by sequence, see attend()
        const speed::MatrixSet excess = skewed_excess(*side.work, side.visits, static_cast<double>(n));
        load.weight_bytes += excess.bytes;
        load.packed_weights += excess.nested_weights +
                               excess.simple_weights * side.machine.simple_block_cost +
                               excess.split_weights * side.machine.split_field_cost;
        const speed::StepTime t = speed::step_time(load, side.machine.rates.central);
        r = {load.weight_bytes, std::max({t.weights, t.unpacking, t.matrix}), t.matrix, t.overhead(), true};
    }
    return r;
}

void PlannedSteps::attend(Side& side, std::int64_t context, Attended& sum) {
    const auto i = static_cast<std::size_t>(context);
    if (i >= side.cached.size()) side.cached.resize(std::max(i + 1, side.cached.size() * 2));
    Cached& c = side.cached[i];
    if (c.kv_bytes < 0) {
        const speed::StepLoad load =
            speed::step_load(*side.work, side.machine, side.traffic, settings_at(context), side.tokens);
        c.kv_bytes = load.kv_bytes;
        c.attention_ops = load.attention_ops;
    }
    sum.kv_bytes += c.kv_bytes;
    sum.attention_ops += c.attention_ops;
}

double PlannedSteps::cache_seconds(const Side& side, const Attended& a) {
    const auto& rates = side.machine.rates.central;
    return std::max(a.kv_bytes / rates[speed::kv_stream], a.attention_ops / rates[speed::attention_rate]);
}

/// One round of n sequences, each with side.tokens tokens.
double PlannedSteps::round_seconds(Side& side, std::int64_t n, const Attended& a) {
    const Rows& r = rows(side, n * side.tokens);
    return r.first + cache_seconds(side, a) + r.fixed;
}

double PlannedSteps::prompt_seconds(const Side& side, std::int64_t tokens, std::int64_t cached,
                                    std::int64_t micro_batch) {
    if (tokens <= cached) return 0;
    speed::SpeedSettings s;
    s.prompt = tokens;
    s.cached_prompt = cached;
    s.micro_batch = micro_batch;
    speed::PrefillLoad load = speed::prefill_load(*side.work, side.machine, side.traffic, s);
    if (!side.visits.empty()) {
        const double rows = static_cast<double>(tokens - cached);
        const double steps = std::ceil(rows / static_cast<double>(micro_batch));
        const speed::MatrixSet excess = skewed_excess(*side.work, side.visits, rows / steps);
        load.weight_bytes += steps * excess.bytes;
        if (side.machine.expands_weights)
            load.expanded_bytes +=
                steps * 2 * (excess.simple_weights + excess.nested_weights + excess.split_weights);
    }
    return speed::prefill_time(load, side.machine.rates.central).seconds;
}

double PlannedSteps::prompt_total(std::int64_t tokens, std::int64_t cached) const {
    if (tokens <= cached) return 0;
    double seconds = prompt_seconds(main_, tokens, cached, knobs_.ubatch) +
                     plan::prompt_transfers(knobs_, target_, placement_, tokens - cached).central.value;
    if (drafts_ > 0) seconds += prompt_seconds(draft_, tokens, cached, knobs_.ubatch);
    return seconds;
}

double PlannedSteps::one_pass(std::int64_t n) const {
    const auto rows = static_cast<double>(n);
    const double bytes =
        main_.work->step(rows, 0).bytes + skewed_excess(*main_.work, main_.visits, rows).bytes;
    const auto& r = main_.machine.rates.central;
    return bytes / r[speed::weight_stream] + main_.work->layers * r[speed::layer_overhead] +
           main_.work->expert_layers * r[speed::expert_overhead];
}

/// A decode step of n sequences that would take `seconds` on the processor alone: its share of the weights is
/// read, and computed with, by the host.
double PlannedSteps::with_host(double seconds, std::int64_t n, const Attended& on_host) {
    const plan::HostPart part = host_part(n);
    const double host = target_.host_machine_known ? part.share * round_seconds(host_, n, on_host)
                                                   : part.moved / plan::kAssumedHostRead;
    return seconds * (1 - part.share) + host;
}

const plan::HostPart& PlannedSteps::host_part(std::int64_t n) {
    const auto i = static_cast<std::size_t>(n);
    if (i >= host_parts_.size()) host_parts_.resize(i + 1);
    Host& h = host_parts_[i];
    if (!h.known) h = {plan::host_part(prepared_, knobs_, placement_, static_cast<double>(n)), true};
    return h.part;
}

/// Micro-batches of a prompt of so many tokens.
std::int64_t PlannedSteps::batches(std::int64_t tokens) const {
    return (tokens + knobs_.ubatch - 1) / knobs_.ubatch;
}

StepCost PlannedSteps::run(StepWork& work) {
    StepCost cost;
    Attended attended, drafted, on_host;
    double link_bytes = 0;
    for (StepWork::Decode& d : work.decodes) {
        attend(main_, d.context, attended);
        if (split_ && host_.work) attend(host_, d.context, on_host);
        if (kv_link_ > 0) link_bytes += speed::kv_bytes_read(main_.traffic, static_cast<double>(d.context));
        if (drafts_ > 0) {
            attend(draft_, d.context, drafted);
            d.produced = 1;
            while (d.produced <= drafts_ && d.acceptance->uniform() < acceptance_) ++d.produced;
        }
    }
    const auto n = static_cast<std::int64_t>(work.decodes.size());
    double decode_only = 0, riding = 0;
    if (n > 0) {
        const Rows& r = rows(main_, n * main_.tokens);
        decode_only = round_seconds(main_, n, attended);
        riding = r.matrix + cache_seconds(main_, attended);
        cost.weight_bytes = r.weight_bytes;
        if (split_) {
            decode_only = with_host(decode_only, n, on_host);
            cost.host_bytes = host_part(n).moved;
        }
        double beside = 0;
        if (kv_link_ > 0) beside += link_bytes / kv_link_ * plan::kLinkSlowdown;
        if (drafts_ > 0) beside += static_cast<double>(drafts_) * round_seconds(draft_, n, drafted);
        decode_only += beside;
        riding += beside;
    }
    double kv_bytes = attended.kv_bytes;
    if (work.prompts.empty()) {
        cost.seconds = decode_only;
    } else {
        double computing = 0;
        std::int64_t fresh = 0;
        double prompt_kv = 0, pulled = 0;
        for (const StepWork::Prompt& p : work.prompts) {
            computing += std::max(0.0, prompt_total(p.to, p.cached) - prompt_total(p.from, p.cached));
            fresh += p.to - p.from;
            pulled += static_cast<double>(batches(p.to - p.cached) - batches(p.from - p.cached)) *
                      placement_.host_layer_weights.as_double();
            prompt_kv += speed::kv_bytes_read(main_.traffic, static_cast<double>(p.to + p.from) / 2);
        }
        cost.seconds = computing + riding;
        if (n > 0) cost.seconds = std::max(cost.seconds, one_pass(fresh + n) + riding);
        const double passes =
            std::max(1.0, std::ceil(static_cast<double>(fresh) / static_cast<double>(knobs_.ubatch)));
        const double rows_a_pass = static_cast<double>(fresh + n) / passes;
        cost.weight_bytes = passes * (main_.work->step(rows_a_pass, 0).bytes +
                                      skewed_excess(*main_.work, main_.visits, rows_a_pass).bytes);
        kv_bytes += prompt_kv;
        cost.host_bytes = std::max(cost.host_bytes, pulled);  // rows that ride along share the pass
    }
    if (!target_.discrete) cost.host_bytes = cost.weight_bytes;
    if (tier_.bandwidth > 0) {
        const double fetch = kv_bytes / tier_.bandwidth + tier_.latency;
        cost.seconds = tier_.overlaps ? std::max(cost.seconds, fetch) : cost.seconds + fetch;
    }
    cost.joules = joules_per_byte_ * (cost.weight_bytes + kv_bytes) + watts_ * cost.seconds;
    return cost;
}

double PlannedSteps::decode_seconds(std::int64_t context) {
    return speed::step_time(speed::step_load(*main_.work, main_.machine, main_.traffic, settings_at(context)),
                            main_.machine.rates.central)
        .seconds;
}

double PlannedSteps::prefill_seconds(std::int64_t tokens, std::int64_t cached) {
    return prompt_total(tokens + cached, cached);
}

}  // namespace memwall::sim
