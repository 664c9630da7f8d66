#include "sim/schedule/planned_steps.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/plan/placement.h"
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

void refuse_unsimulated(const plan::Prepared& p, const plan::Knobs& k, const plan::Target& t) {
    if (t.refusal != plan::Reason::fits)
        throw Error("deployment", "the plan's verdict is unsupported", "a pair that `memwall plan` supports");
    if (!t.machine_known || p.model.embedder || t.machine.compute <= 0)
        throw Error("deployment", "no speed is known for this pair",
                    "a device with known bandwidth and compute, and a model that generates");
    const auto layers = static_cast<std::int64_t>(p.weights.layer.size());
    if (t.discrete && ((k.gpu_layers >= 0 && k.gpu_layers <= layers) || k.kv_on_host || k.experts_on_host))
        throw Error("deployment", "layers, experts or cache in host memory",
                    "everything on the card: splits are not simulated");
}

}  // namespace

PlannedSteps::PlannedSteps(const plan::Prepared& p, const plan::Knobs& k, const plan::Target& t, double taken,
                           KvTier tier)
    : prepared_(p), micro_batch_(k.ubatch), tier_(tier) {
    refuse_unsimulated(p, k, t);
    machine_ = t.machine;
    take_bandwidth(machine_, taken);
    traffic_ = plan::kv_traffic(p, k);
    if (machine_.joules_per_byte > 0)
        joules_per_byte_ = machine_.joules_per_byte, watts_ = machine_.static_watts;
    else
        watts_ = t.device.sustained_power.value;
    if (p.draft && t.draft && t.draft->machine_known) {
        drafts_ = k.draft_tokens;
        acceptance_ = k.acceptance > 0 ? k.acceptance : speed::acceptance_prior().central;
        draft_machine_ = t.draft->machine;
        take_bandwidth(draft_machine_, taken);
        draft_traffic_ = plan::kv_traffic(*p.draft, k);
    }
}

const PlannedSteps::Rows& PlannedSteps::rows(std::vector<Rows>& memo, std::int64_t n,
                                             const speed::Workload& work, const speed::Machine& machine) {
    const auto i = static_cast<std::size_t>(n);
    if (i >= memo.size()) memo.resize(i + 1);
    Rows& r = memo[i];
    if (!r.known) {
        speed::StepLoad load = speed::step_load(work, machine, traffic_, settings_at(0, n));
        load.kv_bytes = load.attention_ops = 0;  // by sequence, see cached()
        const speed::StepTime t = speed::step_time(load, machine.rates.central);
        r = {load.weight_bytes, std::max({t.weights, t.unpacking, t.matrix}), t.matrix, t.overhead(), true};
    }
    return r;
}

const PlannedSteps::Cached& PlannedSteps::cached(std::int64_t context) {
    const auto i = static_cast<std::size_t>(context);
    if (i >= cached_.size()) cached_.resize(std::max(i + 1, cached_.size() * 2));
    Cached& c = cached_[i];
    if (c.kv_bytes < 0) {
        const speed::StepLoad load =
            speed::step_load(prepared_.workload, machine_, traffic_, settings_at(context), drafts_ + 1);
        c.kv_bytes = load.kv_bytes;
        c.attention_ops = load.attention_ops;
        if (drafts_ > 0) {
            const speed::StepLoad draft = speed::step_load(prepared_.draft->workload, draft_machine_,
                                                           draft_traffic_, settings_at(context));
            c.draft_kv_bytes = draft.kv_bytes;
            c.draft_attention_ops = draft.attention_ops;
        }
    }
    return c;
}

double PlannedSteps::prompt_total(std::int64_t tokens, std::int64_t cached) {
    if (tokens <= cached) return 0;
    speed::SpeedSettings s;
    s.prompt = tokens;
    s.cached_prompt = cached;
    s.micro_batch = micro_batch_;
    return speed::prefill_time(speed::prefill_load(prepared_.workload, machine_, traffic_, s),
                               machine_.rates.central)
        .seconds;
}

