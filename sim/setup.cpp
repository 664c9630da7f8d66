#include "sim/setup.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/size_text.h"
#include "core/memory/kv_cache.h"
#include "core/plan/placement.h"

namespace memwall::sim {
namespace {

std::int64_t central(const plan::PoolUse& pool, plan::Item item) {
    return pool.items[static_cast<std::size_t>(item)].central.value;
}

/// What a token weighs in the pool, and what each sequence has beside it. Layers that see everything share
/// the pool's pages; windowed layers beside them have a ring for each sequence, as engines lay them out.
void weigh_cache(Setup& s) {
    const plan::Prepared& p = s.planned.prepared;
    const plan::Knobs& k = s.planned.knobs;
    const memory::KvCells cells = plan::kv_cells(p, k);
    std::int64_t window = 0;
    bool full = false, windowed = false;
    for (const memory::KvGroup& g : p.kv_groups) {
        full |= g.window == 0 && g.fixed_cells == 0;
        windowed |= g.window > 0;
        window = std::max(window, g.window);
    }
    for (const memory::KvGroup& g : p.kv_groups) {
        const double bytes = memory::kv_token_bytes(g, k.kv_k, k.kv_v).as_double() * g.layers;
        if (g.fixed_cells > 0)
            s.sequence_bytes += static_cast<std::int64_t>(bytes) * g.fixed_cells;
        else if (g.window == 0 || !full)
            s.token_bytes += bytes;
        else
            s.sequence_bytes +=
                static_cast<std::int64_t>(bytes) * std::min(k.context, memory::cells_of(g, cells));
    }
    s.sequence_bytes += p.recurrent_per_sequence.value;
    if (!full && windowed) {
        s.store.sinks = k.sinks;
        s.store.window = window - k.sinks;
        if (s.scenario.kv.layout == KvLayout::contiguous)
            throw Error("kv.layout", "contiguous runs for a model whose layers are all windowed", "paged");
    }
    if (s.sequence_bytes > 0 || s.store.window > 0) {
        s.prefix_note = p.recurrent_per_sequence.value > 0
                            ? "a recurrent state cannot be taken up in the middle of a prefix"
                            : "windowed layers keep no prefix: their cells were overwritten";
        s.store.prefix_cache = false;
        if (s.scenario.kv.between != Between::drop)
            throw Error("kv.between_turns",
                        fmt::format("'{}' for a model with windowed or recurrent layers",
                                    between_name(s.scenario.kv.between)),
                        "drop: keeping such sessions is not simulated");
    }
}

/// What is neither weights nor cache.
std::int64_t scratch_of(const plan::PoolUse& pool) {
    return std::max<std::int64_t>(0, pool.needed.central.value - central(pool, plan::Item::weights) -
                                         central(pool, plan::Item::kv_cache) -
                                         central(pool, plan::Item::recurrent_state));
}

/// Of a model that is spread over a card and the host: how much of the cache lies where.
struct PoolShares {
    bool split = false;
    double cache[2] = {1, 0};  ///< of the plan's pools
};

PoolShares pool_shares(const Setup& s) {
    const plan::Placement at = plan::place(s.planned.prepared, s.planned.knobs, s.planned.target);
    const double device = (at.device_kv + at.device_state).as_double(),
                 host = (at.host_kv + at.host_state).as_double();
    PoolShares shares;
    shares.split = s.planned.plan.memory.pool_count > 1 && (host > 0 || at.host_layer_weights.value > 0);
    if (shares.split && device + host > 0)
        shares.cache[0] = device / (device + host), shares.cache[1] = host / (device + host);
    return shares;
}

/// Of a pool of the plan, less what others have of a card from the start.
Bytes budget_of(const Setup& s, const plan::PoolUse& pool) {
    const PressureSettings& p = s.scenario.pressure;
    const bool card = p.card_budget > 0 && &pool == &s.planned.plan.memory.pools[0];
    return card ? Bytes(Pressure(p).card_left()) : pool.budget;
}

/// Bytes that the pools leave for caches; whichever is full first decides.
std::int64_t room_for_cache(const Setup& s, std::int64_t aside) {
    const plan::Memory& memory = s.planned.plan.memory;
    const PoolShares shares = pool_shares(s);
    std::int64_t room = std::int64_t{1} << 60;
    for (std::size_t i = 0; i < (shares.split ? 2 : 1); ++i) {
        const plan::PoolUse& pool = memory.pools[i];
        if (!pool.limited || shares.cache[i] <= 0) continue;
        const std::int64_t taken = central(pool, plan::Item::weights) + scratch_of(pool);
        const Bytes budget = budget_of(s, pool);
        const double left = (budget.as_double() - static_cast<double>(taken)) / shares.cache[i];
        if (left <= static_cast<double>(aside))
            throw Error(
                "deployment",
                fmt::format("weights and buffers need {} of {} of {}",
                            bytes_text(Bytes(taken + static_cast<std::int64_t>(static_cast<double>(aside) *
                                                                               shares.cache[i]))),
                            bytes_text(budget), pool.name),
                "a plan that leaves room for the cache, or 'kv: {pool: SIZE}'");
        room = std::min(room, static_cast<std::int64_t>(left) - aside);
    }
    return room;
}

/// A pool may push other things out of the host's memory, but not be larger than what holds it; on a card it
/// lies beside weights and buffers.
void refuse_impossible_pool(const Setup& s, std::int64_t aside) {
    if (s.scenario.conditions.tier.bandwidth > 0) return;  // it lies behind a link
    const PoolShares shares = pool_shares(s);
    for (std::size_t i = 0; i < (shares.split ? 2 : 1); ++i) {
        const plan::PoolUse& pool = s.planned.plan.memory.pools[i];
        if (!pool.limited || pool.capacity.value <= 0 || s.scenario.kv.pool_bytes == 0) continue;
        const bool card = s.planned.target.discrete && i == 0;
        const Bytes limit = card && s.scenario.pressure.card_budget > 0 ? budget_of(s, pool) : pool.capacity;
        const double beside =
            card ? static_cast<double>(central(pool, plan::Item::weights) + scratch_of(pool)) : 0;
        const double bytes =
            static_cast<double>(s.scenario.kv.pool_bytes + (card ? aside : 0)) * shares.cache[i];
        if (bytes + beside > limit.as_double())
            throw Error("kv.pool",
                        fmt::format("{}{} on {} of {}", bytes_text(Bytes(s.scenario.kv.pool_bytes)),
                                    beside > 0 ? fmt::format(" beside weights and buffers of {}",
                                                             bytes_text(Bytes(std::llround(beside))))
                                               : "",
                                    bytes_text(limit), pool.name),
                        "a pool that the device can hold");
    }
}

void size_pool(Setup& s) {
    const SchedulerSettings& serving = s.scenario.scheduler;
    s.store.chunk = serving.chunked ? serving.token_budget : serving.context;
    const std::int64_t kept = s.store.window > 0
                                  ? std::min(serving.context, s.store.window + s.store.sinks + s.store.chunk +
                                                                  4 * s.store.block_tokens)
                                  : serving.context;
    const std::int64_t most_tokens = (kept + s.store.block_tokens) * serving.max_sequences;
    const std::int64_t aside = s.sequence_bytes * serving.max_sequences;
    refuse_impossible_pool(s, aside);
    std::int64_t bytes = s.scenario.kv.pool_bytes;
    if (bytes == 0) {
        bytes = static_cast<std::int64_t>(s.token_bytes * static_cast<double>(most_tokens));
        bytes = std::min(bytes, room_for_cache(s, aside));
    }
    s.store.cells = s.token_bytes > 0 ? static_cast<std::int64_t>(static_cast<double>(bytes) / s.token_bytes)
                                      : most_tokens;
    if (s.store.cells < s.store.block_tokens)
        throw Error("kv.pool",
                    fmt::format("{} for tokens of {:.0f} bytes", bytes_text(Bytes(bytes)), s.token_bytes),
                    fmt::format("room for {} tokens at least", s.store.block_tokens));
    if (s.store.cells / s.store.block_tokens > 50'000'000)
        throw Error("kv.pool", fmt::format("{} blocks", s.store.cells / s.store.block_tokens),
                    "at most 50 million: larger block_tokens or a smaller pool");
}

void fill_defaults(Setup& s) {
    SchedulerSettings& serving = s.scenario.scheduler;
    const plan::Knobs& k = s.planned.knobs;
    serving.context = k.context;
    if (serving.max_sequences == 0) serving.max_sequences = k.sequences;
    if (serving.token_budget == 0) serving.token_budget = k.ubatch;
    const std::int64_t rows = serving.max_sequences * (s.planned.prepared.draft ? k.draft_tokens + 1 : 1);
    if (serving.token_budget < rows)
        throw Error("serving.token_budget", fmt::format("{} tokens", serving.token_budget),
                    fmt::format("{} at least: one round of every sequence", rows));
    s.store = {s.scenario.kv.layout,
               0,
               s.scenario.kv.block_tokens,
               s.scenario.kv.prefix_cache,
               s.scenario.kv.fit,
               0,
               0};
    if (serving.batching == Batching::static_batch && s.scenario.kv.between != Between::drop)
        throw Error("kv.between_turns", "sessions kept by static batches", "drop");
    // Laws with an infinite tail would ask for prompts that no context holds; they are refused one by one.
}

void fill_memory(Setup& s) {
    const plan::Target& t = s.planned.target;
    PressureSettings& p = s.scenario.pressure;
    if (p.ram != 0) {
        const int pool = t.discrete ? t.host_pool : static_cast<int>(t.pool);
        p.ram = pool >= 0 ? t.device.pools[static_cast<std::size_t>(pool)].capacity.value : 0;
        if (p.ram <= 0)
            throw Error("memory", "the size of the device's RAM is unknown",
                        "one: deployment: {set: [device.ram=32GiB]}");
        if (p.system >= p.ram)
            throw Error("memory.system", bytes_text(Bytes(p.system)),
                        "less than " + bytes_text(Bytes(p.ram)));
        if (t.discrete && (p.killer == Killer::lmkd || p.killer == Killer::jetsam))
            throw Error("memory.killer",
                        fmt::format("'{}' of phones on a host with a card", killer_name(p.killer)),
                        "none or oom");
    }
    const bool wants_card = p.card_budget != 0;
    p.card_budget = 0;
    if (!t.discrete && wants_card)
        throw Error("memory", "something on the card of a device without one", "no 'card' keys");
    if (t.discrete && (p.ram != 0 || wants_card)) {
        const plan::PoolUse& card = s.planned.plan.memory.pools[0];
        if (!card.limited)
            throw Error("memory", "the size of the card's memory is unknown",
                        "one: deployment: {set: [device.vram=16GiB]}");
        p.card_budget = card.budget.value;
        if (Pressure(p).card_left() <= 0)
            throw Error("memory.card",
                        fmt::format("{} taken by others from the start",
                                    bytes_text(Bytes(p.card_budget - Pressure(p).card_left()))),
                        fmt::format("less than {}", bytes_text(card.budget)));
    }
    s.fixed.system = (p.ram != 0 ? p.system : 0) + p.card_taken;
}

/// Weights, buffers and mapped pages by where they lie.
void place_memory(Setup& s) {
    const plan::Memory& memory = s.planned.plan.memory;
    const plan::PoolUse& here = memory.pools[0];
    const PoolShares shares = pool_shares(s);
    const bool maps = memory.file_backed.central.value > 0;
    s.fixed.weights = central(here, plan::Item::weights);
    s.fixed.scratch = scratch_of(here);
    s.file_bytes = s.planned.prepared.weights.total.central.value;
    if (!s.planned.target.discrete) {
        s.mapped = std::min(s.fixed.weights, memory.file_backed.central.value);
        s.mapped_share =
            s.fixed.weights > 0 ? static_cast<double>(s.mapped) / static_cast<double>(s.fixed.weights) : 0;
        s.host_fixed = s.fixed.weights - s.mapped + s.fixed.scratch;
        return;
    }
    const plan::PoolUse& host = memory.pools[1];
    const std::int64_t weights = central(host, plan::Item::weights);
    const plan::Placement at = plan::place(s.planned.prepared, s.planned.knobs, s.planned.target);
    // Of the token table, which stays with the host, a step reads single rows.
    s.mapped = maps ? at.host_layer_weights.value : 0;
    s.mapped_share = maps ? 1 : 0;
    s.host_fixed = scratch_of(host) + (maps ? 0 : weights);
    s.host_cache = shares.cache[1];
    s.spread = shares.split || s.scenario.pressure.card_budget > 0;
    if (s.spread) {
        s.fixed.weights += weights;
        s.fixed.scratch += scratch_of(host);
    }
}

/// What the engine takes of the card, once the pool has its size.
void weigh_card(Setup& s) {
    if (s.scenario.pressure.card_budget == 0) return;
    const plan::PoolUse& card = s.planned.plan.memory.pools[0];
    const double cache = static_cast<double>(s.store.cells) * s.token_bytes +
                         static_cast<double>(s.sequence_bytes * s.scenario.scheduler.max_sequences);
    s.card_bytes = central(card, plan::Item::weights) + scratch_of(card) +
                   static_cast<std::int64_t>(cache * (1 - s.host_cache));
    if (s.card_bytes > Pressure(s.scenario.pressure).card_left())
        throw Error(
            "kv.pool",
            fmt::format("{} of the card for weights, buffers and pool", bytes_text(Bytes(s.card_bytes))),
            fmt::format("at most {}, which others leave",
                        bytes_text(Bytes(Pressure(s.scenario.pressure).card_left()))));
}

/// A model that may have to be loaded, or read again, needs a storage.
void refuse_unknown_storage(const Setup& s) {
    const Scenario& sc = s.scenario;
    if (s.storage > 0) return;
    const char* place = !sc.load.warm || sc.load.unload_after > 0 ? "load"
                        : sc.battery.watt_hours > 0               ? "power.battery"
                        : sc.pressure.killer != Killer::none || (sc.pressure.ram > 0 && s.mapped > 0)
                            ? "memory"
                            : nullptr;
    if (place)
        throw Error(place, "a model that is loaded or read again, from a storage of unknown speed",
                    "one: deployment: {set: [device.storage=3GB/s]}");
}

void fill(Setup& s) {
    plan::Deployment deployment = s.scenario.deployment;
    if (s.scenario.scheduler.max_sequences > 0) deployment.sequences = s.scenario.scheduler.max_sequences;
    s.planned = devices::make_plan(deployment);
    const plan::Plan& plan = s.planned.plan;
    const plan::Target& t = s.planned.target;
    fill_defaults(s);
    PlannedSteps(s.planned.prepared, s.planned.knobs, t, s.scenario.conditions);  // refuses what it cannot
    if (s.scenario.conditions.expert_skew > 0 && s.planned.prepared.workload.expert_groups == 0)
        throw Error("serving.expert_skew", "a model without routed experts", "one with them, or no skew");
    weigh_cache(s);

    fill_memory(s);
    place_memory(s);
    size_pool(s);
    weigh_card(s);

    s.storage = t.device.storage.read.value;
    refuse_unknown_storage(s);
    s.load_seconds = (plan.speed.load_known ? plan.speed.load.central.value : 0) + s.scenario.load.fixed;
    s.tokenization = plan.speed.prefill_known
                         ? plan.speed.tokenization.central.value /
                               static_cast<double>(std::max<std::int64_t>(
                                   1, plan::speed_settings(s.planned.prepared, s.planned.knobs).prompt))
                         : 0;
    s.copy_bandwidth = t.machine.bandwidth;
    if (s.scenario.kv.swap_bandwidth == 0) s.scenario.kv.swap_bandwidth = s.storage;
    const bool power_known =
        s.scenario.active_watts > 0 || t.machine.joules_per_byte > 0 || t.device.sustained_power.value > 0;
    if (!power_known && (s.scenario.thermal.resistance > 0 || s.scenario.battery.watt_hours > 0))
        throw Error(s.scenario.thermal.resistance > 0 ? "thermal" : "power.battery",
                    "the catalogue does not know what this device draws", "power: {active: 5W}");
    const bool swaps =
        s.scenario.kv.between == Between::swap || s.scenario.scheduler.preemption == Preemption::swap;
    if (swaps && s.scenario.kv.swap_bandwidth <= 0)
        throw Error("kv.swap_bandwidth", "no speed of the swap space is known", "one: 1.5GB/s");
}

}  // namespace

Setup prepare(Scenario scenario) {
    Setup s;
    s.scenario = std::move(scenario);
    try {
        fill(s);
    } catch (const Error& e) {
        throw placed(s.scenario, e);
    }
    return s;
}

}  // namespace memwall::sim
