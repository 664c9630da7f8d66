#include "devices/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>

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
    parallel_for(count, [&](std::size_t i) {
        SweepPoint& p = points[i];
        p.deployment = base;
        p.values.resize(axes.size());
        std::size_t rest = i;
        for (std::size_t a = axes.size(); a-- > 0; rest /= axes[a].values.size())
            p.values[a] = axes[a].values[rest % axes[a].values.size()];
        try {
            for (std::size_t a = 0; a < axes.size(); ++a) apply(p.deployment, axes[a], p.values[a]);
            Opened o = open_deployment(p.deployment);
            const plan::Prepared prepared = plan::prepare(std::move(o.model), o.deployment, open_named_model);
            plan::Target t = plan::aim(prepared, std::move(o.device));
            plan::apply_measurements(t, prepared, open_named_model);
            const plan::Knobs k = plan::place_automatically(prepared, t, plan::resolve_knobs(prepared, t));
            p.candidate = plan::candidate_of(plan::evaluate(prepared, k, t), k);
        } catch (const Error& e) {
            p.failure = e.what();
        }
        if (progress) progress(++done, count);
    });
    return points;
}

}  // namespace memwall::devices
