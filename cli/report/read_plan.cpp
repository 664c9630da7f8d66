// memwall/plan/1 into a report: memory, speed, operators, assumptions and sources of one configuration.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "cli/report/read_document.h"
#include "core/base/error.h"
#include "core/base/size_text.h"
#include "core/view/plan_text.h"
#include "core/view/quantity_text.h"

namespace memwall::cli {
namespace {

std::string item_key(std::size_t i) {
    return std::string(plan::item_name(static_cast<plan::Item>(i))) + "_bytes";
}

std::string in_words(std::string name) {
    if (name == "kv_cache") return "KV cache";
    std::replace(name.begin(), name.end(), '_', ' ');
    return name;
}

void read_memory(Report& r, const Json& memory) {
    for (std::size_t i = 0; i < plan::kItems; ++i) {
        const auto amount = quantity_of<Bytes>(memory.at(item_key(i)));
        if (amount.high.value == 0) continue;
        const auto item = static_cast<plan::Item>(i);
        r.memory.push_back({std::string(kPartWords[static_cast<std::size_t>(part_of(item))].style),
                            std::string(view::item_words(item)), view::text(amount), view::range_text(amount),
                            std::string(amount.basis)});
    }
    for (const Json& pool : memory.at("pools")) {
        PoolBar bar;
        bar.name = pool.at("name").get<std::string>();
        bar.capacity = pool.at("capacity_bytes");
        bar.budget = pool.at("budget_bytes");
        bar.needed = quantity_of<Bytes>(pool.at("needed_bytes"));
        std::array<double, plan::kItems> items{};
        for (std::size_t i = 0; i < plan::kItems; ++i)
            if (pool.at("items").contains(item_key(i)))
                items[i] = pool["items"][item_key(i)].at("central").get<double>();
        bar.parts = parts_needed(items, pool.at("used_bytes").at("central"), bar.needed.central.as_double());
        r.pools.push_back(std::move(bar));
    }
}

void read_speed(Report& r, const Json& speed) {
    const auto add = [&](const char* key, const char* name, auto unit, const char* suffix) {
        const Json& value = speed.at(key);
        if (value.is_null()) return;
        const auto q = quantity_of<decltype(unit)>(value);
        r.speed.push_back({"", name, view::text(q) + suffix, view::range_text(q), std::string(q.basis)});
    };
    add("decode_tokens_per_second", "decode", PerSecond{}, " tokens/s");
    add("prefill_tokens_per_second", "prefill", PerSecond{}, " tokens/s");
    add("time_to_first_token_seconds", "first token", Seconds{}, "");
    add("job_seconds", "whole job", Seconds{}, "");
    add("load_seconds", "load from cold storage", Seconds{}, "");
    if (speed.at("bound").is_string())
        r.assumptions.push_back(fmt::format("Decode is bound by {}; what would help most is {}.",
                                            speed["bound"].get<std::string>(),
                                            speed.at("helps").get<std::string>()));
}

/// A ledger input by name: "1.87 GiB", "67.2 GB/s". The ledger prints three digits, enough for a logarithmic
/// axis.
std::string input(const Json& item, std::string_view name) {
    if (item.contains("inputs"))
        for (const Json& i : item["inputs"])
            if (i.at("name").get<std::string>() == name) return i.at("value").get<std::string>();
    return "";
}

double size_input(const Json& item, std::string_view name) {
    const std::string text = input(item, name);
    return text.empty() ? 0 : parse_bytes(text, "ledger").as_double();
}

void read_operators(Report& r, const Json& phase, bool prefill) {
    const double total = phase.at("value").at("central");
    if (!phase.contains("children")) return;
    for (const Json& item : phase["children"]) {
        const double seconds = item.at("value").at("central");
        const double bytes = size_input(item, "weights read") + size_input(item, "cache read");
        const std::string work = input(item, "operations");  // "1.41 G"
        double operations = 0;
        std::from_chars(work.data(), work.data() + work.size(), operations);
        if (!(seconds > 0 && bytes > 0 && operations > 0 && total > 0)) continue;
        r.roofline.operators.push_back({in_words(item.at("name").get<std::string>()), prefill,
                                        operations * 1e9 / bytes, operations * 1e9 / seconds, seconds / total,
                                        input(item, "bound")});
    }
}

void read_ledger(Report& r, const Json& item) {
    const std::string name = item.at("name").get<std::string>();
    if (item.contains("inputs"))
        for (const Json& i : item["inputs"]) {
            const std::string from = i.at("source").get<std::string>();
            const std::string what = i.at("name").get<std::string>();
            if (what == "not claimed" || from.starts_with("option ")) continue;
            const auto known = std::find_if(r.sources.begin(), r.sources.end(),
                                            [&](const Source& s) { return s.from == from; });
            if (known == r.sources.end())
                r.sources.push_back({what, from});
            else if ((", " + known->what + ",").find(", " + what + ",") == std::string::npos &&
                     known->what.size() < 120)
                known->what += ", " + what;
        }
    if (name == "decode") {
        const auto rate = [&](const char* what) {
            const std::string text = input(item, what);
            return text.empty() ? 0 : parse_bytes_per_second(text, "ledger").value;
        };
        r.roofline.bandwidth = rate("bandwidth");
        r.roofline.reachable_bandwidth = rate("eff_w x bandwidth");
    } else if (name == "prefill") {
        const auto rate = [&](const char* what) {
            const std::string text = input(item, what);
            return text.empty() ? 0 : parse_ops_per_second(text, "ledger").value;
        };
        r.roofline.peak = rate("peak");
        r.roofline.reachable_peak = rate("u x peak");
    } else if (name == "decode_operators" || name == "prefill_operators") {
        read_operators(r, item, name == "prefill_operators");
    }
    if (item.contains("children") && name != "batching")
        for (const Json& child : item["children"]) read_ledger(r, child);
}

void read_assumptions(Report& r, const Json& j) {
    const Json& d = j.at("deployment");
    const auto text = [&](const char* key) { return d.at(key).get<std::string>(); };
    r.assumptions.push_back(fmt::format(
        "{} {} on the {}: batch {}, micro-batch {}, flash attention {}; {} sequence{} of {} tokens.",
        text("runtime"), text("runtime_release"), text("processor"), count_text(d.at("batch")),
        count_text(d.at("ubatch")), d.at("flash_attention").get<bool>() ? "on" : "off",
        d.at("sequences").get<std::int64_t>(), d.at("sequences").get<std::int64_t>() == 1 ? "" : "s",
        count_text(d.at("context"))));
    r.assumptions.push_back(
        fmt::format("A job is a prompt of {} tokens and {} generated ones; latency is its time.",
                    count_text(d.at("prompt")), count_text(d.at("generate"))));
    const Json& device = j.at("device");
    for (const Json& pool : device.at("pools"))
        if (pool.at("usable_bytes").get<std::int64_t>() > 0)
            r.assumptions.push_back(
                fmt::format("Of {} of {} one process may use {} (rule {}).",
                            bytes_text(Bytes(pool.at("capacity_bytes").get<std::int64_t>())),
                            pool.at("name").get<std::string>(),
                            bytes_text(Bytes(pool.at("usable_bytes").get<std::int64_t>())),
                            pool.at("usable_rule").get<std::string>()));
    r.assumptions.push_back(fmt::format("The device's description has {} confidence.",
                                        device.at("confidence").get<std::string>()));
    const Json& quality = j.at("quality");
    r.assumptions.push_back(
        fmt::format("Quality is {} against the unquantized model.", quality.at("status").get<std::string>()));
    for (const Json& flag : quality.at("flags"))
        r.assumptions.push_back("Quality: " + flag.at("text").get<std::string>() + ".");
    for (const Json& one : quality.at("not_claimed")) r.not_claimed.push_back(one.get<std::string>());
    for (const Json& w : j.at("warnings")) r.warnings.push_back(w.at("text").get<std::string>());
    for (const Json& set : d.at("set")) r.assumptions.push_back("What-if: " + set.get<std::string>() + ".");
}

}  // namespace

void read_plan(Report& r, const Json& j) {
    if (!r.searched()) {
        r.model = j.at("model").at("id").get<std::string>();
        r.device = j.at("device").at("name").get<std::string>();
        r.question = fmt::format("Does {} run on {} as configured?", r.model, r.device);
        r.command = j.at("deployment").at("command").get<std::string>();
        r.verdict = j.at("verdict").get<std::string>();
        r.answer = fmt::format("{}: {}", r.verdict == "fits" ? "It fits" : in_words(r.verdict),
                               j.at("reason").get<std::string>());
        for (const Json& s : j.at("suggestions"))
            r.answer += fmt::format("; with {} {} it {}", s.at("option").get<std::string>(),
                                    s.at("to").get<std::string>(), s.at("effect").get<std::string>());
        r.context = j.at("deployment").at("context");
    }
    // Where nothing is admitted, the plan is of the closest: the command shows that one.
    if (r.searched() && r.best[static_cast<std::size_t>(r.priority)] < 0)
        r.command = j.at("deployment").at("command").get<std::string>();
    r.max_context = j.at("max_context_tokens");
    r.context_budget = j.at("memory").at("budget_bytes");
    read_memory(r, j.at("memory"));
    read_speed(r, j.at("speed"));
    read_assumptions(r, j);
    if (j.contains("ledger")) read_ledger(r, j["ledger"]);
}

void read_document(Report& r, const std::string& text, const std::string& place) {
    const std::string expected =
        "a document of `memwall recommend --json`, `plan --json` or `simulate --json`";
    const Json j = Json::parse(text, nullptr, false);
    if (!j.is_object() || !j.contains("schema") || !j["schema"].is_string())
        throw Error(place, "no document", expected);
    static const std::map<std::string, void (*)(Report&, const Json&)> readers{
        {"memwall/recommend/1", read_recommendation},
        {"memwall/plan/1", read_plan},
        {"memwall/simulate/1", read_simulation}};
    const auto reader = readers.find(j["schema"].get<std::string>());
    if (reader == readers.end())
        throw Error(place, fmt::format("'{}'", j["schema"].get<std::string>()), expected);
    try {
        r.versions = fmt::format("memwall {}, data of {}", j.at("memwall_version").get<std::string>(),
                                 j.at("data_version").get<std::string>());
        reader->second(r, j);
    } catch (const Error& e) {
        throw Error(place, e.found(), e.expected());
    } catch (const Json::exception& e) {
        throw Error(place, e.what(), expected);
    } catch (const std::out_of_range&) {
        throw Error(place, "an index of no candidate", expected);
    }
}

}  // namespace memwall::cli
