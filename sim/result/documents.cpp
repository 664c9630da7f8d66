// JSON, CSV and the trace.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/plan/options.h"
#include "core/view/json_parts.h"
#include "core/view/text_table.h"
#include "sim/result/views.h"

namespace memwall::sim {
namespace {

using view::Json;

std::string json_name(const Metric& m) {
    return std::string(m.name) + std::string(unit_suffix(m.unit));
}

Json classes(const MemoryClasses& m) {
    return {{"weights_bytes", m.weights},
            {"kv_bytes", m.kv},
            {"scratch_bytes", m.scratch},
            {"other_apps_bytes", m.others},
            {"system_bytes", m.system}};
}

Json quantiles(const Histogram& h) {
    return {{"count", h.count()},
            {"mean_seconds", h.mean()},
            {"p50_seconds", h.quantile(0.5)},
            {"p90_seconds", h.quantile(0.9)},
            {"p95_seconds", h.quantile(0.95)},
            {"p99_seconds", h.quantile(0.99)},
            {"largest_seconds", h.largest()}};
}

/// A quarter of a doubling wide, or narrower where all values are alike: a dozen to a few dozen.
Json buckets(const Histogram& h) {
    std::vector<Histogram::Bucket> all;
    for (const double share : {4.0, 8.0, 16.0, 32.0})
        if (all = h.buckets(std::pow(2.0, 1 / share)); all.size() >= 12) break;
    Json list = Json::array();
    for (const Histogram::Bucket& b : all)
        list.push_back({{"from_seconds", b.low}, {"to_seconds", b.high}, {"count", b.count}});
    return list;
}

Json app_json(const AppResult& a) {
    return {{"name", a.name},
            {"requests", a.arrived},
            {"finished", a.finished},
            {"cut_short", a.cut_short},
            {"refused", a.refused},
            {"unfinished", a.unfinished},
            {"within_objectives", a.good},
            {"prompt_tokens", a.prompt_tokens},
            {"output_tokens", a.output_tokens},
            {"queue", quantiles(a.queue)},
            {"ttft", quantiles(a.ttft)},
            {"tpot", quantiles(a.tpot)},
            {"itl", quantiles(a.itl)},
            {"e2e", quantiles(a.e2e)}};
}

Json metrics_json(const std::vector<RunResult>& runs) {
    Json list = Json::array();
    for (const Metric& m : metrics()) {
        if (m.applies && !m.applies(runs.front())) continue;
        std::vector<double> values;
        for (const RunResult& r : runs) values.push_back(m.value(r, r.all()));
        const Estimate e = estimate(values);
        list.push_back({{"name", json_name(m)},
                        {"definition", m.definition},
                        {"mean", e.mean},
                        {"half_width_95", runs.size() > 1 ? Json(e.half) : Json(nullptr)},
                        {"runs", values}});
    }
    return list;
}

Json answer_json(const CapacityAnswer& a) {
    Json points = Json::array();
    for (const CapacityPoint& p : a.points)
        points.push_back({{"value", p.value},
                          {"holds", p.holds},
                          {"ttft_p95_seconds", p.ttft_p95},
                          {"ttft_p99_seconds", p.ttft_p99},
                          {"tpot_p95_seconds", p.tpot_p95},
                          {"e2e_p95_seconds", p.e2e_p95}});
    Json j{{"question", a.question}, {"best", a.best}, {"bounded", a.bounded}, {"points", points}};
    if (a.question == "pool") {
        j["own_pool_tokens"] = a.now;
        j["best_bytes"] = static_cast<std::int64_t>(static_cast<double>(a.best) * a.token_bytes);
        j["margin_share"] = a.margin;
    }
    if (a.question == "users") j["scenario_users"] = a.users;
    if (a.question == "throttle") {
        j["throttled_runs"] = a.throttled;
        j["runs"] = a.runs;
        j["seconds"] = a.bounded ? Json(a.seconds.mean) : Json(nullptr);
        j["half_width_95_seconds"] = a.throttled > 1 ? Json(a.seconds.half) : Json(nullptr);
    }
    return j;
}

/// Of the process in the memory that the timeline shows; 0 = not limited, or spread over two.
std::int64_t budget_of(const Setup& s) {
    const plan::PoolUse& pool = s.planned.plan.memory.pools[0];
    return pool.limited && !s.spread ? pool.budget.value : 0;
}

}  // namespace

std::string simulate_json(const Setup& s, const std::vector<RunResult>& runs, std::uint64_t seed,
                          const std::vector<CapacityAnswer>& answers) {
    const Scenario& sc = s.scenario;
    Json d = view::document("memwall/simulate/1");
    d["scenario"] = {{"name", sc.name},
                     {"about", sc.about},
                     {"file", sc.file},
                     {"duration_seconds", sc.seconds},
                     {"model", s.planned.prepared.model.id},
                     {"device", s.planned.target.device.id},
                     {"command", plan::command_line(s.planned.prepared.deployment)},
                     {"batching", batching_name(sc.scheduler.batching)},
                     {"max_sequences", sc.scheduler.max_sequences},
                     {"token_budget", sc.scheduler.token_budget},
                     {"context", sc.scheduler.context},
                     {"preemption", preemption_name(sc.scheduler.preemption)},
                     {"admission", admission_name(sc.scheduler.admission)},
                     {"kv_layout", layout_name(sc.kv.layout)},
                     {"between_turns", between_name(sc.kv.between)},
                     {"pool_tokens", s.store.cells},
                     {"token_bytes", s.token_bytes},
                     {"ram_bytes", s.spread ? 0 : sc.pressure.ram},
                     {"budget_bytes", budget_of(s)}};
    d["seed"] = seed;
    d["replications"] = runs.size();
    d["answers"] = Json::array();
    for (const CapacityAnswer& a : answers) d["answers"].push_back(answer_json(a));
    if (!runs.empty()) {
        const RunResult& r = runs.front();
        d["simulated_seconds"] = r.seconds;
        d["interrupted"] = r.interrupted;
        d["metrics"] = metrics_json(runs);
        d["apps"] = Json::array();
        for (const AppResult& a : r.apps) d["apps"].push_back(app_json(a));
        d["prefix_note"] = r.prefix_note.empty() ? Json(nullptr) : Json(r.prefix_note);
        d["peak"] = classes(r.peak);
        d["peak"]["at_seconds"] = r.peak_seconds;
        d["peak"]["owner"] = r.peak_owner.empty() ? Json(nullptr) : Json(r.peak_owner);
        d["mean"] = classes(r.mean);
        const AppResult all = r.all();
        d["histograms"] = {{"ttft", buckets(all.ttft)}, {"tpot", buckets(all.tpot)}};
        if (r.thermal) {
            d["speed_states"] = Json::array();
            for (std::size_t i = 0; i < r.speed_seconds.size(); ++i)
                if (r.speed_seconds[i] > 0)
                    d["speed_states"].push_back({{"from_share", static_cast<double>(i) / 10},
                                                 {"to_share", std::min(1.0, static_cast<double>(i + 1) / 10)},
                                                 {"seconds", r.speed_seconds[i]}});
        }
        d["timeline"] = Json::array();
        for (const TimelinePoint& p : r.timeline) {
            Json point = classes(p.memory);
            point["until_seconds"] = p.seconds;
            point["running"] = p.running;
            point["waiting"] = p.waiting;
            if (r.thermal) point["temperature_celsius"] = p.temperature, point["speed_share"] = p.speed;
            if (r.battery) point["battery_share"] = p.battery;
            d["timeline"].push_back(std::move(point));
        }
    }
    return d.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string metrics_csv(const std::vector<RunResult>& runs) {
    view::TextTable t{{"metric", "mean", "half_width_95"}, {}};
    for (std::size_t i = 0; i < runs.size(); ++i) t.header.push_back(fmt::format("run_{}", i + 1));
    for (const Metric& m : metrics()) {
        if (m.applies && !m.applies(runs.front())) continue;
        std::vector<double> values;
        for (const RunResult& r : runs) values.push_back(m.value(r, r.all()));
        const Estimate e = estimate(values);
        std::vector<std::string> row{json_name(m), fmt::format("{}", e.mean),
                                     runs.size() > 1 ? fmt::format("{}", e.half) : ""};
        for (const double x : values) row.push_back(fmt::format("{}", x));
        t.rows.push_back(std::move(row));
    }
    return view::csv_table(t);
}

std::string timeline_csv(const RunResult& r) {
    view::TextTable t{
        {"until_seconds", "weights_bytes", "kv_bytes", "scratch_bytes", "other_apps_bytes", "system_bytes",
         "running", "waiting", "temperature_celsius", "speed_share", "battery_share"},
        {}};
    for (const TimelinePoint& p : r.timeline)
        t.rows.push_back({fmt::format("{}", p.seconds), fmt::format("{}", p.memory.weights),
                          fmt::format("{}", p.memory.kv), fmt::format("{}", p.memory.scratch),
                          fmt::format("{}", p.memory.others), fmt::format("{}", p.memory.system),
                          fmt::format("{}", p.running), fmt::format("{}", p.waiting),
                          r.thermal ? fmt::format("{}", p.temperature) : "",
                          r.thermal ? fmt::format("{}", p.speed) : "",
                          r.battery ? fmt::format("{}", p.battery) : ""});
    return view::csv_table(t);
}

std::string perfetto_json(const RunResult& r) {
    Json events = Json::array();
    events.push_back({{"name", "process_name"}, {"ph", "M"}, {"pid", 0}, {"args", {{"name", "device"}}}});
    for (std::size_t i = 0; i < r.apps.size(); ++i)
        events.push_back(
            {{"name", "process_name"}, {"ph", "M"}, {"pid", i + 1}, {"args", {{"name", r.apps[i].name}}}});
    for (const TraceSlice& s : r.slices)
        events.push_back({{"name", s.what},
                          {"ph", "X"},
                          {"pid", static_cast<std::uint32_t>(s.app + 1)},  // 0: of no app
                          {"tid", s.request},
                          {"ts", static_cast<double>(s.from) / 1000},
                          {"dur", static_cast<double>(s.to - s.from) / 1000}});
    for (const TimelinePoint& p : r.timeline) {
        const double ts = p.seconds * 1e6;
        Json m = classes(p.memory);
        events.push_back({{"name", "memory"}, {"ph", "C"}, {"pid", 0}, {"ts", ts}, {"args", m}});
        events.push_back({{"name", "requests"},
                          {"ph", "C"},
                          {"pid", 0},
                          {"ts", ts},
                          {"args", {{"running", p.running}, {"waiting", p.waiting}}}});
        if (r.thermal)
            events.push_back({{"name", "temperature"},
                              {"ph", "C"},
                              {"pid", 0},
                              {"ts", ts},
                              {"args", {{"celsius", p.temperature}}}});
    }
    Json d{{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events)}};
    if (r.slices_left_out > 0) d["otherData"] = {{"slices_left_out", r.slices_left_out}};
    return d.dump() + "\n";
}

}  // namespace memwall::sim
