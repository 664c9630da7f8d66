#include "devices/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>

#include "core/base/error.h"
#include "core/base/parallel.h"
#include "core/base/size_text.h"
#include "core/plan/auto_placement.h"
#include "core/plan/measured.h"
#include "core/plan/options.h"

namespace memwall::devices {
namespace {

constexpr std::size_t kMostPoints = 1'000'000;

bool is_field(const std::string& name) {
    return name.starts_with("device.") || name.starts_with("model.");
}

/// "A..B*F" and "A..B+S"; anything else is one value.
void add_values(Axis& axis, const std::string& text, const std::string& place) {
    const std::size_t dots = text.find("..");
    if (dots == std::string::npos) {
        axis.values.push_back(text);
        return;
    }
    const std::string expected = "FROM..TO*FACTOR or FROM..TO+STEP";
    const std::size_t sign = text.find_first_of("*+", dots + 2);
    if (sign == std::string::npos) throw Error(place, fmt::format("'{}'", text), expected);
    const std::int64_t from = parse_count(text.substr(0, dots), place);
    const std::int64_t to = parse_count(text.substr(dots + 2, sign - dots - 2), place);
    const std::int64_t by = parse_count(text.substr(sign + 1), place);
    const bool times = text[sign] == '*';
    if (from > to || by < (times ? 2 : 1) || (times && from < 1))
        throw Error(place, fmt::format("'{}'", text), expected);
    for (std::int64_t x = from; x <= to; x = times ? x * by : x + by) {
        axis.values.push_back(fmt::format("{}", x));
        if (axis.values.size() > kMostPoints)
            throw Error(place, "more than a million values", "a coarser step");
    }
}

void apply(plan::Deployment& d, const Axis& axis, const std::string& value) {
    const std::string place = "--axis " + axis.name;
    if (axis.name == "model") {
        d.model = value;
    } else if (is_field(axis.name)) {
        d.set.push_back(axis.name + "=" + value);
    } else {
        plan::find_option(axis.name)->set(d, value, place);
    }
}

/// What resolve_knobs() takes from a deployment and prepare() and aim() do not.
bool is_knob(std::string_view option) {
    constexpr std::string_view kKnobs[] = {"context",   "kv",     "kv-k",          "kv-v",
                                           "sequences", "prompt", "cached-prompt", "generate"};
    return std::find(std::begin(kKnobs), std::end(kKnobs), option) != std::end(kKnobs);
}

constexpr std::size_t kMostBenches = 32;  // models prepared and kept

/// A deployment prepared once, to be evaluated under other knobs.
class Bench {
  public:
    explicit Bench(const plan::Deployment& stated) {
        Opened o = open_deployment(stated);
        prepared_ = plan::prepare(std::move(o.model), o.deployment, open_named_model);
        target_ = plan::aim(prepared_, std::move(o.device));
        plan::apply_measurements(target_, prepared_, open_named_model);
    }
    plan::Candidate at(const plan::Deployment& d) {
        plan::Deployment& own = prepared_.deployment;
        own.context = d.context, own.sequences = d.sequences;
        own.kv_k = d.kv_k, own.kv_v = d.kv_v;
        own.prompt = d.prompt, own.cached_prompt = d.cached_prompt, own.generate = d.generate;
        const plan::Knobs k =
            plan::place_automatically(prepared_, target_, plan::resolve_knobs(prepared_, target_));
        return plan::candidate_of(plan::evaluate(prepared_, k, target_), k);
    }

  private:
    plan::Prepared prepared_;
    plan::Target target_;
};

}  // namespace

Axis parse_axis(const std::string& text, const std::string& place) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
        throw Error(place, fmt::format("'{}'", text), "NAME=VALUE,VALUE...");
    Axis axis{text.substr(0, equals), {}};
    if (axis.name != "model" && !is_field(axis.name) && !plan::find_option(axis.name))
        throw Error(place, fmt::format("'{}'", axis.name),
                    "an option of `memwall plan`, model, device.FIELD or model.FIELD");
    for (std::size_t at = equals + 1; at <= text.size();) {
        const std::size_t end = std::min(text.find(',', at), text.size());
        if (end == at) throw Error(place, fmt::format("'{}'", text), "no empty values");
        add_values(axis, text.substr(at, end - at), place);
        at = end + 1;
    }
    return axis;
}

std::vector<SweepPoint> sweep(const plan::Deployment& base, const std::vector<Axis>& axes,
                              const std::function<void(std::size_t, std::size_t)>& progress) {
    std::size_t count = 1;
    for (const Axis& a : axes) {
        count *= a.values.size();
        if (count > kMostPoints) throw Error("--axis", "more than a million points", "fewer or coarser axes");
    }
    std::vector<SweepPoint> points(count);
    std::atomic<std::size_t> done{0};
    const std::size_t step = std::clamp<std::size_t>(count / 64, 1, 512);
    parallel_ranges(count, step, [&](std::size_t first, std::size_t last) {
        std::map<std::string, Bench> benches;  // by the values that are not knobs
        for (std::size_t i = first; i < last; ++i) {
            SweepPoint& p = points[i];
            p.deployment = base;
            p.values.resize(axes.size());
            std::size_t rest = i;
            for (std::size_t a = axes.size(); a-- > 0; rest /= axes[a].values.size())
                p.values[a] = axes[a].values[rest % axes[a].values.size()];
            try {
                std::string key;
                for (std::size_t a = 0; a < axes.size(); ++a) {
                    apply(p.deployment, axes[a], p.values[a]);
                    if (!is_knob(axes[a].name)) key += p.values[a] + '\n';
                }
                p.candidate = benches.try_emplace(key, p.deployment).first->second.at(p.deployment);
            } catch (const Error& e) {
                p.failure = e.what();
            }
            if (benches.size() > kMostBenches) benches.clear();
            if (progress) progress(++done, count);
        }
    });
    return points;
}

}  // namespace memwall::devices
