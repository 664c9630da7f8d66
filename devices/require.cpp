#include "devices/require.h"

#include <fmt/format.h>

#include <cmath>

#include "core/base/error.h"
#include "core/base/size_text.h"
#include "core/plan/advise.h"
#include "core/plan/auto_placement.h"
#include "devices/device_fields.h"

namespace memwall::devices {
namespace {

constexpr double kAmple = 1e4;       // of what the device has: beyond any part
constexpr double kPrecision = 1e-4;  // of the found value

/// What bandwidth and compute can mend, and what neither they nor memory can.
constexpr unsigned kTimes =
    plan::kDecode | plan::kFirstToken | plan::kJob | plan::kEnergy | plan::kSpeedUnknown;
constexpr unsigned kFixed = plan::kMemory | plan::kContext | plan::kQuality | plan::kLoad;

/// The model prepared once; devices are varied.
struct Bench {
    plan::Prepared prepared;
    const Opened& opened;
    const plan::Constraints& limits;
    std::string pool, processor;

    struct Resources {
        std::int64_t memory;
        double bandwidth, compute;  ///< factors
    };

    device::Device device(const Resources& r) const {
        device::Device d = opened.device;
        set_field(d, pool, fmt::format("{}", r.memory), "memory");
        for (device::Pool& p : d.pools)
            if (p.name == pool) p.bandwidth = p.bandwidth * r.bandwidth;
        for (device::Processor& p : d.processors)
            if (device::kind_name(p.kind) == processor)
                for (auto* rate : {&p.fp32, &p.fp16, &p.int8, &p.int4}) *rate = *rate * r.compute;
        return d;
    }
    plan::Candidate at(const Resources& r, std::string_view* bound = nullptr) const {
        const plan::Target t = plan::aim(prepared, device(r));
        const plan::Knobs k = plan::place_automatically(prepared, t, plan::resolve_knobs(prepared, t));
        const plan::Plan p = plan::evaluate(prepared, k, t);
        if (bound) *bound = p.speed.bound;
        return plan::candidate_of(p, k);
    }
    /// Whether the device says how fast its processor computes; an assumed rate cannot be asked for.
    bool has_rates() const {
        for (const device::Processor& p : opened.device.processors)
            if (device::kind_name(p.kind) == processor)
                return p.fp32.value > 0 || p.fp16.value > 0 || p.int8.value > 0 || p.int4.value > 0;
        return false;
    }
    bool fits(std::int64_t memory) const { return at({memory, 1, 1}).verdict == plan::Verdict::fits; }
    bool meets(const Resources& r) const { return (plan::broken(at(r), limits) & kTimes) == 0; }
    /// What of `kinds` breaks there, in words; "" if nothing does.
    std::string what_breaks(const plan::Candidate& c, unsigned kinds) const {
        std::string text;
        const auto set = static_cast<std::uint16_t>(plan::broken(c, limits) & kinds);
        for (const plan::Broken one : plan::broken_list(set))
            text += (text.empty() ? "" : "; ") + plan::broken_text(one, c, limits);
        return text;
    }
    /// Why no bandwidth and compute are enough.
    std::string out_of_reach(std::int64_t memory) const {
        std::string_view bound;
        const plan::Candidate best = at({memory, kAmple, kAmple}, &bound);
        const unsigned broken = plan::broken(best, limits);
        std::string text = "with any bandwidth and compute: " + what_breaks(best, kTimes);
        if (broken & plan::kDecode)
            text += fmt::format(" ({} of this class of processor binds)",
                                bound == "dequantization" ? "unpacking the weights" : bound);
        if ((broken & (plan::kFirstToken | plan::kJob)) && !has_rates())
            text += "; the device does not say how fast it computes, so that cannot be varied";
        return text;
    }
};

/// The least x in [low, high] that holds; it holds at high and from some point on.
template <class Holds>
double least(double low, double high, Holds holds) {
    while (high / low > 1 + kPrecision) {
        const double middle = std::sqrt(low * high);
        (holds(middle) ? high : low) = middle;
    }
    return high;
}

Bench make_bench(const Opened& opened, const plan::Constraints& limits) {
    Bench b{plan::prepare(opened.model, opened.deployment, open_named_model), opened, limits, {}, {}};
    const plan::Target t = plan::aim(b.prepared, opened.device);
    b.pool = t.device.pools[t.pool].name;
    b.processor = std::string(device::kind_name(t.processor));
    return b;
}

std::int64_t least_memory(const Bench& b) {
    std::int64_t high = std::int64_t{1} << 30;
    while (!b.fits(high)) {
        if (high > std::int64_t{1} << 52)
            throw Error("--device", "no amount of memory fits this configuration",
                        "a device without the limit that binds", "memwall plan says which");
        high *= 2;
    }
    std::int64_t low = 0;
    const std::int64_t step = std::max<std::int64_t>(high / 65536, 4096);
    while (high - low > step) {
        const std::int64_t middle = low + (high - low) / 2;
        (b.fits(middle) ? high : low) = middle;
    }
    return high;
}

}  // namespace

Requirement require(const Opened& opened, const plan::Constraints& limits) {
    const Bench b = make_bench(opened, limits);
    Requirement r;
    const std::int64_t memory = least_memory(b);
    r.memory = Bytes(memory);
    Bench::Resources asked{memory, 1, 1};
    const bool times =
        limits.min_decode > 0 || limits.max_ttft > 0 || limits.max_job > 0 || limits.max_energy > 0;
    const plan::Target own = plan::aim(b.prepared, opened.device);
    unsigned fixed = kFixed;
    if (limits.min_quality > 0) fixed |= plan::kQualityUnknown;
    if (const std::string why = b.what_breaks(b.at(asked), fixed); !why.empty()) {
        r.unreachable = "on any such device: " + why;
    } else if (times) {
        if (!own.machine_known)
            throw Error("--device", opened.device.name + " has no known speed",
                        "a device with bandwidth and class");
        if (!b.meets({memory, kAmple, kAmple})) {
            r.unreachable = b.out_of_reach(memory);
        } else {
            if (!b.meets({memory, kAmple, 1}))
                asked.compute = 1.1 * least(1, kAmple, [&](double c) {
                                    return b.meets({memory, kAmple, c});
                                });
            asked.bandwidth = least(1 / kAmple, kAmple, [&](double w) {
                return b.meets({memory, w, asked.compute});
            });
            asked.compute = least(1 / kAmple, asked.compute, [&](double c) {
                return b.meets({memory, asked.bandwidth, c});
            });
        }
    }
    const device::Device d = b.device(asked);
    const plan::Target t = plan::aim(b.prepared, d);
    const plan::Knobs k = plan::place_automatically(b.prepared, t, plan::resolve_knobs(b.prepared, t));
    r.plan = plan::evaluate(b.prepared, k, t);
    r.set.push_back(fmt::format("device.{}={}", b.pool, memory));
    if (times && !r.unreachable) {
        r.bandwidth = t.device.pools[t.pool].bandwidth;
        r.compute_factor = asked.compute;
        if (b.has_rates()) {
            r.compute = OpsPerSecond(t.machine.compute);
            r.compute_name = std::string(t.machine.compute_name);
        }
        r.set.push_back(fmt::format("device.{}_bandwidth={:.9g}GB/s", b.pool, r.bandwidth.value / 1e9));
        for (const device::Processor& p : opened.device.processors)
            if (device::kind_name(p.kind) == b.processor)
                for (const auto& [name, rate] : {std::pair("fp32", p.fp32), std::pair("fp16", p.fp16),
                                                 std::pair("int8", p.int8), std::pair("int4", p.int4)})
                    if (rate.value > 0)
                        r.set.push_back(
                            fmt::format("device.{}.{}=x{:.9g}", b.processor, name, asked.compute));
    }
    return r;
}

std::vector<Sensitivity> sensitivities(const Opened& opened) {
    const plan::Constraints none;
    const Bench b = make_bench(opened, none);
    const auto measure = [&](const device::Device& d, bool after, Sensitivity& s) {
        const plan::Target t = plan::aim(b.prepared, d);
        const plan::Knobs k = plan::place_automatically(b.prepared, t, plan::resolve_knobs(b.prepared, t));
        const plan::Plan p = plan::evaluate(b.prepared, k, t);
        s.timed = p.speed.decode_known && p.speed.prefill_known;
        (after ? s.decode_after : s.decode_before) = p.speed.decode.central.value;
        (after ? s.first_token_after : s.first_token_before) = p.speed.first_token.central.value;
        (after ? s.context_after : s.context_before) =
            plan::max_context_tokens(b.prepared, k, t, b.prepared.model.trained_context);
    };
    const device::Processor* p = nullptr;
    for (const device::Processor& x : opened.device.processors)
        if (device::kind_name(x.kind) == b.processor) p = &x;
    const std::string rate = p && p->int8.value > 0 ? "int8" : p && p->fp16.value > 0 ? "fp16" : "fp32";
    const std::pair<std::string, std::pair<std::string, std::string>> changes[] = {
        {"+8 GB/s", {b.pool + "_bandwidth", "+8GB/s"}},
        {fmt::format("+2 TOPS {}", rate), {b.processor + "." + rate, "+2TOPS"}},
        {"+1 GiB", {b.pool, "+1GiB"}}};
    std::vector<Sensitivity> out;
    for (const auto& [name, change] : changes) {
        Sensitivity s;
        s.change = name;
        measure(opened.device, false, s);
        device::Device d = opened.device;
        try {
            set_field(d, change.first, change.second, "sensitivity");
        } catch (const Error&) {
            continue;  // the device does not say how much of it there is
        }
        measure(d, true, s);
        out.push_back(s);
    }
    return out;
}

}  // namespace memwall::devices
