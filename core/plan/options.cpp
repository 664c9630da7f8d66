#include "core/plan/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "core/base/error.h"
#include "core/base/size_text.h"

namespace memwall::plan {
namespace {

using Text = std::string_view;

/// A whole number of at least `least`.
std::int64_t number(Text text, Text place, std::int64_t least, std::int64_t most = std::int64_t{1} << 40) {
    const std::int64_t n = parse_count(text, place);
    if (n < least || n > most)
        throw Error(std::string(place), fmt::format("'{}'", text),
                    fmt::format("a whole number from {} to {}", least, most));
    return n;
}

std::string one_of(Text text, Text place, std::initializer_list<Text> words) {
    if (std::find(words.begin(), words.end(), text) == words.end()) {
        std::string list;
        for (Text w : words) list += (list.empty() ? "" : ", ") + std::string(w);
        throw Error(std::string(place), fmt::format("'{}'", text), "one of " + list);
    }
    return std::string(text);
}

Switch parse_switch(Text text, Text place) {
    const std::string word = one_of(text, place, {"on", "off", "auto"});
    return word == "on" ? Switch::on : word == "off" ? Switch::off : Switch::automatic;
}

std::string nonzero(std::int64_t n) {
    return n == 0 ? "" : fmt::format("{}", n);
}
std::string nonzero(Bytes b) {
    return nonzero(b.value);
}

template <auto Member>
void set_text(Deployment& d, Text text, Text) {
    d.*Member = std::string(text);
}
template <auto Member>
std::string get_text(const Deployment& d) {
    return d.*Member;
}
template <auto Member, std::int64_t Least>
void set_number(Deployment& d, Text text, Text place) {
    d.*Member = number(text, place, Least);
}
template <auto Member>
std::string get_number(const Deployment& d) {
    return nonzero(d.*Member);
}
template <auto Member>
void add_text(Deployment& d, Text text, Text) {
    (d.*Member).emplace_back(text);
}
/// Repeated values are written one an option; get() joins them with newlines, which no value contains.
template <auto Member>
std::string get_list(const Deployment& d) {
    std::string all;
    for (const std::string& s : d.*Member) all += (all.empty() ? "" : "\n") + s;
    return all;
}

void set_processor(Deployment& d, Text t, Text p) {
    d.processor = one_of(t, p, {"cpu", "gpu", "npu"});
}
/// "q8_0", or "q8_0/q4_0": keys, then values, as tables print them.
void set_kv(Deployment& d, Text t, Text) {
    const std::size_t slash = std::min(t.find('/'), t.size());
    d.kv_k = std::string(t.substr(0, slash));
    d.kv_v = slash < t.size() ? std::string(t.substr(slash + 1)) : d.kv_k;
}
std::string get_kv(const Deployment& d) {
    return d.kv_k == d.kv_v ? d.kv_k : "";
}
std::string get_kv_k(const Deployment& d) {
    return d.kv_k == d.kv_v ? "" : d.kv_k;
}
std::string get_kv_v(const Deployment& d) {
    return d.kv_k == d.kv_v ? "" : d.kv_v;
}
void set_activations(Deployment& d, Text t, Text p) {
    d.activations = one_of(t, p, {"a16", "a8"});
}
void set_flash(Deployment& d, Text t, Text p) {
    d.flash_attention = parse_switch(t, p);
}
std::string get_flash(const Deployment& d) {
    return d.flash_attention == Switch::automatic ? "" : d.flash_attention == Switch::on ? "on" : "off";
}
void set_gpu_layers(Deployment& d, Text t, Text p) {
    d.gpu_layers = (t == "all" || t == "auto") ? std::string(t) : fmt::format("{}", number(t, p, 0, 100000));
}
std::string get_gpu_layers(const Deployment& d) {
    return d.gpu_layers == "all" ? "" : d.gpu_layers;
}
void set_kv_pool(Deployment& d, Text t, Text p) {
    d.kv_pool = one_of(t, p, {"device", "host"});
}
void set_expert_pool(Deployment& d, Text t, Text p) {
    d.expert_pool = one_of(t, p, {"device", "host"});
}
void set_offload(Deployment& d, Text t, Text p) {
    d.offload = one_of(t, p, {"auto", "none"});
}
std::string get_offload(const Deployment& d) {
    return d.offload == "none" ? "" : d.offload;
}
void set_runtime(Deployment& d, Text t, Text) {
    d.runtime = std::string(t);
}
std::string get_runtime(const Deployment& d) {
    return d.runtime == "llama.cpp" ? "" : d.runtime;
}
std::string get_device(const Deployment& d) {
    return d.device == "host" ? "" : d.device;
}
std::string get_sequences(const Deployment& d) {
    return d.sequences == 1 ? "" : nonzero(d.sequences);
}
std::string get_draft_tokens(const Deployment& d) {
    return d.draft_tokens == 4 ? "" : nonzero(d.draft_tokens);
}

void set_runtime_option(Deployment& d, Text t, Text p) {
    const std::size_t at = t.find('=');
    if (at == 0 || at == Text::npos)
        throw Error(std::string(p), fmt::format("'{}'", t), "KEY=VALUE, for example n_ctx=8192");
    d.runtime_options[std::string(t.substr(0, at))] = std::string(t.substr(at + 1));
}
std::string get_runtime_option(const Deployment& d) {
    std::string all;
    for (const auto& [key, value] : d.runtime_options)
        all += fmt::format("{}{}={}", all.empty() ? "" : "\n", key, value);
    return all;
}
void set_acceptance(Deployment& d, Text t, Text p) {
    double a = 0;
    const auto [end, ec] = std::from_chars(t.data(), t.data() + t.size(), a);
    if (ec != std::errc() || end != t.data() + t.size() || !(a > 0 && a <= 1))
        throw Error(std::string(p), fmt::format("'{}'", t), "a share above 0 and at most 1, such as 0.7");
    d.acceptance = a;
}
std::string get_acceptance(const Deployment& d) {
    return d.acceptance == 0 ? "" : fmt::format("{}", d.acceptance);
}
void set_reserve(Deployment& d, Text t, Text p) {
    d.reserve = parse_bytes(t, p);
}
std::string get_reserve(const Deployment& d) {
    return nonzero(d.reserve);
}
void set_budget(Deployment& d, Text t, Text p) {
    d.budget = parse_bytes(t, p);
}
std::string get_budget(const Deployment& d) {
    return nonzero(d.budget);
}

using D = Deployment;
constexpr Text kMachine = "Machine", kModel = "Model", kRun = "Context and cache", kPlace = "Placement",
               kSpec = "Speculation and additions", kLimits = "Limits and what-ifs";

constexpr Option kOptions[] = {
    {"device", kMachine, "DEVICE",
     "device or product name, profile YAML, 'host', or ram=8GiB,bandwidth=68GB/s,... (host)", false,
     set_text<&D::device>, get_device},
    {"processor", kMachine, "cpu|gpu|npu", "which processor runs the model (the device's usual one)", false,
     set_processor, get_text<&D::processor>},
    {"threads", kMachine, "N", "CPU threads (all performance cores)", false, set_number<&D::threads, 1>,
     get_number<&D::threads>},
    {"quant", kModel, "RECIPE[,TENSOR=FORMAT]",
     "Q4_K_M, gptq-4bit-128g, mlx-4bit ..., with formats for named tensors: Q4_K_M,attn_v=Q8_0 (as stored, "
     "else the runtime's usual one)",
     false, set_text<&D::quant>, get_text<&D::quant>},
    {"group-size", kModel, "N", "values a scale, for recipes that leave it open", false,
     set_number<&D::group_size, 1>, get_number<&D::group_size>},
    {"activations", kModel, "a16|a8", "activation precision of the matrix kernels (the runtime's)", false,
     set_activations, get_text<&D::activations>},
    {"context", kRun, "N", "tokens per sequence (4096, or what the model was trained for if less)", false,
     set_number<&D::context, 1>, get_number<&D::context>},
    {"kv", kRun, "TYPE[/TYPE]",
     "type of keys and values: f16 q8_0 q8_0/q4_0 int8 fp8 ... (the runtime's, mostly f16)", false, set_kv,
     get_kv},
    {"kv-k", kRun, "TYPE", "type of the keys alone", false, set_text<&D::kv_k>, get_kv_k},
    {"kv-v", kRun, "TYPE", "type of the values alone", false, set_text<&D::kv_v>, get_kv_v},
    {"sequences", kRun, "N", "parallel sequences, each with its own context (1)", false,
     set_number<&D::sequences, 1>, get_sequences},
    {"batch", kRun, "N", "tokens submitted at once (the runtime's: 2048)", false, set_number<&D::batch, 1>,
     get_number<&D::batch>},
    {"ubatch", kRun, "N", "tokens computed at once, the micro-batch (the runtime's: 512)", false,
     set_number<&D::ubatch, 1>, get_number<&D::ubatch>},
    {"flash-attention", kRun, "on|off|auto", "fused attention (auto)", false, set_flash, get_flash},
    {"window", kRun, "N", "keep only the last N tokens in every full layer", false, set_number<&D::window, 1>,
     get_number<&D::window>},
    {"sinks", kRun, "N", "and the first N tokens besides (attention sinks)", false, set_number<&D::sinks, 0>,
     get_number<&D::sinks>},
    {"prompt", kRun, "N", "prompt tokens for the time to first token (512)", false, set_number<&D::prompt, 1>,
     get_number<&D::prompt>},
    {"cached-prompt", kRun, "N", "prompt tokens already in the cache (0)", false,
     set_number<&D::cached_prompt, 0>, get_number<&D::cached_prompt>},
    {"generate", kRun, "N", "tokens generated for the job time (128)", false, set_number<&D::generate, 1>,
     get_number<&D::generate>},
    {"runtime", kPlace, "NAME[@RELEASE]",
     "engine whose rules apply: llama.cpp vllm executorch mlx generic (llama.cpp)", false, set_runtime,
     get_runtime},
    {"runtime-option", kPlace, "KEY=VALUE",
     "engine settings; llama.cpp: n_ctx kv_unified swa_full n_outputs_max mmap repack isa; any: engine_year "
     "(of its build, for speed)",
     true, set_runtime_option, get_runtime_option},
    {"gpu-layers", kPlace, "N|all|auto", "layers on a discrete card; auto finds the most that fit (all)",
     false, set_gpu_layers, get_gpu_layers},
    {"kv-pool", kPlace, "device|host", "where the KV cache lives (with its layers)", false, set_kv_pool,
     get_text<&D::kv_pool>},
    {"expert-pool", kPlace, "device|host", "where expert weights live (with their layers)", false,
     set_expert_pool, get_text<&D::expert_pool>},
    {"offload", kPlace, "auto|none", "spill to the host only what does not fit (none)", false, set_offload,
     get_offload},
    {"draft", kSpec, "MODEL[:RECIPE]|none", "draft model for speculative decoding", false,
     set_text<&D::draft>, get_text<&D::draft>},
    {"draft-tokens", kSpec, "N", "tokens drafted a round (4)", false, set_number<&D::draft_tokens, 1>,
     get_draft_tokens},
    {"acceptance", kSpec, "P", "share of drafted tokens accepted, 0 to 1 (by evidence)", false,
     set_acceptance, get_acceptance},
    {"projector", kSpec, "FILE|none", "vision or audio projector file (with --images the model's own)", false,
     set_text<&D::projector>, get_text<&D::projector>},
    {"images", kSpec, "N", "images in the prompt (0)", false, set_number<&D::images, 0>,
     get_number<&D::images>},
    {"lora", kSpec, "FILE|SIZE", "adapter loaded beside the model", false, set_text<&D::lora>,
     get_text<&D::lora>},
    {"reserve", kLimits, "SIZE", "memory to leave for others (0)", false, set_reserve, get_reserve},
    {"budget", kLimits, "SIZE", "memory that may be used, in place of the device's rule", false, set_budget,
     get_budget},
    {"measured", kLimits, "RUN",
     "a run that calibrates: \"MODEL QUANT pp=.. tg=..\", llama-bench .json or llama.cpp .log", true,
     add_text<&D::measured>, get_list<&D::measured>},
    {"evidence", kLimits, "FILE", "own quality measurements", true, add_text<&D::evidence>,
     get_list<&D::evidence>},
    {"set", kLimits, "FIELD=VALUE", "what-if: device.bandwidth=+8GB/s, model.kv_heads=4", true,
     add_text<&D::set>, get_list<&D::set>},
};

bool same_name(Text a, Text b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
        return x == y || (x == '_' && y == '-') || (x == '-' && y == '_');
    });
}

}  // namespace

std::span<const Option> options() {
    return kOptions;
}

const Option* find_option(Text name) {
    for (const Option& o : kOptions)
        if (same_name(o.name, name)) return &o;
    return nullptr;
}

}  // namespace memwall::plan
