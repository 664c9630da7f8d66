#include <fmt/format.h>

#include "core/plan/options.h"
#include "core/view/json.h"
#include "core/view/json_parts.h"

namespace memwall::view {
namespace {

Json model_part(const plan::Prepared& p) {
    const model::Model& m = p.model;
    return {{"id", m.id},
            {"architecture", m.architecture},
            {"family", m.family},
            {"licence", m.licence},
            {"parameters", model::text_parameters(m)},
            {"active_parameters", model::active_parameters(m)},
            {"layers", m.layers.size()},
            {"hidden", m.hidden},
            {"vocabulary", m.vocabulary},
            {"trained_context", m.trained_context},
            {"tied_embeddings", m.output != model::TiedOutput::untied},
            {"from_file", m.tensors_from_file},
            {"bits_per_weight", quant::bits_per_weight(m, p.formats)}};
}

Json deployment_part(const plan::Prepared& p, const plan::Knobs& k, const plan::Target& t) {
    // Every default resolved, under the names of the options.
    Json d{{"model", p.deployment.model},
           {"device", p.deployment.device},
           {"processor", device::kind_name(t.processor)},
           {"quant", p.recipe},
           {"runtime", p.runtime.profile->name},
           {"runtime_release", p.runtime.release},
           {"context", k.context},
           {"sequences", k.sequences},
           {"kv_k", k.kv_k.name},
           {"kv_v", k.kv_v.name},
           {"batch", k.batch},
           {"ubatch", k.ubatch},
           {"flash_attention", k.flash_attention},
           {"window", k.window},
           {"sinks", k.sinks},
           {"prompt", k.prompt},
           {"cached_prompt", k.cached_prompt},
           {"generate", k.generate},
           {"gpu_layers", k.gpu_layers},
           {"kv_pool", k.kv_on_host ? "host" : "device"},
           {"expert_pool", k.experts_on_host ? "host" : "device"},
           {"offload", p.deployment.offload},
           {"draft", p.deployment.draft},
           {"draft_tokens", k.draft_tokens},
           {"images", k.images},
           {"reserve_bytes", t.reserve.value},
           {"runtime_options", Json::object()},
           {"set", p.deployment.set},
           {"command", plan::command_line(p.deployment)}};
    for (const auto& [key, value] : p.deployment.runtime_options) d["runtime_options"][key] = value;
    return d;
}

Json device_part(const plan::Target& t) {
    Json pools = Json::array();
    for (const device::Pool& pool : t.device.pools)
        pools.push_back({{"name", pool.name},
                         {"capacity_bytes", pool.capacity.value},
                         {"usable_bytes", pool.usable.value},
                         {"usable_rule", pool.usable_rule},
                         {"bandwidth_bytes_per_second", pool.bandwidth.value}});
    return {{"id", t.device.id},
            {"name", t.device.name},
            {"class", t.device.device_class},
            {"os", t.device.os},
            {"confidence", t.device.confidence},
            {"pools", pools}};
}

Json memory_part(const plan::Memory& m) {
    Json out;
    for (std::size_t i = 0; i < plan::kItems; ++i)
        out[fmt::format("{}_bytes", plan::item_name(static_cast<plan::Item>(i)))] = quantity(m.items[i]);
    out["total_bytes"] = quantity(m.total);
    out["resident_bytes"] = quantity(m.resident);
    out["load_peak_bytes"] = quantity(m.load_peak);
    out["file_backed_bytes"] = quantity(m.file_backed);
    out["anonymous_bytes"] = quantity(m.anonymous);
    out["needed_bytes"] = quantity(m.pools[m.deciding_pool].needed);
    out["droppable_bytes"] = quantity(m.pools[0].droppable);
    out["budget_bytes"] = m.budget.value;
    out["headroom_bytes"] = quantity(m.headroom);
    out["pools"] = Json::array();
    for (std::size_t n = 0; n < m.pool_count; ++n) {
        const plan::PoolUse& pool = m.pools[n];
        Json items = Json::object();
        for (std::size_t i = 0; i < plan::kItems; ++i)
            if (pool.items[i].high.value > 0)
                items[fmt::format("{}_bytes", plan::item_name(static_cast<plan::Item>(i)))] =
                    quantity(pool.items[i]);
        out["pools"].push_back({{"name", pool.name},
                                {"capacity_bytes", pool.capacity.value},
                                {"budget_bytes", pool.budget.value},
                                {"used_bytes", quantity(pool.used)},
                                {"needed_bytes", quantity(pool.needed)},
                                {"verdict", plan::verdict_name(pool.verdict)},
                                {"items", items}});
    }
    return out;
}

template <class T>
Json known(bool is_known, const Interval<T>& i) {
    return is_known ? quantity(i) : Json(nullptr);
}

Json speed_part(const plan::Speed& s, const plan::Knobs& k) {
    return {{"decode_tokens_per_second", known(s.decode_known, s.decode)},
            {"decode_all_sequences_tokens_per_second", known(s.decode_known, s.decode_all)},
            {"prefill_tokens_per_second", known(s.prefill_known, s.prefill)},
            {"time_to_first_token_seconds", known(s.prefill_known, s.first_token)},
            {"time_to_first_token_parts",
             {{"tokenization_seconds", known(s.prefill_known, s.tokenization)},
              {"prefill_seconds", known(s.prefill_known, s.prefill_time)},
              {"first_decode_seconds", known(s.prefill_known, s.first_decode)},
              {"load_seconds_if_cold", known(s.load_known, s.load)}}},
            {"job_seconds", known(s.prefill_known, s.job)},
            {"load_seconds", known(s.load_known, s.load)},
            {"sustained_fraction", s.sustained_fraction > 0 ? Json(s.sustained_fraction) : Json(nullptr)},
            {"energy_joules_per_token", known(s.energy_known, s.energy_per_token)},
            {"battery_percent_per_1000_tokens",
             s.battery_percent_per_1000_tokens > 0 ? Json(s.battery_percent_per_1000_tokens) : Json(nullptr)},
            {"speculation", s.speculative ? Json{{"plain_decode_tokens_per_second", quantity(s.plain_decode)},
                                                 {"tokens_per_round", s.tokens_per_round},
                                                 {"break_even_acceptance", s.break_even_acceptance <= 1
                                                                               ? Json(s.break_even_acceptance)
                                                                               : Json(nullptr)}}
                                          : Json(nullptr)},
            {"helps", s.decode_known ? Json(s.helps) : Json(nullptr)},
            {"prompt_tokens", k.prompt},
            {"bound", s.decode_known ? Json(s.bound) : Json(nullptr)}};
}

}  // namespace

std::string plan_json(const plan::Prepared& p, const plan::Knobs& k, const plan::Target& t,
                      const plan::Plan& plan, const plan::Advice& advice, const LedgerItem* ledger_root) {
    Json d = document("memwall/plan/1");
    d["model"] = model_part(p);
    d["deployment"] = deployment_part(p, k, t);
    d["device"] = device_part(t);
    d["memory"] = memory_part(plan.memory);
    d["speed"] = speed_part(plan.speed, k);
    d["quality"] = quality_json(quality::explain(p.model, p.quality, p.recipe_info, plan::kv_choice(p, k)));
    d["verdict"] = plan::verdict_name(plan.verdict);
    d["reason"] = advice.reason;
    d["max_context_tokens"] = advice.max_context_tokens;
    d["kv_exceeds_weights_at_tokens"] =
        advice.kv_exceeds_weights_at_tokens > 0 ? Json(advice.kv_exceeds_weights_at_tokens) : Json(nullptr);
    d["suggestions"] = Json::array();
    for (const plan::Suggestion& s : advice.suggestions)
        d["suggestions"].push_back(
            {{"option", s.option}, {"from", s.from}, {"to", s.to}, {"effect", s.effect}});
    d["warnings"] = Json::array();
    for (const plan::Warning& w : advice.warnings)
        d["warnings"].push_back({{"code", w.code}, {"text", w.text}});
    if (ledger_root) d["ledger"] = ledger(*ledger_root);
    return d.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string compare_json(const std::vector<std::string>& plan_documents, const plan::CoResidence* together) {
    Json d = document("memwall/compare/1");
    d["plans"] = Json::array();
    for (const std::string& text : plan_documents) d["plans"].push_back(Json::parse(text));
    if (together)
        d["together"] = {{"needed_bytes", quantity(together->needed)},
                         {"budget_bytes", together->budget.value},
                         {"verdict", plan::verdict_name(together->verdict)}};
    return d.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace memwall::view
