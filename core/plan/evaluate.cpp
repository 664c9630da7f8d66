#include <algorithm>
#include <cmath>

#include "core/device/budget.h"
#include "core/plan/placement.h"
#include "core/plan/prepare.h"
#include "core/runtime/family_buffer.h"

namespace memwall::plan {
namespace {

Interval<Bytes> exact(Bytes b) {
    return Interval<Bytes>::exact(b);
}
const Interval<Bytes> kNone = exact(Bytes(0));

Interval<Bytes> scaled(Interval<Bytes> x, double low, double central, double high, std::string_view basis) {
    const auto times = [](Bytes b, double f) { return Bytes(std::llround(b.as_double() * f)); };
    return {times(x.low, low), times(x.central, central), times(x.high, high), 0.9, basis};
}

/// `part` is contained in `whole`, range and all, so ends are subtracted from like ends.
Interval<Bytes> without(const Interval<Bytes>& whole, const Interval<Bytes>& part) {
    return {whole.low - part.low, whole.central - part.central, whole.high - part.high, whole.level,
            whole.basis};
}

Interval<Bytes> sum(const Items& items) {
    Interval<Bytes> total = kNone;
    for (const Interval<Bytes>& i : items) total += i;
    return total;
}

Interval<Bytes>& at(Items& items, Item item) {
    return items[static_cast<std::size_t>(item)];
}

struct ComputeBuffers {
    Interval<Bytes> device = kNone, host = kNone;
    Bytes untouched;  ///< of the device's, when that is a CPU
};

ComputeBuffers compute_buffers(const Prepared& p, const Knobs& k, const Target& t) {
    const runtime::EngineSettings settings = engine_settings(k);
    ComputeBuffers b;
    if (!p.replay) {
        b.device = runtime::family_buffer(p.engine_model, settings);
        return b;
    }
    const auto replay = p.replay->at(settings);
    if (t.processor == device::ProcessorKind::cpu) {
        b.untouched = replay->bytes.central - replay->touched;
        b.device =
            t.measured_buffers || !replay->bytes.is_exact()
                ? replay->bytes
                : scaled(replay->bytes, 0.98, 1.0, 1.05, "replayed; the engine was measured on x86 only");
        return b;
    }
    // Other backends run the same operators with their own alignment, order and copies: logs of 33 GPU runs
    // lay within [-8 %, +2.3 %] of a replay with placement; without placement the range is wider.
    b.device = scaled(replay->bytes, 0.85, 1.0, 1.25, "replayed for a CPU; GPU placement not replayed");
    b.host = exact(runtime::host_input_bytes(p.engine_model, p.replay->model().cells(settings)));
    return b;
}

Interval<Bytes> process_overhead(const Prepared& p) {
    const runtime::Profile& profile = *p.runtime.profile;
    const auto& per = profile.process.per_vocabulary_entry;
    const std::int64_t v = p.model.vocabulary;
    return profile.process.fixed + profile.context_overhead +
           Interval<Bytes>{per.low * v, per.central * v, per.high * v, per.level, per.basis};
}

/// The processor's pool first, host memory second where the processor has a pool of its own.
void open_pools(Memory& m, const Target& t, bool two_pools) {
    m.pool_count = two_pools ? 2 : 1;
    m.items.fill(kNone);
    for (std::size_t i = 0; i < m.pool_count; ++i) {
        PoolUse& pool = m.pools[i];
        pool.items.fill(kNone);
        pool.droppable = kNone;
        pool.name = "ram";
        const int index = i == 0 ? static_cast<int>(t.pool) : t.host_pool;
        if (index >= 0) {
            const device::Pool& from = t.device.pools[static_cast<std::size_t>(index)];
            pool.name = from.name;
            pool.capacity = from.capacity;
            pool.budget =
                device::usable_bytes(from, i == 0 ? t.processor : device::ProcessorKind::cpu) - t.reserve;
            pool.limited = from.capacity.value > 0;
        }
        if (i == 0 && t.budget_override.value > 0) {
            pool.budget = t.budget_override - t.reserve;
            pool.limited = true;
        }
    }
}

/// Weights mapped from the file, and those of its pages that the engine gives back after copying.
struct Mapping {
    Bytes mapped, given_back;
};

Mapping fill(Memory& m, const Prepared& p, const Knobs& k, const Target& t, const Placement& placement,
             const ComputeBuffers& buffers) {
    PoolUse& here = m.pools[0];
    PoolUse& host = m.pools[m.pool_count - 1];  // the same pool when there is one
    at(here.items, Item::weights) = placement.device_weights;
    at(here.items, Item::kv_cache) = exact(placement.device_kv);
    at(here.items, Item::recurrent_state) = exact(placement.device_state);
    if (placement.two_pools) {
        at(host.items, Item::weights) = exact(placement.host_weights);
        at(host.items, Item::kv_cache) = exact(placement.host_kv);
        at(host.items, Item::recurrent_state) = exact(placement.host_state);
    }
    at(here.items, Item::compute_buffer) = buffers.device;
    at(host.items, Item::compute_buffer) += buffers.host;
    if (p.runtime.profile->output_buffer && !p.model.embedder)
        at(host.items, Item::output_buffer) = exact(Bytes(4 * p.model.vocabulary * k.sequences));
    at(here.items, Item::projector) = exact(p.projector);
    at(here.items, Item::adapter) = exact(p.adapter);
    at(host.items, Item::overhead) += process_overhead(p);
    if (t.discrete) at(here.items, Item::overhead) += p.runtime.profile->gpu_context;

    const bool copies = t.processor == device::ProcessorKind::cpu && k.repack && k.mmap;
    if (copies) {
        here.droppable = {t.repacked_uncertain ? Bytes(0) : t.repacked, t.repacked, t.repacked,
                          t.repacked_uncertain ? 0.9 : 1.0, t.repack_basis};
        at(here.items, Item::repacked) = here.droppable;
    }
    if (!k.mmap || !p.runtime.profile->weights_mapped) return {};
    if (placement.two_pools) return {placement.host_weights, Bytes(0)};
    const Bytes mapped = copies ? t.mapped : p.weights.total.central;
    return {mapped, p.weights.total.central - mapped};
}

/// The process is there once, so the draft adds everything but that.
void add_draft(Memory& m, const Plan& draft) {
    for (std::size_t i = 0; i < m.pool_count && i < draft.memory.pool_count; ++i) {
        Items own = draft.memory.pools[i].items;
        at(own, Item::overhead) = kNone;
        at(m.pools[i].items, Item::draft) += sum(own);
        m.pools[i].droppable += draft.memory.pools[i].droppable;
    }
}

Verdict verdict_of(const PoolUse& pool) {
    if (!pool.limited || pool.needed.high <= pool.budget) return Verdict::fits;
    return pool.needed.low > pool.budget ? Verdict::does_not_fit : Verdict::too_close_to_call;
}

int severity(Verdict v) {
    return v == Verdict::fits ? 0 : v == Verdict::too_close_to_call ? 1 : 2;
}

void decide_by(Memory& m, std::size_t pool) {
    m.deciding_pool = pool;
    m.budget = m.pools[pool].budget;
    m.headroom = exact(m.budget) - m.pools[pool].needed;
}

void settle(Memory& m, const Prepared& p, const Knobs& k, const Target& t, const Mapping& mapping,
            Bytes untouched) {
    for (std::size_t i = 0; i < m.pool_count; ++i) {
        PoolUse& pool = m.pools[i];
        pool.used = sum(pool.items);
        pool.needed = without(pool.used, pool.droppable);
        // A page never touched is not needed on a host; a card's memory is taken when it is allocated.
        if (!t.discrete || i > 0) pool.needed = pool.needed - exact(untouched);
        pool.verdict = verdict_of(pool);
        for (std::size_t j = 0; j < kItems; ++j) m.items[j] += pool.items[j];
        if (severity(pool.verdict) > severity(m.pools[m.deciding_pool].verdict)) m.deciding_pool = i;
    }
    m.total = sum(m.items);
    m.file_backed = exact(mapping.mapped);
    m.anonymous = m.total - exact(mapping.mapped + mapping.given_back);
    m.resident = m.total - exact(untouched + mapping.given_back);
    m.load_peak = m.total;
    if (!k.mmap || !p.runtime.profile->weights_mapped)
        m.load_peak += exact(p.weights.largest_tensor);  // one staging buffer
    decide_by(m, m.deciding_pool);
}

void judge(Plan& plan, const Target& t, const Placement& placement) {
    const PoolUse& deciding = plan.memory.pools[plan.memory.deciding_pool];
    plan.verdict = deciding.verdict;
    plan.reason = deciding.verdict == Verdict::fits           ? Reason::fits
                  : deciding.verdict == Verdict::does_not_fit ? Reason::pool_full
                                                              : Reason::pool_uncertain;
    if (t.refusal != Reason::fits) {
        plan.verdict = Verdict::unsupported;
        plan.reason = t.refusal;
    } else if (t.largest_allocation.value > 0 && placement.largest_buffer > t.largest_allocation) {
        plan.verdict = Verdict::does_not_fit;
        plan.reason = Reason::allocation_limit;
    } else if (plan.verdict == Verdict::fits) {
        // What an engine always keeps with the host is small; layers, experts and cache left to it are not.
        const bool host_unknown = placement.spilled && !plan.memory.pools[1].limited;
        if (plan.memory.pools[0].limited && !host_unknown) return;
        plan.verdict = Verdict::too_close_to_call;
        plan.reason = Reason::pool_size_unknown;
        decide_by(plan.memory, plan.memory.pools[0].limited ? 1 : 0);
    }
}

}  // namespace

quality::KvChoice kv_choice(const Prepared& p, const Knobs& k) {
    quality::KvChoice choice;
    if (!p.kv_groups.empty()) choice.keys = quality::kv_class(k.kv_k);
    for (const memory::KvGroup& g : p.kv_groups)
        if (g.value_dim > 0) choice.values = quality::kv_class(k.kv_v);
    // As the operator tables have it: heads of a multiple of 64, never a latent row.
    choice.rotation = p.runtime.profile->rotates_quantized_cache && !p.kv_groups.empty() &&
                      p.kv_groups.front().key_dim % 64 == 0 && p.kv_groups.front().value_dim > 0;
    choice.context = k.context;
    choice.window = k.window;
    choice.sinks = k.sinks;
    return choice;
}

Plan evaluate(const Prepared& p, const Knobs& k, const Target& t) {
    Plan plan;
    const Placement placement = place(p, k, t);
    const ComputeBuffers buffers = compute_buffers(p, k, t);
    plan.gpu_layers = placement.device_layers;
    open_pools(plan.memory, t, placement.two_pools);
    Mapping mapping = fill(plan.memory, p, k, t, placement, buffers);
    if (p.draft && t.draft) {
        Knobs same = k;
        same.gpu_layers = -1;
        same.outputs_max = 0;
        const Plan draft = evaluate(*p.draft, same, *t.draft);
        add_draft(plan.memory, draft);
        mapping.mapped += draft.memory.file_backed.central;
    }
    settle(plan.memory, p, k, t, mapping, buffers.untouched);
    judge(plan, t, placement);
    plan.speed = time(p, k, t, placement, plan.memory);
    plan.loss = quality::combine(p.quality, kv_choice(p, k));
    return plan;
}

}  // namespace memwall::plan
