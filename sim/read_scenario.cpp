#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include "core/base/byte_source.h"
#include "core/base/error.h"
#include "core/plan/options.h"
#include "devices/quantity.h"
#include "sim/scenario.h"
#include "sim/scenario_values.h"

namespace memwall::sim {
namespace {

constexpr Text kSchema = "memwall/scenario/1";

constexpr double kMostArrivals = 1e5;  // a second: far beyond what a device answers

class Reader {
  public:
    Reader(const std::string& text, const std::string& file)
        : file_(file), top_(devices::parse_yaml(text, file)) {}

    Scenario read() {
        YamlFields f(top_, file_);
        std::string schema;
        f.read("schema", schema);
        if (schema != kSchema) throw Error(f.place(), "no scenario", fmt::format("'schema: {}'", kSchema));
        s_.file = file_;
        note_places(top_, "");
        f.read("name", s_.name);
        f.read("about", s_.about);
        f.read("duration", s_.seconds, parse_time);
        if (s_.seconds < kShortestRun || s_.seconds > kLongestRun)
            throw Error(f.place("duration"), fmt::format("duration: {:g} s", s_.seconds),
                        "1 ms at least, at most 95 years");
        f.read("starts_at", s_.start_hour, 24.0);
        std::int64_t seed = 1;
        f.read("seed", seed, std::int64_t{1} << 53);
        s_.seed = static_cast<std::uint64_t>(seed);
        f.read("replications", s_.replications, 1'000'000);
        refuse_zero(f, "replications", static_cast<double>(s_.replications), "1 at least");
        deployment(f.require("deployment"));
        if (const YAML::Node n = f.take("serving")) serving(n);
        if (const YAML::Node n = f.take("kv")) kv(n);
        apps(f.require("apps"));
        if (const YAML::Node n = f.take("memory")) memory(n);
        if (const YAML::Node n = f.take("load")) load(n);
        if (const YAML::Node n = f.take("thermal")) thermal(n);
        if (const YAML::Node n = f.take("power")) power(n);
        read_rate(f, "shared_bandwidth", s_.conditions.taken_bandwidth);
        if (const YAML::Node n = f.take("objectives")) objectives(n);
        f.done();
        return std::move(s_);
    }

  private:
    void note_places(const YAML::Node& map, const std::string& before) {
        for (const auto& item : map) {
            if (!item.first.IsScalar()) continue;
            const std::string key = before + item.first.Scalar();
            s_.places[key] = devices::place_of(item.first, file_);
            if (item.second.IsMap()) note_places(item.second, key + ".");
        }
    }

    void deployment(const YAML::Node& node) {
        if (!node.IsMap())
            throw Error(devices::place_of(node, file_), "no mapping", "model: ..., device: ...");
        s_.scheduler.context = s_.scheduler.max_sequences = 0;
        s_.scheduler.token_budget = 0;
        for (const auto& item : node) {
            const std::string key = devices::scalar_text(item.first, file_);
            const std::string place = devices::place_of(item.first, file_);
            const plan::Option* option = plan::find_option(key == "runtime_options" ? "runtime-option" : key);
            if (key == "model")
                s_.deployment.model = devices::scalar_text(item.second, file_);
            else if (!option)
                throw Error(place, fmt::format("unknown key '{}'", key.substr(0, 60)),
                            "an option of `memwall plan`");
            else if (item.second.IsMap() && option->name == "runtime-option")
                for (const auto& x : item.second)
                    option->set(
                        s_.deployment,
                        devices::scalar_text(x.first, file_) + "=" + devices::scalar_text(x.second, file_),
                        devices::place_of(x.first, file_));
            else if (item.second.IsSequence() && !option->repeatable)
                throw Error(place, key + ": a list", "a single value");
            else
                for (const std::string& value : devices::scalar_list(item.second, file_))
                    YamlFields::naming(key, [&] { option->set(s_.deployment, value, place); });
        }
        if (s_.deployment.model.empty())
            throw Error(devices::place_of(node, file_), "no 'model'", "model: ID or FILE");
    }

    void serving(const YAML::Node& node) {
        YamlFields f(node, file_);
        SchedulerSettings& s = s_.scheduler;
        choose(f, "batching", s.batching, 2, batching_name);
        f.read("max_sequences", s.max_sequences, 4096);
        refuse_zero(f, "max_sequences", static_cast<double>(s.max_sequences), "1 at least");
        f.read("token_budget", s.token_budget, 1'000'000);
        refuse_zero(f, "token_budget", static_cast<double>(s.token_budget), "1 at least");
        read_switch(f, "chunked_prefill", s.chunked);
        f.read("partial_prompts", s.partial_prompts, 4096);
        refuse_zero(f, "partial_prompts", static_cast<double>(s.partial_prompts), "1 at least");
        choose(f, "preemption", s.preemption, 2, preemption_name);
        choose(f, "admission", s.admission, 2, admission_name);
        read_switch(f, "priorities", s.priorities);
        choose(f, "first_token", s.first_token_from_prompt, 2,
               [](bool from_prompt) { return Text(from_prompt ? "prompt" : "decode"); });
        f.read("expert_skew", s_.conditions.expert_skew, 10.0);
        f.done();
    }

