#include "tests/runtime/shapes.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

namespace memwall::test {
namespace {

using nlohmann::json;
using namespace memwall::model;

/// What files of an architecture always hold and shapes therefore do not say.
struct ArchitectureTraits {
    const char* name;
    bool query_key_value_bias = false;
    Attention::QkNorm qk_norm = Attention::QkNorm::none;
    int window_period = 0;  ///< layer i is windowed if i mod period < period - 1
    RecurrentKind recurrent = RecurrentKind::mamba2;
    bool scales = false;  ///< embedding, residual and logit scale
};
using enum Attention::QkNorm;
const ArchitectureTraits kTraits[] = {
    {"qwen2", true},
    {"qwen3", false, per_head},
    {"qwen3moe", false, per_head},
    {"gemma2", false, none, 2},
    {"gemma3", false, per_head, 6},
    {"gemma4", false, per_head, 6},
    {"gpt-oss", true, none, 2},
    {"olmo2", false, full_row},
    {"granite", false, none, 0, RecurrentKind::mamba2, true},
    {"granitehybrid", false, none, 0, RecurrentKind::mamba2, true},
    {"mamba", false, none, 0, RecurrentKind::mamba1},
    {"lfm2", false, per_head, 0, RecurrentKind::short_conv},
    {"lfm2moe", false, per_head, 0, RecurrentKind::short_conv},
    {"qwen3next", false, per_head, 0, RecurrentKind::delta_net},
    {"qwen35", false, per_head, 0, RecurrentKind::delta_net},
    {"qwen35moe", false, per_head, 0, RecurrentKind::delta_net},
};

struct Shape {
    const json& j;
    std::string arch;
    ArchitectureTraits traits;

