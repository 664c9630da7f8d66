#include "core/plan/decision_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/base/error.h"
#include "core/base/size_text.h"

namespace memwall::plan {
namespace {

using Text = std::string_view;

/// A positive number, and what follows it.
double positive(Text text, Text place, Text expected, Text* rest = nullptr) {
    double x = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), x);
    Text tail = text.substr(static_cast<std::size_t>(end - text.data()));
    while (!tail.empty() && tail.front() == ' ') tail.remove_prefix(1);
    if (failure != std::errc{} || !(x > 0) || !std::isfinite(x) || (!rest && !tail.empty()))
        throw Error(std::string(place), fmt::format("'{}'", text), std::string(expected));
    if (rest) *rest = tail;
    return x;
}

/// "95%", "95 %" or 0.95.
double share(Text text, Text place, double least, double most) {
    Text rest;
    const std::string expected = least > 0 ? fmt::format("a share from {} to {}, or percent", least, most)
                                           : fmt::format("a share above 0, at most {}, or percent", most);
    double x = positive(text, place, expected, &rest);
    if (rest == "%") x /= 100, rest = {};
    if (!rest.empty() || x < least || x > most)
        throw Error(std::string(place), fmt::format("'{}'", text), expected);
    return x;
}

template <double Constraints::*Limit>
void set_seconds(Demands& d, Text text, Text place) {
    d.limits.*Limit = parse_seconds(text, place).value;
}

constexpr DecisionOption kOptions[] = {
    {"max-memory", "SIZE", "memory the configuration may need, in all pools together",
     [](Demands& d, Text text, Text place) { d.limits.max_memory = parse_bytes(text, place); }},
    {"min-decode", "RATE", "tokens/s that decode must reach",
     [](Demands& d, Text text, Text place) {
         d.limits.min_decode = positive(text, place, "tokens/s above 0");
     }},
    {"max-ttft", "TIME", "time to the first token, model loaded: 2s, 100ms",
     set_seconds<&Constraints::max_ttft>},
    {"max-job", "TIME", "time of prompt and answer (--prompt, --generate)",
     set_seconds<&Constraints::max_job>},
    {"max-load", "TIME", "time to load from cold storage", set_seconds<&Constraints::max_load>},
    {"max-energy", "JOULES", "energy of a generated token",
     [](Demands& d, Text text, Text place) {
         d.limits.max_energy = positive(text, place, "joules above 0");
     }},
    {"min-context", "N", "tokens a sequence must hold at least",
     [](Demands& d, Text text, Text place) {
         d.limits.min_context = parse_count(text, place);
         if (d.limits.min_context < 1)
             throw Error(std::string(place), fmt::format("'{}'", text), "at least 1");
     }},
    {"min-quality", "SHARE", "share of tokens that must stay what the unquantized model says: 90%",
     [](Demands& d, Text text, Text place) { d.limits.min_quality = share(text, place, 0.0, 1.0); }},
    {"priority", "GOAL", "what counts most: latency, memory or quality (quality)",
     [](Demands& d, Text text, Text place) {
         for (const Goal g : {Goal::latency, Goal::memory, Goal::quality})
             if (text == goal_name(g)) {
                 d.priority = g;
                 return;
             }
         throw Error(std::string(place), fmt::format("'{}'", text), "latency, memory or quality");
     }},
    {"confidence", "SHARE", "how sure limits must be met: central, or 95% (central)",
     [](Demands& d, Text text, Text place) {
         d.limits.confidence = text == "central" ? 0.5 : share(text, place, 0.5, 0.999);
     }},
    {"preset", "NAME", "limits of a usual use: chat, instant, documents, code, voice, quality",
     [](Demands& d, Text text, Text place) {
         if (!find_preset(text)) {
             std::string list;
             for (const Preset& p : presets()) list += (list.empty() ? "" : ", ") + std::string(p.name);
             throw Error(std::string(place), fmt::format("'{}'", text), "one of " + list);
         }
         d.preset = text;
     }},
    {"allow-unknown-quality", "on|off", "admit what has no quality estimate (off)",
     [](Demands& d, Text text, Text place) {
         if (text != "on" && text != "off")
             throw Error(std::string(place), fmt::format("'{}'", text), "on or off");
         d.limits.allow_unknown_quality = text == "on";
     }},
};

}  // namespace

std::span<const DecisionOption> decision_options() {
    return kOptions;
}

const DecisionOption* find_decision_option(std::string_view name) {
    const auto same = [](char a, char b) { return a == b || (a == '-' && b == '_'); };
    const auto it = std::find_if(std::begin(kOptions), std::end(kOptions), [&](const DecisionOption& o) {
        return std::equal(o.name.begin(), o.name.end(), name.begin(), name.end(), same);
    });
    return it == std::end(kOptions) ? nullptr : it;
}

Seconds parse_seconds(std::string_view text, std::string_view place) {
    constexpr std::string_view kExpected = "a time above 0: 100ms, 2s, 1.5min, 24h, 7d";
    std::string_view unit;
    const double x = positive(text, place, kExpected, &unit);
    constexpr std::pair<std::string_view, double> kUnits[] = {
        {"", 1}, {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"min", 60}, {"h", 3600}, {"d", 86400}};
    for (const auto& [name, factor] : kUnits)
        if (unit == name) return Seconds(x * factor);
    throw Error(std::string(place), fmt::format("'{}'", text), std::string(kExpected));
}

Goal Demands::goal() const {
    if (priority) return *priority;
    const Preset* p = find_preset(preset);
    return p ? p->priority : Goal::quality;
}

void apply_preset(Demands& demands, Deployment& deployment) {
    if (demands.preset.empty()) return;
    const Preset* p = find_preset(demands.preset);
    if (!p)
        throw Error("preset", fmt::format("'{}'", demands.preset), "a preset of `memwall recommend --help`");
    Constraints& own = demands.limits;
    const Constraints& usual = p->constraints;
    for (double Constraints::*limit :
         {&Constraints::min_decode, &Constraints::max_ttft, &Constraints::max_job, &Constraints::max_load,
          &Constraints::max_energy, &Constraints::min_quality})
        if (own.*limit == 0) own.*limit = usual.*limit;
    if (own.max_memory.value == 0) own.max_memory = usual.max_memory;
    if (own.min_context == 0) own.min_context = usual.min_context;
    if (deployment.prompt == 0) deployment.prompt = p->prompt;
    if (deployment.generate == 0) deployment.generate = p->generate;
}

}  // namespace memwall::plan