double PlannedSteps::one_pass(std::int64_t n) const {
    const double bytes = prepared_.workload.step(static_cast<double>(n), 0).bytes;
    const auto& r = machine_.rates.central;
    return bytes / r[speed::weight_stream] + prepared_.workload.layers * r[speed::layer_overhead] +
           prepared_.workload.expert_layers * r[speed::expert_overhead];
}

double PlannedSteps::draft_seconds(double sequences, double kv_bytes, double attention_ops) {
    const Rows& r =
        rows(draft_rows_, static_cast<std::int64_t>(sequences), prepared_.draft->workload, draft_machine_);
    const auto& rates = draft_machine_.rates.central;
    return r.first +
           std::max(kv_bytes / rates[speed::kv_stream], attention_ops / rates[speed::attention_rate]) +
           r.fixed;
}

StepCost PlannedSteps::run(StepWork& work) {
    StepCost cost;
    const auto& rates = machine_.rates.central;
    double kv_bytes = 0, attention = 0, draft_kv = 0, draft_attention = 0;
    for (StepWork::Decode& d : work.decodes) {
        const Cached& c = cached(d.context);
        kv_bytes += c.kv_bytes;
        attention += c.attention_ops;
        if (drafts_ > 0) {
            draft_kv += c.draft_kv_bytes;
            draft_attention += c.draft_attention_ops;
            d.produced = 1;
            while (d.produced <= drafts_ && d.acceptance->uniform() < acceptance_) ++d.produced;
        }
    }
    const auto n = static_cast<std::int64_t>(work.decodes.size());
    double decode_only = 0, riding = 0;
    if (n > 0) {
        const Rows& r = rows(rows_, n * (drafts_ + 1), prepared_.workload, machine_);
        const double cache =
            std::max(kv_bytes / rates[speed::kv_stream], attention / rates[speed::attention_rate]);
        decode_only = r.first + cache + r.fixed;
        riding = r.matrix + cache;
        cost.weight_bytes = r.weight_bytes;
        if (drafts_ > 0) {
            const double drafting = static_cast<double>(drafts_) *
                                    draft_seconds(static_cast<double>(n), draft_kv, draft_attention);
            decode_only += drafting;
            riding += drafting;
        }
    }
    if (work.prompts.empty()) {
        cost.seconds = decode_only;
    } else {
        double computing = 0;
        std::int64_t fresh = 0;
        double prompt_kv = 0;
        for (const StepWork::Prompt& p : work.prompts) {
            computing += std::max(0.0, prompt_total(p.to, p.cached) - prompt_total(p.from, p.cached));
            fresh += p.to - p.from;
            prompt_kv += speed::kv_bytes_read(traffic_, static_cast<double>(p.to + p.from) / 2);
        }
        cost.seconds = computing + riding;
        if (n > 0) cost.seconds = std::max(cost.seconds, one_pass(fresh + n) + riding);
        const double passes =
            std::max(1.0, std::ceil(static_cast<double>(fresh) / static_cast<double>(micro_batch_)));
        const double rows_a_pass = static_cast<double>(fresh + n) / passes;
        cost.weight_bytes = passes * prepared_.workload.step(rows_a_pass, 0).bytes;
        kv_bytes += prompt_kv;
    }
    if (tier_.bandwidth > 0) {
        const double fetch = kv_bytes / tier_.bandwidth + tier_.latency;
        cost.seconds = tier_.overlaps ? std::max(cost.seconds, fetch) : cost.seconds + fetch;
    }
    cost.joules = joules_per_byte_ * (cost.weight_bytes + kv_bytes) + watts_ * cost.seconds;
    return cost;
}

double PlannedSteps::decode_seconds(std::int64_t context) {
    return speed::step_time(speed::step_load(prepared_.workload, machine_, traffic_, settings_at(context)),
                            machine_.rates.central)
        .seconds;
}

double PlannedSteps::prefill_seconds(std::int64_t tokens, std::int64_t cached) {
    return prompt_total(tokens + cached, cached);
}

}  // namespace memwall::sim