    std::int64_t number(const char* key, std::int64_t fallback = 0) const {
        return j.value<std::int64_t>(key, fallback);
    }
    bool flag(const char* key, bool fallback = false) const { return number(key, fallback) != 0; }
    bool is(std::initializer_list<const char*> names) const {
        return std::any_of(names.begin(), names.end(), [&](const char* n) { return arch == n; });
    }
};

bool has_attention(const Shape& s, std::int64_t i) {
    if (s.j.contains("attn_layers")) {
        std::istringstream list(s.j["attn_layers"].get<std::string>());
        for (std::string item; std::getline(list, item, ',');)
            if (std::stoll(item) == i) return true;
        return false;
    }
    const std::int64_t every = s.number("full_attn_interval");
    return every == 0 || (i + 1) % every == 0;
}

Attention attention(const Shape& s, std::int64_t i) {
    Attention a;
    a.heads = s.number("n_head");
    a.kv_heads = s.number("n_head_kv");
    a.key_dim = a.value_dim = s.number("head_dim", s.number("n_embd") / std::max<std::int64_t>(a.heads, 1));
    const std::int64_t period = s.number("swa_period", s.traits.window_period);
    // phi3 files carry a window for all layers, which the engine ignores.
    const bool windowed = period > 0 ? i % period < period - 1 : s.is({"phi3"});
    if (windowed) {
        a.window = s.number("n_swa");
        a.key_dim = a.value_dim = s.number("head_dim_swa", a.key_dim);
    }
    a.query_bias = a.key_bias = a.value_bias = s.traits.query_key_value_bias;
    a.output_bias = a.sinks = s.is({"gpt-oss"});
    a.fused_qkv = s.is({"phi3"});
    a.qk_norm = s.traits.qk_norm;
    a.gated_output = s.traits.recurrent == RecurrentKind::delta_net;
    a.rope = s.flag("rope", true) && !(s.is({"smollm3"}) && (i + 1) % 4 == 0);
    a.latent_rank = s.number("kv_lora");
    if (a.latent_rank > 0) {
        a.latent_rope_dim = s.number("rope_dim");
        a.nope_dim = s.number("nope_dim");
        a.query_rank = s.number("q_lora");
        a.key_dim = a.nope_dim + a.latent_rope_dim;
        a.value_dim = s.number("v_dim");
    }
    return a;
}

Recurrent recurrent(const Shape& s) {
    Recurrent r;
    r.kind = s.traits.recurrent;
    r.inner = s.number("d_inner");
    r.state = s.number("d_state");
    r.conv_kernel = s.number("d_conv", s.number("l_cache"));
    r.heads = s.number("dt_rank");
    r.groups = s.number("n_group", 1);
    r.norm = !s.is({"falcon-h1"});
    r.split_ba = s.is({"qwen3next"});
    return r;
}

Experts experts(const Shape& s) {
    Experts e;
    e.count = s.number("n_expert");
    e.used = s.number("n_expert_used");
    e.width = s.number("n_ff_exp", s.number("n_ff"));
    e.shared_width = s.number("n_ff_shexp", e.width * s.number("n_expert_shared"));
    e.shared_gate = s.traits.recurrent == RecurrentKind::delta_net;
    e.bias = s.is({"gpt-oss"});
    e.router_bias = s.flag("expert_probs_bias", s.is({"lfm2moe"}));
    e.sigmoid = s.number("expert_gating", s.is({"lfm2moe"}) ? 2 : 1) == 2;
    e.normalized = s.flag("expert_weights_norm");
    e.scale = s.j.value("expert_weights_scale", 1.0);
    e.groups = s.number("n_expert_groups", 1);
    e.groups_used = s.number("n_group_used", 1);
    e.merged_gate_up = s.flag("merged_gate_up");
    return e;
}

Layer layer(const Shape& s, std::int64_t i) {
    Layer l;
    const bool state_only = s.is({"mamba", "mamba2"});
    const bool attends = !state_only && has_attention(s, i);
    if (attends) l.attention = attention(s, i);
    if (state_only || s.is({"falcon-h1"}) ||
        (!attends && s.is({"granitehybrid", "lfm2", "lfm2moe", "qwen3next", "qwen35", "qwen35moe"})))
        l.recurrent = recurrent(s);
    if (s.flag("n_expert") && i >= s.number("n_dense_lead")) {
        l.experts = experts(s);
    } else if (!state_only) {
        FeedForward f;
        f.width = s.number("n_ff");
        f.fused_gate_up = s.is({"phi3"});
        l.feed_forward = f;
    }
    return l;
}

}  // namespace

Model model_from_shape(const json& shape) {
    Shape s{shape, shape.at("arch").get<std::string>(), {}};
    for (const ArchitectureTraits& t : kTraits)
        if (s.arch == t.name) s.traits = t;

    Model m;
    m.id = m.architecture = s.arch;
    m.hidden = s.number("n_embd");
    m.vocabulary = s.number("n_vocab");
    m.trained_context = s.number("n_ctx_train");
    m.output = s.flag("tied") ? TiedOutput::tied : TiedOutput::untied;
    m.embedding_scale = m.residual_scale = m.logit_scale = s.traits.scales;
    m.per_layer_embedding_dim = s.number("n_embd_per_layer");
    m.layer_output_scale = s.flag("out_scale");
    const std::int64_t layers = s.number("n_layer");
    for (std::int64_t i = 0; i < layers; ++i) m.layers.push_back(layer(s, i));
    if (s.flag("rope_freqs")) m.rope_factors = m.layers.front().attention->key_dim / 2;
    // The last layers read the cache of the last layer of their kind that owns one.
    const std::int64_t owners = layers - s.number("kv_shared_layers");
    for (std::int64_t i = owners; i < layers; ++i) {
        Attention& a = *m.layers[static_cast<std::size_t>(i)].attention;
        for (std::int64_t k = owners - 1; k >= 0 && a.shared_with < 0; --k)
            if (m.layers[static_cast<std::size_t>(k)].attention->window == a.window)
                a.shared_with = static_cast<int>(k);
    }
    return m;
}

json read_json(const std::string& name) {
    std::ifstream in(std::string(MEMWALL_TEST_DATA) + "/" + name);
    if (!in) throw std::runtime_error("cannot read " + name);
    return json::parse(in);
}

EngineRows::EngineRows(const std::string& file) : data_(std::make_shared<const json>(read_json(file))) {}

std::size_t EngineRows::size() const {
    return (*data_)["rows"].size();
}

const json& EngineRows::cell(std::size_t row, const std::string& column) const {
    const json& columns = (*data_)["columns"];
    const auto at = std::find(columns.begin(), columns.end(), column);
    if (at == columns.end()) throw std::runtime_error("no column " + column);
    return (*data_)["rows"].at(row).at(static_cast<std::size_t>(at - columns.begin()));
}

std::string EngineRows::text(std::size_t row, const std::string& column) const {
    return cell(row, column).get<std::string>();
}

std::int64_t EngineRows::number(std::size_t row, const std::string& column) const {
    return cell(row, column).get<std::int64_t>();
}

double EngineRows::real(std::size_t row, const std::string& column) const {
    return cell(row, column).get<double>();
}

Model EngineRows::model(std::size_t row) const {
    return model_from_shape((*data_)["shapes"].at(text(row, "model")));
}

runtime::EngineSettings EngineRows::settings(std::size_t row) const {
    const auto quantized = [](const std::string& type) { return type[0] == 'q'; };
    runtime::EngineSettings s;
    s.n_ctx = number(row, "n_ctx_requested");
    s.n_batch = number(row, "n_batch");
    s.n_ubatch = number(row, "n_ubatch");
    s.n_seq = number(row, "n_seq");
    s.n_outputs_max = number(row, "n_outputs_max");
    s.quantized_keys = quantized(text(row, "type_k"));
    s.quantized_values = quantized(text(row, "type_v"));
    s.flash_attention = text(row, "flash_attn") != "off";
    s.kv_unified = number(row, "kv_unified") != 0;
    s.swa_full = number(row, "swa_full") != 0;
    return s;
}

}  // namespace memwall::test
