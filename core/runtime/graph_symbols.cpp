#include "core/runtime/graph_symbols.h"

#include <algorithm>

namespace memwall::runtime {
namespace {

using model::Attention;
using model::Experts;
using model::FeedForward;
using model::Layer;
using model::Model;
using model::Recurrent;
using model::RecurrentKind;

/// The layers a graph is made of: an encoder-only model has no others.
const std::vector<Layer>& layers_of(const Model& m) {
    return m.layers.empty() ? m.encoder : m.layers;
}

struct Context {
    const Model& model;
    bool honours_windows;
    bool last_layer = false;
    const std::vector<Layer>& layers = layers_of(model);
};

bool windowed(const Attention& a, const Context& c) {
    return c.honours_windows && a.window > 0;
}

// ---------------------------------------------------------------- of the model
/// The first attention layer that is (not) windowed; the first of all if there is none such.
const Attention* first_attention(const Context& c, bool window) {
    const Attention* any = nullptr;
    for (const Layer& l : c.layers) {
        if (!l.attention) continue;
        if (windowed(*l.attention, c) == window) return &*l.attention;
        if (!any) any = &*l.attention;
    }
    return any;
}

template <auto Field>
std::int64_t first_full(const Context& c) {
    const Attention* a = first_attention(c, false);
    return a ? a->*Field : 0;
}
template <auto Field>
std::int64_t first_windowed(const Context& c) {
    const Attention* a = first_attention(c, true);
    return a ? a->*Field : 0;
}
template <auto Field>
std::int64_t first_of_all(const Context& c) {
    for (const Layer& l : c.layers)
        if (l.attention) return (*l.attention).*Field;
    return 0;
}
template <auto Field>
std::int64_t of_model(const Context& c) {
    return static_cast<std::int64_t>(c.model.*Field);
}

std::int64_t widest_value_row(const Context& c) {
    std::int64_t widest = 0;
    for (const Layer& l : c.layers) {
        std::int64_t row = 0;
        if (l.attention && __builtin_mul_overflow(l.attention->kv_heads, l.attention->value_dim, &row))
            row = INT64_MAX;  // the graph refuses it
        widest = std::max(widest, row);
    }
    return widest;
}

struct ModelSymbol {
    std::string_view name;
    std::int64_t (*value)(const Context&);
};
// clang-format off
constexpr ModelSymbol kModelSymbols[] = {
    {"hidden",              of_model<&Model::hidden>},
    {"vocabulary",          [](const Context& c) { return c.model.embedder ? 0 : c.model.vocabulary; }},
    {"layer_count",         [](const Context& c) { return static_cast<std::int64_t>(c.layers.size()); }},
    {"has_windows",         [](const Context& c) -> std::int64_t {
         const Attention* a = first_attention(c, true);
         return a && windowed(*a, c); }},
    // Head sizes of the first layer, and of the first full and windowed one, with attention.
    {"first_key_dim",       first_of_all<&Attention::key_dim>},
    {"first_value_dim",     first_of_all<&Attention::value_dim>},
    {"full_key_dim",        first_full<&Attention::key_dim>},
    {"full_value_dim",      first_full<&Attention::value_dim>},
    {"window_key_dim",      first_windowed<&Attention::key_dim>},
    {"window_value_dim",    first_windowed<&Attention::value_dim>},
    {"widest_value_row",    widest_value_row},
    {"rope_factors",        of_model<&Model::rope_factors>},
    {"per_layer_embedding", of_model<&Model::per_layer_embedding_dim>},
    // Switches, 0 or 1.
    {"embedding_scale",     of_model<&Model::embedding_scale>},
    {"residual_scale",      of_model<&Model::residual_scale>},
    {"logit_scale",         of_model<&Model::logit_scale>},
    {"final_softcap",       [](const Context& c) -> std::int64_t { return c.model.final_softcap != 0; }},
    {"attention_softcap",   [](const Context& c) -> std::int64_t { return c.model.attention_softcap != 0; }},
    {"layer_output_scale",  of_model<&Model::layer_output_scale>},
};
// clang-format on

constexpr std::string_view kBatchNames[] = {"tokens",          "sequences",      "outputs",
                                            "streams",         "cells",          "window_cells",
                                            "flash_attention", "quantized_keys", "quantized_values"};
static_assert(std::size(kBatchNames) == kBatchSymbols);

// ---------------------------------------------------------------- of a layer
template <auto Part, auto Field>
std::int64_t field(const Layer& l, const Context&) {
    const auto& part = l.*Part;
    return part ? static_cast<std::int64_t>((*part).*Field) : 0;
}
template <auto Field>
constexpr auto attention = field<&Layer::attention, Field>;
template <auto Field>
constexpr auto recurrent = field<&Layer::recurrent, Field>;
template <auto Field>
constexpr auto dense = field<&Layer::feed_forward, Field>;
template <auto Field>
constexpr auto experts = field<&Layer::experts, Field>;

template <Attention::QkNorm Kind>
std::int64_t qk_norm(const Layer& l, const Context&) {
    return l.attention && l.attention->qk_norm == Kind;
}
template <RecurrentKind Kind>
std::int64_t has(const Layer& l, const Context&) {
    return l.recurrent && l.recurrent->kind == Kind;
}

struct LayerSymbol {
    std::string_view name;
    std::int64_t (*value)(const Layer&, const Context&);
};
// clang-format off
constexpr LayerSymbol kLayerSymbols[] = {
    {"last",            [](const Layer&, const Context& c) -> std::int64_t { return c.last_layer; }},
    {"norm_bias",       [](const Layer& l, const Context&) -> std::int64_t { return l.norm_bias; }},

    {"has_attention",   [](const Layer& l, const Context&) -> std::int64_t { return l.attention.has_value(); }},
    {"window",          [](const Layer& l, const Context& c) -> std::int64_t {
         return l.attention && windowed(*l.attention, c); }},
    {"owns_cache",      [](const Layer& l, const Context&) -> std::int64_t {
         return l.attention && l.attention->shared_with < 0; }},
    {"heads",           attention<&Attention::heads>},
    {"kv_heads",        attention<&Attention::kv_heads>},
    {"key_dim",         attention<&Attention::key_dim>},
    {"value_dim",       attention<&Attention::value_dim>},
    {"latent_rank",     attention<&Attention::latent_rank>},
    {"latent_rope_dim", attention<&Attention::latent_rope_dim>},
    {"nope_dim",        attention<&Attention::nope_dim>},
    {"query_rank",      attention<&Attention::query_rank>},
    {"query_bias",      attention<&Attention::query_bias>},
    {"key_bias",        attention<&Attention::key_bias>},
    {"value_bias",      attention<&Attention::value_bias>},
    {"output_bias",     attention<&Attention::output_bias>},
    {"head_norm",       qk_norm<Attention::QkNorm::per_head>},
    {"row_norm",        qk_norm<Attention::QkNorm::full_row>},
    {"gated_output",    attention<&Attention::gated_output>},
    {"sinks",           attention<&Attention::sinks>},
    {"fused_qkv",       attention<&Attention::fused_qkv>},
    {"rotary",          attention<&Attention::rope>},
    {"keys_as_values",  attention<&Attention::keys_as_values>},

    {"has_mamba1",      has<RecurrentKind::mamba1>},
    {"has_mamba2",      has<RecurrentKind::mamba2>},
    {"has_delta_net",   has<RecurrentKind::delta_net>},
    {"has_short_conv",  has<RecurrentKind::short_conv>},
    {"inner",           recurrent<&Recurrent::inner>},
    {"state_size",      recurrent<&Recurrent::state>},
    {"conv_kernel",     recurrent<&Recurrent::conv_kernel>},
    {"state_heads",     recurrent<&Recurrent::heads>},
    {"state_groups",    recurrent<&Recurrent::groups>},
    {"state_norm",      recurrent<&Recurrent::norm>},
    {"split_ba",        recurrent<&Recurrent::split_ba>},

    {"ff_width",        dense<&FeedForward::width>},
    {"ff_gated",        dense<&FeedForward::gated>},
    {"ff_bias",         dense<&FeedForward::bias>},
    {"fused_gate_up",   dense<&FeedForward::fused_gate_up>},

    {"experts",         experts<&Experts::count>},
    {"experts_used",    experts<&Experts::used>},
    {"expert_width",    experts<&Experts::width>},
    {"shared_width",    experts<&Experts::shared_width>},
    {"shared_gate",     experts<&Experts::shared_gate>},
    {"expert_gated",    experts<&Experts::gated>},
    {"expert_bias",     experts<&Experts::bias>},
    {"selection_bias",  experts<&Experts::router_bias>},
    {"sigmoid_gating",  experts<&Experts::sigmoid>},
    {"normalized",      experts<&Experts::normalized>},
    // The engine takes 0 for "not given".
    {"expert_scale",    [](const Layer& l, const Context&) -> std::int64_t {
         return l.experts && l.experts->scale != 0 && l.experts->scale != 1; }},
    {"expert_groups",   experts<&Experts::groups>},
    {"groups_used",     experts<&Experts::groups_used>},
    {"merged_gate_up",  experts<&Experts::merged_gate_up>},
};
// clang-format on

BatchValues batch(const EngineCells& cells, const EngineSettings& s, std::int64_t tokens,
                  std::int64_t outputs) {
    return {tokens,
            cells.sequences,
            outputs,
            cells.streams,
            cells.cells,
            cells.window_cells,
            s.flash_attention,
            s.quantized_keys,
            s.quantized_values};
}

}  // namespace

const SymbolNames& symbol_names() {
    static const SymbolNames names = [] {
        SymbolNames n;
        n.model.assign(std::begin(kBatchNames), std::end(kBatchNames));
        for (const ModelSymbol& s : kModelSymbols) n.model.push_back(s.name);
        for (const LayerSymbol& s : kLayerSymbols) n.layer.push_back(s.name);
        return n;
    }();
    return names;
}

std::vector<std::int64_t> model_values(const Model& model, bool honours_windows) {
    const Context context{model, honours_windows};
    std::vector<std::int64_t> values(kBatchSymbols, 0);
    for (const ModelSymbol& s : kModelSymbols) values.push_back(s.value(context));
    return values;
}

LayerValues layer_values(const Model& model, bool honours_windows) {
    Context context{model, honours_windows};
    LayerValues values;
    std::vector<std::int64_t> row(std::size(kLayerSymbols));
    for (const Layer& layer : context.layers) {
        context.last_layer = &layer == &context.layers.back();
        std::transform(std::begin(kLayerSymbols), std::end(kLayerSymbols), row.begin(),
                       [&](const LayerSymbol& s) { return s.value(layer, context); });
        const auto known = std::find(values.rows.begin(), values.rows.end(), row);
        values.layers.push_back(static_cast<std::int32_t>(known - values.rows.begin()));
        if (known == values.rows.end()) values.rows.push_back(row);
    }
    return values;
}

BatchValues prompt_batch(const EngineCells& cells, const EngineSettings& settings) {
    return batch(cells, settings, cells.prompt_tokens, cells.prompt_outputs);
}

BatchValues token_batch(const EngineCells& cells, const EngineSettings& settings) {
    return batch(cells, settings, cells.sequences, cells.sequences);
}

}  // namespace memwall::runtime
