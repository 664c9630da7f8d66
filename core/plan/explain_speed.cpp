// The ledger's chapter on time.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/size_text.h"
#include "core/plan/explain_parts.h"
#include "core/plan/operator_times.h"

namespace memwall::plan {
namespace {

struct SpeedChapter {
    const Prepared& p;
    const Knobs& k;
    const Target& t;
    const Plan& plan;

    LedgerItem speed() const {
        const Speed& s = plan.speed;
        LedgerItem item = leaf("speed", s.decode_known ? real(s.decode) : Interval<double>{},
                               s.decode_known ? Unit::per_second : Unit::none, "");
        if (!s.decode_known) {
            item.formula = "unknown: no bandwidth or no prior for the processor";
            return item;
        }
        const speed::Machine& m = t.machine;
        item.children.push_back(leaf(
            "decode", real(s.decode), Unit::per_second,
            "1 / max(touched weights / (eff_w x bandwidth) + KV / (eff_kv x bandwidth) + layers x overhead, "
            "compute, dequantization)",
            {{"touched weights",
              bytes_text(Bytes(
                  static_cast<std::int64_t>(p.workload.touched_bytes(static_cast<double>(k.sequences))))),
              "weights, input table left out unless tied"},
             {"bandwidth", rate_text(BytesPerSecond(m.bandwidth)), t.device.source("bandwidth")},
             {"eff_w x bandwidth", rate_text(BytesPerSecond(m.weights_rate())), std::string(m.basis)},
             {"eff_kv x bandwidth", rate_text(BytesPerSecond(m.kv_rate())), std::string(m.basis)},
             {"overhead", seconds_text(Seconds(m.overhead())) + " a layer", std::string(m.basis)},
             {"bound", std::string(s.bound), "the largest term"}}));
        if (s.prefill_known)
            item.children.push_back(
                leaf("prefill", real(s.prefill), Unit::per_second,
                     "tokens / max(matrix operations / (u x peak) + attention operations / (u_a x peak), one "
                     "read of the weights)",
                     {{"peak", ops_text(OpsPerSecond(m.compute)), std::string(m.compute_name)},
                      {"u x peak", ops_text(OpsPerSecond(m.compute_rate())), std::string(m.basis)}}));
        item.children.push_back(operators("decode_operators", decode_phase(k)));
        if (s.prefill_known) item.children.push_back(operators("prefill_operators", prefill_phase(k)));
        item.children.push_back(batching());
        if (s.prefill_known) item.children.push_back(without_cache());
        return item;
    }

    /// A single value at the central rates: not exact, and no interval of its own that would hold any share
    /// of cases.
    Interval<double> at_central_rates(double v) const { return {v, v, v, 0, t.machine.basis}; }

    /// One row an operator: what it touches and computes, the time that takes at the machine's rates, and
    /// what binds it.
    LedgerItem operators(const char* name, const speed::Phase& phase) const {
        LedgerItem all = leaf(name, at_central_rates(0), Unit::seconds,
                              "sum of the operators at the central rates, without launches");
        for (const OperatorTime& o : operator_times(p, k, t, phase)) {
            std::vector<LedgerInput> in;
            if (o.layers > 0) in.push_back({"layers", fmt::format("{}", o.layers), p.model.source("layers")});
            if (o.weight_bytes > 0)
                in.push_back(
                    {"weights read", bytes_text(Bytes(std::llround(o.weight_bytes))), "touched tensors"});
            if (o.cache_bytes > 0)
                in.push_back({"cache read", bytes_text(Bytes(std::llround(o.cache_bytes))),
                              fmt::format("{} values", k.kv_k.name)});
            if (o.operations > 0)
                in.push_back({"operations", fmt::format("{:.3g} G", o.operations / 1e9), "2 a multiply-add"});
            in.push_back({"bound", std::string(o.bound), "the largest of the terms"});
            all.value.low = all.value.central = all.value.high = all.value.central + o.time.value;
            all.children.push_back(leaf(o.name, at_central_rates(o.time.value), Unit::seconds,
                                        "max(bytes / effective bandwidth, packed weights / unpacking rate, "
                                        "operations / effective compute)",
                                        std::move(in)));
        }
        return all;
    }

    /// A decode that keeps no keys and values: every token recomputes all tokens before it.
    LedgerItem without_cache() const {
        Knobs whole = k;
        whole.prompt = k.context;
        whole.cached_prompt = 0;
        const Plan recomputed = evaluate(p, whole, t);
        const Interval<Seconds>& step = recomputed.speed.prefill_time;
        return leaf("decode_without_cache",
                    {1 / step.high.value, 1 / step.central.value, 1 / step.low.value, step.level, step.basis},
                    Unit::per_second,
                    "1 / prefill of the whole context: the quadratic cost that the cache saves",
                    {{"context", count_text(k.context), "option --context"},
                     {"a token", seconds_text(step.central), "prefill of all tokens before it"}});
    }

    /// What more sequences at once bring, and where that ends: at the memory or at the compute peak.
    LedgerItem batching() const {
        LedgerItem all = leaf(
            "batching", real(plan.speed.decode_all), Unit::per_second,
            "tokens/s of all sequences together; weights are read once a step, the cache once a sequence");
        const auto at = [&](std::int64_t n) {
            Knobs more = k;
            more.sequences = n;
            more.engine_context = 0;
            // Each sequence needs a row of the batch and of the logits.
            more.batch = std::max(more.batch, n);
            if (more.outputs_max > 0) more.outputs_max = std::max(more.outputs_max, n);
            return evaluate(p, more, t);
        };
        constexpr std::int64_t kMost = 256;  // llama.cpp's limit of sequences
        std::int64_t fitting = 0, crossover = 0;
        for (std::int64_t n = 1; n <= kMost; n *= 2) {
            const Plan more = at(n);
            if (more.verdict == Verdict::fits) fitting = n;
            if (crossover == 0 && more.speed.bound == "compute") crossover = n;
            LedgerItem row =
                leaf(fmt::format("sequences_{}", n), real(more.speed.decode_all), Unit::per_second, "");
            row.inputs = {
                {"each", fmt::format("{:.3g} tokens/s", more.speed.decode.central.value), "one sequence"},
                {"bound", std::string(more.speed.bound), "the largest term"},
                {"needed", bytes_text(more.memory.pools[0].needed.high),
                 std::string(verdict_name(more.verdict))}};
            all.children.push_back(std::move(row));
            if (more.verdict != Verdict::fits) break;  // one row beyond shows why
        }
        for (std::int64_t step = fitting / 2; fitting > 0 && fitting < kMost && step > 0; step /= 2)
            if (at(fitting + step).verdict == Verdict::fits) fitting += step;
        all.inputs = {
            {"most sequences that fit", fmt::format("{}", fitting), "memory"},
            {"crossover",
             crossover > 0 ? fmt::format("at most {} sequences", crossover) : fmt::format("beyond {}", kMost),
             "compute binds from here on"}};
        return all;
    }
};

}  // namespace

LedgerItem explain_speed(const Prepared& p, const Knobs& k, const Target& t, const Plan& plan) {
    return SpeedChapter{p, k, t, plan}.speed();
}

}  // namespace memwall::plan
