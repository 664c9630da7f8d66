// memwall/simulate/1 into a report.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/report/read_document.h"
#include "core/base/size_text.h"
#include "core/view/quantity_text.h"

namespace memwall::cli {
namespace {

Moment moment_of(const Json& j, const char* when) {
    Moment m;
    m.seconds = j.at(when);
    for (std::size_t c = 0; c < kTimelineClasses; ++c)
        m.bytes[c] = j.at(std::string(kTimelineWords[c].key)).get<double>();
    if (j.contains("temperature_celsius")) {
        m.temperature = j["temperature_celsius"];
        m.speed = j.at("speed_share");
    }
    if (j.contains("battery_share")) m.battery = j["battery_share"];
    return m;
}

/// Of documents that may hold anything.
std::int64_t whole(double value) {
    return static_cast<std::int64_t>(std::clamp(value, -9e18, 9e18));
}

std::vector<WaitBucket> buckets_of(const Json& j) {
    std::vector<WaitBucket> all;
    for (const Json& b : j) all.push_back({b.at("from_seconds"), b.at("to_seconds"), b.at("count")});
    return all;
}

/// A metric's number in the unit that its name ends in.
std::string value_text(const std::string& name, double value) {
    if (name.ends_with("_seconds")) return value < 0 ? "never" : seconds_text(Seconds(value));
    if (name.ends_with("_bytes")) return bytes_text(Bytes(whole(value)));
    if (name.ends_with("_share")) return fmt::format("{:.1f} %", 100 * value);
    if (name.ends_with("_per_second")) return fmt::format("{:.3g}/s", value);
    if (name.ends_with("_joules")) return fmt::format("{:.4g} J", value);
    if (name.ends_with("_celsius")) return fmt::format("{:.1f} \u00b0C", value);
    return value == std::floor(value) ? count_text(whole(value)) : fmt::format("{:.3g}", value);
}

double metric(const Json& metrics, const std::string& name) {
    for (const Json& m : metrics)
        if (m.at("name") == name) return m.at("mean");
    return 0;
}

}  // namespace

void read_simulation(Report& r, const Json& j) {
    const Json& about = j.at("scenario");
    if (!j.contains("metrics"))
        throw Json::other_error::create(501, "a document without a run (--find)", nullptr);
    Simulated s;
    s.name = about.at("name");
    if (about.contains("about")) s.about = about["about"];
    s.seconds = j.at("simulated_seconds");
    s.interrupted = j.at("interrupted");
    s.ram = about.at("ram_bytes");
    s.budget = about.at("budget_bytes");
    for (const Json& p : j.at("timeline")) {
        s.thermal |= p.contains("temperature_celsius");
        s.battery |= p.contains("battery_share");
        s.timeline.push_back(moment_of(p, "until_seconds"));
    }
    s.peak = moment_of(j.at("peak"), "at_seconds");
    for (const std::size_t c : kOurs) s.peak_bytes += s.peak.bytes[c];
    if (j["peak"].at("owner").is_string()) s.owner = j["peak"]["owner"];
    s.ttft = buckets_of(j.at("histograms").at("ttft"));
    s.tpot = buckets_of(j.at("histograms").at("tpot"));
    const Json& metrics = j.at("metrics");
    s.ttft_quantiles = {metric(metrics, "ttft_p50_seconds"), metric(metrics, "ttft_p95_seconds")};
    s.tpot_quantiles = {metric(metrics, "tpot_p50_seconds"), metric(metrics, "tpot_p95_seconds")};
    for (const Json& m : metrics) {
        const std::string name = m.at("name");
        const Json& half = m.at("half_width_95");
        s.metrics.push_back({name, value_text(name, m.at("mean")),
                             half.is_null() ? "" : "\u00b1 " + value_text(name, half.get<double>()),
                             m.at("definition")});
    }
    if (r.question.empty()) {  // nothing else is reported
        r.model = about.at("model");
        r.device = about.at("device");
        r.question = fmt::format("{}: {} on {}", s.name, r.model, r.device);
        r.command = about.at("command");
        r.answer = fmt::format("{} requests in {}: half have their first token within {}, 95 % within {}.",
                               count_text(whole(metric(metrics, "requests"))),
                               seconds_text(Seconds(s.seconds)), seconds_text(Seconds(s.ttft_quantiles[0])),
                               seconds_text(Seconds(s.ttft_quantiles[1])));
    }
    r.simulated.push_back(std::move(s));
}

}  // namespace memwall::cli