    void kv(const YAML::Node& node) {
        YamlFields f(node, file_);
        KvScenario& k = s_.kv;
        choose(f, "layout", k.layout, 2, layout_name);
        read_bytes(f, "pool", k.pool_bytes);
        refuse_zero(f, "pool", static_cast<double>(k.pool_bytes), "a size above 0");
        f.read("block_tokens", k.block_tokens, 65536);
        refuse_zero(f, "block_tokens", static_cast<double>(k.block_tokens), "1 at least");
        read_switch(f, "prefix_cache", k.prefix_cache);
        choose(f, "fit", k.fit, 3, fit_name);
        choose(f, "between_turns", k.between, 4, between_name);
        f.read("compressed_share", k.compressed_share, parse_share);
        refuse_zero(f, "compressed_share", k.compressed_share);
        read_rate(f, "compress_rate", k.compress_rate);
        refuse_zero(f, "compress_rate", k.compress_rate);
        read_rate(f, "swap_bandwidth", k.swap_bandwidth);
        refuse_zero(f, "swap_bandwidth", k.swap_bandwidth);
        f.read("swap_latency", k.swap_latency, parse_time);
        read_bytes(f, "swap_space", k.swap_bytes);
        if (const YAML::Node n = f.take("tier")) {
            YamlFields t(n, file_);
            t.require("bandwidth");
            KvTier& tier = s_.conditions.tier;
            read_rate(t, "bandwidth", tier.bandwidth);
            t.read("latency", tier.latency, parse_time);
            read_switch(t, "overlaps", tier.overlaps);
            refuse_zero(t, "bandwidth", tier.bandwidth);
            t.done();
        }
        f.done();
    }

    void apps(const YAML::Node& node) {
        std::set<std::string> names;
        for (const YAML::Node& n : devices::list_of(node, file_)) {
            s_.apps.push_back(app(n));
            if (!names.insert(s_.apps.back().name).second)
                throw Error(devices::place_of(n, file_),
                            fmt::format("a second app '{}'", s_.apps.back().name), "another name");
        }
        if (s_.apps.empty()) throw Error(devices::place_of(node, file_), "no apps", "one at least");
        if (s_.apps.size() > 1000)
            throw Error(devices::place_of(node, file_), "more than 1,000 apps", "fewer");
    }

    App app(const YAML::Node& node) {
        YamlFields f(node, file_);
        App a;
        f.require("name");
        f.read("name", a.name);
        if (a.name.empty()) throw Error(f.place("name"), "name: ''", "a name");
        std::int64_t priority = 0;
        f.read("priority", priority, 1000);
        a.priority = static_cast<int>(priority);
        f.read("users", a.users, 1e6);
        f.read("trace", a.trace_file);
        if (!a.trace_file.empty()) {
            namespace fs = std::filesystem;
            const fs::path path = fs::path(a.trace_file).is_absolute()
                                      ? fs::path(a.trace_file)
                                      : fs::path(file_).parent_path() / a.trace_file;
            a.trace = std::make_shared<std::vector<TraceRequest>>(
                read_trace(read_text_file(path.string()), path.string()));
            a.arrivals.kind = Arrivals::Kind::trace;
        } else {
            arrivals(f.require("arrivals"), a.arrivals);
            f.require("prompt");
            read_count_law(f, "prompt", a.prompt);
            f.require("output");
            read_count_law(f, "output", a.output);
            read_count_law(f, "turns", a.turns);
            read_law(f, "think", a.think, parse_time);
            f.read("shared_prefix", a.shared_prefix, 100'000'000);
            read_switch(f, "keeps_history", a.keeps_history);
        }
        f.read("max_output", a.max_output, 100'000'000);
        refuse_zero(f, "max_output", static_cast<double>(a.max_output), "1 at least");
        if (a.arrivals.per_second * a.users > kMostArrivals)
            throw Error(f.place(), fmt::format("{:g} arrivals a second", a.arrivals.per_second * a.users),
                        fmt::format("at most {:g}", kMostArrivals));
        f.done();
        return a;
    }

