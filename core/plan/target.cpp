// A device as one prepared model uses it, and the knobs with every default filled in.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "core/base/error.h"
#include "core/base/size_text.h"
#include "core/plan/prepare.h"

namespace memwall::plan {
namespace {

using device::Processor;
using device::ProcessorKind;

bool holds(const std::vector<std::string>& list, std::string_view word) {
    return std::find(list.begin(), list.end(), word) != list.end();
}

/// Whether the runtime's usual builds take this processor without being asked to.
bool usual(const runtime::Profile& profile, const Processor& p) {
    if (!holds(profile.processors, device::kind_name(p.kind))) return false;
    return p.kind == ProcessorKind::gpu ? holds(profile.gpu_classes, p.efficiency_class) : true;
}

/// The processor asked for; else a GPU the runtime usually runs on, a processor with a memory of its own, the
/// CPU, whatever there is.
const Processor& choose(const device::Device& d, const runtime::Profile& profile, const std::string& wanted) {
    if (!wanted.empty()) {
        for (const Processor& p : d.processors)
            if (device::kind_name(p.kind) == wanted) return p;
        std::vector<std::string_view> have;
        for (const Processor& p : d.processors) have.push_back(device::kind_name(p.kind));
        throw Error("--processor", fmt::format("{} has no {}", d.name, wanted),
                    fmt::format("one of {}", fmt::join(have, ", ")));
    }
    const auto rank = [&](const Processor& p) {
        if (!usual(profile, p)) return 4;
        if (p.kind == ProcessorKind::gpu) return 0;
        if (p.pool != d.pools.front().name && !p.pool.empty()) return 1;
        if (p.kind == ProcessorKind::cpu && (!p.efficiency_class.empty() || d.processors.size() == 1))
            return 2;
        return p.efficiency_class.empty() ? 4 : 3;
    };
    return *std::min_element(d.processors.begin(), d.processors.end(),
                             [&](const Processor& a, const Processor& b) { return rank(a) < rank(b); });
}

std::size_t pool_index(const device::Device& d, const std::string& name) {
    for (std::size_t i = 0; i < d.pools.size(); ++i)
        if (d.pools[i].name == name) return i;
    return 0;
}

/// The engine key `isa`: names joined by '+' that a rule of the profile knows, or "none" for none of them.
std::vector<std::string> read_isa(const std::string& text, const runtime::Profile& profile) {
    if (text == "none") return {};
    std::vector<std::string> known{"none"}, isa;
    for (const runtime::RepackRule& r : profile.repack) known.push_back(r.isa);
    std::size_t start = 0;
    do {
        const std::size_t end = std::min(text.find('+', start), text.size());
        isa.push_back(text.substr(start, end - start));
        if (!holds(known, isa.back()))
            throw Error("--runtime-option isa", fmt::format("'{}'", isa.back()),
                        fmt::format("one of {}", fmt::join(known, ", ")));
        start = end + 1;
    } while (start <= text.size());
    return isa;
}

void find_copies(Target& t, const Prepared& p, const Processor& cpu, const std::string& isa_option) {
    t.mapped = memory::mapped_bytes(p.model, p.formats, nullptr) + p.output_copy;
    if (t.processor != ProcessorKind::cpu) return;
    const runtime::Profile& profile = *p.runtime.profile;
    const bool given = !isa_option.empty();
    const std::vector<std::string> isa = given ? read_isa(isa_option, profile) : cpu.isa;
    t.measured_buffers = std::any_of(
        isa.begin(), isa.end(), [&](const std::string& name) { return holds(profile.compute_isa, name); });
    if (const runtime::RepackRule* rule = memory::repack_rule(profile, isa)) {
        t.repacked = memory::repacked_bytes(p.model, p.formats, *rule);
        t.mapped = memory::mapped_bytes(p.model, p.formats, rule) + p.output_copy;
        t.repack_basis = holds(profile.measured_isa, rule->isa)
                             ? kExact
                             : "rule read from the engine's source for this instruction set, not measured";
    } else if (isa.empty() && !given) {
        // Instruction set unknown: none to the largest set of copies any rule makes.
        for (const runtime::RepackRule& r : profile.repack)
            t.repacked = std::max(t.repacked, memory::repacked_bytes(p.model, p.formats, r));
        t.repacked_uncertain = t.repacked.value > 0;
        t.repack_basis = "instruction set unknown: no copy to all";
    }
}

std::string option_of(const Deployment& d, const std::string& key) {
    const auto it = d.runtime_options.find(key);
    return it == d.runtime_options.end() ? "" : it->second;
}

bool flag(const Deployment& d, const std::string& key, bool otherwise) {
    const std::string text = option_of(d, key);
    if (text.empty()) return otherwise;
    for (std::string_view yes : {"on", "1", "true", "yes"})
        if (text == yes) return true;
    for (std::string_view no : {"off", "0", "false", "no"})
        if (text == no) return false;
    throw Error("--runtime-option", fmt::format("{}={}", key, text), "on or off");
}

quant::KvType kv_type(const Prepared& p, const std::string& name, const char* place) {
    const auto& supported = p.runtime.profile->kv_types;
    const std::string wanted = name.empty() ? supported.front() : name;
    const auto type = quant::parse_kv_type(wanted);
    if (!type || !holds(supported, type->name))
        throw Error(place, fmt::format("'{}'", wanted),
                    fmt::format("a KV type of {}: {}", p.runtime.profile->name, fmt::join(supported, " ")));
    return *type;
}

constexpr std::string_view kEngineKeys[] = {"n_ctx", "kv_unified", "swa_full", "n_outputs_max",
                                            "mmap",  "repack",     "isa",      "engine_year"};

}  // namespace

Target aim(const Prepared& p, device::Device d) {
    Target t;
    const runtime::Profile& profile = *p.runtime.profile;
    const Deployment& dep = p.deployment;
    if (d.processors.empty() || d.pools.empty())
        throw Error("--device", d.name + " has no processor or memory", "at least one of each");
    const Processor chosen = choose(d, profile, dep.processor);
    t.processor = chosen.kind;
    t.pool = chosen.pool.empty() ? 0 : pool_index(d, chosen.pool);
    t.discrete = d.pools[t.pool].name != "ram";
    if (t.discrete)
        for (std::size_t i = 0; i < d.pools.size(); ++i)
            if (d.pools[i].name == "ram") t.host_pool = static_cast<int>(i);
    t.reserve = dep.reserve;
    t.budget_override = dep.budget;
    t.largest_allocation = chosen.max_allocation;
    find_copies(t, p, chosen, option_of(dep, "isa"));

    if (!holds(profile.processors, device::kind_name(t.processor))) t.refusal = Reason::runtime_processor;
    const bool experts = std::any_of(p.model.layers.begin(), p.model.layers.end(),
                                     [](const model::Layer& l) { return l.experts.has_value(); });
    if (t.processor == ProcessorKind::npu && experts && !profile.routes_experts_on_npu)
        t.refusal = Reason::npu_routing;

    if (!p.recipe_loads) t.refusal = Reason::recipe;

    speed::EngineInfo engine;
    engine.flash_attention = dep.flash_attention != Switch::off;
    if (const std::string year = option_of(dep, "engine_year"); !year.empty())
        engine.year = static_cast<int>(parse_count(year, "--runtime-option engine_year"));
    engine.prompt_chunk = t.processor == ProcessorKind::npu ? profile.prompt_chunk : 0;
    speed::MachineOptions options;
    options.threads = static_cast<int>(dep.threads);
    try {
        t.machine = speed::machine_for(d, t.processor, engine, options);
        t.machine_known = true;
    } catch (const Error&) {
        t.machine_known = false;  // no bandwidth or no prior: the plan says so and stays silent on speed
    }
    if (t.discrete && d.processor(ProcessorKind::cpu)) {
        try {
            t.host_machine = speed::machine_for(d, ProcessorKind::cpu, engine, options);
            t.host_machine_known = true;
        } catch (const Error&) {
            t.host_machine_known = false;
        }
    }
    t.device = std::move(d);
    if (p.draft) t.draft = std::make_shared<Target>(aim(*p.draft, t.device));
    return t;
}

Knobs resolve_knobs(const Prepared& p, const Target& t) {
    const Deployment& d = p.deployment;
    const runtime::Profile& profile = *p.runtime.profile;
    for (const auto& [key, value] : d.runtime_options)
        if (std::find(std::begin(kEngineKeys), std::end(kEngineKeys), key) == std::end(kEngineKeys))
            throw Error("--runtime-option", fmt::format("unknown key '{}'", key),
                        fmt::format("one of {}", fmt::join(kEngineKeys, ", ")));
    Knobs k;
    k.sequences = d.sequences;
    const std::string total = option_of(d, "n_ctx");
    if (!total.empty()) {
        k.engine_context = parse_count(total, "--runtime-option n_ctx");
        if (k.engine_context < 1)
            throw Error("--runtime-option", fmt::format("n_ctx={}", total), "at least 1");
    }
    constexpr std::int64_t kUsualContext = 4096;
    const std::int64_t trained = p.model.trained_context > 0 ? p.model.trained_context : kUsualContext;
    k.context = d.context > 0          ? d.context
                : k.engine_context > 0 ? std::max<std::int64_t>(1, k.engine_context / d.sequences)
                                       : std::min(kUsualContext, trained);
    k.batch = d.batch > 0 ? d.batch : profile.default_batch;
    k.ubatch = d.ubatch > 0 ? d.ubatch : profile.default_ubatch;
    const std::string outputs = option_of(d, "n_outputs_max");
    if (!outputs.empty()) k.outputs_max = parse_count(outputs, "--runtime-option n_outputs_max");
    const bool together = d.kv_k == d.kv_v;  // as --kv leaves them
    k.kv_k = kv_type(p, d.kv_k, together ? "--kv" : "--kv-k");
    k.kv_v = kv_type(p, d.kv_v, together ? "--kv" : "--kv-v");
    k.flash_attention = d.flash_attention != Switch::off;
    if (!k.flash_attention && profile.quantized_values_need_flash && k.kv_v.block_len > 1)
        throw Error("--kv-v", fmt::format("{} without flash attention", k.kv_v.name),
                    "--flash-attention on, or f16 values");
    k.kv_unified = flag(d, "kv_unified", false);
    k.swa_full = flag(d, "swa_full", false);
    k.mmap = flag(d, "mmap", true);
    k.repack = flag(d, "repack", true);
    k.window = d.window;
    k.sinks = d.sinks;
    k.prompt = d.prompt > 0 ? d.prompt : std::min<std::int64_t>(512, k.context);
    k.cached_prompt = d.cached_prompt;
    if (k.cached_prompt >= k.prompt + k.images * p.tokens_per_image && k.cached_prompt > 0)
        throw Error("--cached-prompt", fmt::format("{} of a prompt of {} tokens", k.cached_prompt, k.prompt),
                    "fewer than the prompt");
    k.generate = d.generate > 0 ? d.generate : 128;
    k.images = d.images;
    if (k.images > 0 && p.tokens_per_image == 0)
        throw Error("--images", fmt::format("{} has no known tokens per image", p.model.id),
                    "a vision model of the catalogue");
    k.kv_on_host = d.kv_pool == "host";
    k.experts_on_host = d.expert_pool == "host";
    k.draft_tokens = d.draft_tokens;
    k.acceptance = d.acceptance;
    k.threads = d.threads;
    if (d.gpu_layers != "all" && d.gpu_layers != "auto" && t.discrete) {
        std::int64_t n = 0;
        std::from_chars(d.gpu_layers.data(), d.gpu_layers.data() + d.gpu_layers.size(), n);
        k.gpu_layers = n;
    }
    return k;
}

}  // namespace memwall::plan