    void arrivals(const YAML::Node& node, Arrivals& a) {
        YamlFields f(node, file_);
        choose(f, "law", a.kind, 4, arrivals_name);
        f.require("rate");
        f.read("rate", a.per_second, parse_frequency);
        if (a.kind == Arrivals::Kind::gamma) f.read("cv", a.cv, 100.0);
        if (a.kind == Arrivals::Kind::diurnal) {
            a.hours = waking_hours();
            if (const YAML::Node n = f.take("hours")) {
                const auto texts = devices::scalar_list(n, file_);
                if (texts.size() != 24)
                    throw Error(devices::place_of(n, file_), fmt::format("{} weights", texts.size()), "24");
                for (std::size_t i = 0; i < 24; ++i)
                    a.hours[i] = devices::parse_number(texts[i], devices::place_of(n, file_));
                if (*std::max_element(a.hours.begin(), a.hours.end()) <= 0)
                    throw Error(devices::place_of(n, file_), "hours: all weights are 0", "one above 0");
            }
        }
        f.done();
    }

    void memory(const YAML::Node& node) {
        YamlFields f(node, file_);
        PressureSettings& p = s_.pressure;
        // The sizes of RAM and card are filled in when the device is opened; -1 = asked for.
        read_bytes(f, "card", p.card_taken);
        if (p.card_taken > 0) p.card_budget = -1;
        if (p.card_taken == 0) f.require("system");
        const bool host = static_cast<bool>(f.take("system"));
        if (host) p.ram = -1;
        read_bytes(f, "system", p.system);
        choose(f, "killer", p.killer, 4, killer_name);
        choose(f, "page_cache", p.replacement, 3, replacement_name);
        f.read("lru_share", p.lru_share, parse_share);
        read_adj(f, "adj_busy", p.adj_busy);
        read_adj(f, "adj_idle", p.adj_idle);
        f.read("medium", p.medium, parse_share);
        f.read("critical", p.critical, parse_share);
        f.read("thrashing", p.thrashing, 1000.0);
        f.read("app_limit", p.app_limit, parse_share);
        if (const YAML::Node list = f.take("others"))
            for (const YAML::Node& n : devices::list_of(list, file_)) {
                YamlFields o(n, file_);
                OtherApp app;
                o.require("name");
                o.read("name", app.name);
                read_bytes(o, "card", app.card);
                if (app.card > 0) p.card_budget = -1;
                if (app.card == 0) o.require("size");
                if (o.take("size") && !host)
                    throw Error(o.place(), "memory of an app on a host whose own use is not said",
                                "'system' in 'memory:'");
                read_bytes(o, "size", app.bytes);
                if (p.killer == Killer::oom) app.adj = 0;  // what Linux gives a process
                read_adj(o, "adj", app.adj);
                o.read("opens", app.opens_per_second, parse_frequency);
                refuse_zero(o, "opens", app.opens_per_second,
                            "above 0, or nothing for one that is there from the start");
                o.read("stays", app.stays, parse_time);
                refuse_zero(o, "stays", app.stays, "above 0, or nothing for one that stays");
                o.done();
                p.others.push_back(std::move(app));
            }
        f.done();
    }

    void load(const YAML::Node& node) {
        YamlFields f(node, file_);
        choose(f, "start", s_.load.warm, 2, [](bool warm) { return Text(warm ? "warm" : "cold"); });
        f.read("unload_after", s_.load.unload_after, parse_time);
        refuse_zero(f, "unload_after", s_.load.unload_after, "above 0, or nothing for never");
        f.read("fixed", s_.load.fixed, parse_time);
        f.read("first", s_.load.first, parse_time);
        if (s_.load.first > 0 && s_.load.warm)
            throw Error(f.place("first"), "'first' for a model that is loaded at the start", "'start: cold'");
        f.done();
    }

    void thermal(const YAML::Node& node) {
        YamlFields f(node, file_);
        ThermalSettings& t = s_.thermal;
        f.require("resistance");
        f.read("resistance", t.resistance, 1000.0);
        refuse_zero(f, "resistance", t.resistance);
        read_degrees(f, "ambient", t.ambient);
        t.start = t.ambient;
        read_degrees(f, "start", t.start);
        f.read("time_constant", t.time_constant, parse_time);
        refuse_zero(f, "time_constant", t.time_constant);
        read_degrees(f, "from", t.from);
        read_degrees(f, "span", t.span);
        refuse_zero(f, "span", t.span);
        f.read("floor", t.floor, parse_share);
        refuse_zero(f, "floor", t.floor, "above 0; cut_off stops the chip");
        read_degrees(f, "cut_off", t.cut_off);
        t.resume = t.cut_off - 5;
        read_degrees(f, "resume", t.resume);
        if (t.resume >= t.cut_off && t.cut_off < 1e9)
            throw Error(f.place("resume"),
                        fmt::format("resume: {:g} is not below cut_off {:g}", t.resume, t.cut_off), "cooler");
        for (const char* key : {"from", "span", "floor"})
            if (f.given("levels") && f.given(key))
                throw Error(f.place(key), fmt::format("{} beside levels", key), "one governor of the two");
        if (const YAML::Node list = f.take("levels"))
            for (const YAML::Node& n : devices::list_of(list, file_)) {
                YamlFields l(n, file_);
                ThermalSettings::Level level;
                l.require("enter");
                read_degrees(l, "enter", level.enter);
                level.leave = level.enter - 2;
                read_degrees(l, "leave", level.leave);
                l.require("speed");
                l.read("speed", level.speed, parse_share);
                l.done();
                const bool higher = t.levels.empty() || level.enter > t.levels.back().enter;
                if (!higher || level.leave > level.enter || level.speed <= 0)
                    throw Error(l.place(), "a level out of order",
                                "rising 'enter', 'leave' below it, speed above 0");
                t.levels.push_back(level);
            }
        f.done();
    }

    void power(const YAML::Node& node) {
        YamlFields f(node, file_);
        BatterySettings& b = s_.battery;
        f.read("battery", b.watt_hours, devices::parse_watt_hours);
        refuse_zero(f, "battery", b.watt_hours);
        f.read("start", b.start, parse_share);
        f.read("cut_off", b.cut_off, parse_share);
        f.read("resistance", b.resistance, 100.0);
        f.read("volts", b.volts, 1000.0);
        refuse_zero(f, "volts", b.volts);
        f.read("charger", b.charger_watts, devices::parse_watts);
        f.read("plugged_from", b.plug_hour, 24.0);
        f.read("plugged_to", b.unplug_hour, 24.0);
        f.read("idle", s_.idle_watts, devices::parse_watts);
        f.read("active", s_.active_watts, devices::parse_watts);
        f.done();
    }

    void objectives(const YAML::Node& node) {
        YamlFields f(node, file_);
        for (const auto& [key, to] : {std::pair{"ttft_p95", &s_.objectives.ttft_p95},
                                      {"ttft_p99", &s_.objectives.ttft_p99},
                                      {"tpot_p95", &s_.objectives.tpot_p95},
                                      {"e2e_p95", &s_.objectives.e2e_p95}}) {
            f.read(key, *to, parse_time);
            refuse_zero(f, key, *to);
        }
        f.done();
    }

    const std::string& file_;
    YAML::Node top_;
    Scenario s_;
};

}  // namespace

Error placed(const Scenario& s, const Error& e) {
    std::string key = e.place() == s.deployment.device  ? "deployment.device"
                      : e.place() == s.deployment.model ? "deployment.model"
                                                        : e.place();
    if (key.starts_with("--")) {
        key = "deployment." + key.substr(2);
        std::replace(key.begin(), key.end(), '-', '_');
    } else if (key == "MODEL" || key == "model") {
        key = "deployment.model";
    }
    if (key.find(':') != std::string::npos) return e;  // has a place in some file
    auto it = s.places.find(key);
    if (it != s.places.end() && it->second.empty()) return e;  // an option of the command line
    // What is not there follows from its section, or from what is deployed.
    const bool ours =
        !key.empty() && key.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789.") == std::string::npos;
    if (!ours) return e;
    if (it == s.places.end()) it = s.places.find(key.substr(0, key.find('.')));
    if (it == s.places.end()) it = s.places.find("deployment");
    if (it == s.places.end()) return e;
    return {it->second, key + ": " + e.found(), e.expected(), e.hint()};
}

std::string_view between_name(Between b) {
    constexpr std::array<std::string_view, 4> kNames{"drop", "keep", "compress", "swap"};
    return kNames[static_cast<std::size_t>(b)];
}

Scenario read_scenario(const std::string& text, const std::string& file) {
    return Reader(text, file).read();
}

Scenario open_scenario(const std::string& argument) {
    std::vector<std::string> names;
    for (const EmbeddedFile& f : scenario_presets()) {
        std::string name(f.path.substr(f.path.rfind('/') + 1));
        name.resize(name.size() - std::string(".yaml").size());
        if (name == argument) return read_scenario(std::string(f.text()), argument);
        names.push_back(std::move(name));
    }
    if (argument.ends_with(".yaml") || argument.ends_with(".yml"))
        return read_scenario(read_text_file(argument, std::uint64_t{1} << 20), argument);
    throw Error("SCENARIO", fmt::format("'{}'", argument.substr(0, 60)),
                fmt::format("a .yaml file or one of {}", fmt::join(names, ", ")));
}

}  // namespace memwall::sim
