#include "core/view/model_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/size_text.h"
#include "core/memory/kv_cache.h"
#include "core/view/json_parts.h"
#include "core/view/text_table.h"

namespace memwall::view {
namespace {

constexpr const char* kRecurrent[] = {
    "mamba1", "mamba2", "delta net", "short convolution", "rwkv", "lightning attention"};

std::string attention_text(const model::Attention& a) {
    std::string t;
    if (a.latent_rank > 0)
        t = fmt::format("latent attention, {} heads, latent {} + {}", a.heads, a.latent_rank,
                        a.latent_rope_dim);
    else
        t = fmt::format("attention, {} heads, {} kv_heads x {}", a.heads, a.kv_heads, a.key_dim);
    if (a.value_dim != a.key_dim && a.latent_rank == 0) t += fmt::format(" (values {})", a.value_dim);
    if (a.window > 0) t += fmt::format(", {} of {}", a.chunked ? "chunks" : "window", count_text(a.window));
    if (a.shared_with >= 0) t += ", cache of an earlier layer";
    if (a.sinks) t += ", sinks";
    if (a.index_dim > 0) t += fmt::format(", indexer of {} x {}", a.index_heads, a.index_dim);
    if (a.picture_cells > 0) t += fmt::format(", to {} cells of a picture", count_text(a.picture_cells));
    return t;
}

std::string layer_text(const model::Layer& l) {
    std::vector<std::string> parts;
    if (l.attention) parts.push_back(attention_text(*l.attention));
    if (l.recurrent)
        parts.push_back(fmt::format("{}, inner {}, state {}", kRecurrent[static_cast<int>(l.recurrent->kind)],
                                    l.recurrent->inner, l.recurrent->state));
    if (l.feed_forward)
        parts.push_back(fmt::format("feed-forward {}{}", count_text(l.feed_forward->width),
                                    l.feed_forward->gated ? " gated" : ""));
    if (l.experts)
        parts.push_back(fmt::format(
            "{} experts of {}, {} a token{}", l.experts->count, count_text(l.experts->width), l.experts->used,
            l.experts->shared_width > 0 ? fmt::format(", shared {}", count_text(l.experts->shared_width))
                                        : ""));
    std::string text;
    for (const std::string& p : parts) text += (text.empty() ? "" : "; ") + p;
    return text.empty() ? "nothing known" : text;
}

}  // namespace

std::vector<LayerKind> layer_kinds(const model::Model& m) {
    std::vector<LayerKind> kinds;
    for (const model::Layer& l : m.layers) {
        const std::string text = layer_text(l);
        auto it =
            std::find_if(kinds.begin(), kinds.end(), [&](const LayerKind& k) { return k.text == text; });
        if (it == kinds.end()) it = kinds.insert(kinds.end(), {0, text});
        ++it->layers;
    }
    return kinds;
}

Bytes kv_per_token(const model::Model& m) {
    const quant::KvType f16 = *quant::parse_kv_type("f16");
    Bytes total;
    for (const memory::KvGroup& g : memory::kv_groups(m, true))
        if (g.window == 0 && g.fixed_cells == 0) total += memory::kv_token_bytes(g, f16, f16) * g.layers;
    return total;
}

std::string kv_per_token_text(const model::Model& m) {
    const Bytes b = kv_per_token(m);
    return b.value > 0 ? bytes_text(b) : "-";
}

std::string model_text(const model::Model& m, bool colour, std::size_t width) {
    std::string out = styled(m.id, Style::bold, colour) + "\n";
    const auto row = [&](const char* name, const std::string& value, const std::string& source = "") {
        if (value.empty()) return;
        const std::string lead = fmt::format("  {:<18} ", name);
        out += source.empty() ? hung(lead, value, width)
                              : hung(lead + value + "  ", source, width, Style::dim, colour);
    };
    row("architecture", m.architecture, m.source("architecture"));
    row("repository", m.hf_repo);
    row("licence", m.licence);
    row("parameters", fmt::format("{}, {} active", count_text(model::text_parameters(m)),
                                  count_text(model::active_parameters(m))));
    if (m.published_parameters > 0) row("published", count_text(m.published_parameters), m.published_source);
    row("hidden", count_text(m.hidden), m.source("hidden"));
    row("vocabulary", count_text(m.vocabulary), m.source("vocabulary"));
    row("trained context", m.trained_context > 0 ? count_text(m.trained_context) : "unknown",
        m.source("trained_context"));
    row("output", m.output == model::TiedOutput::untied ? "own matrix"
                  : m.output == model::TiedOutput::tied ? "tied to the embedding"
                                                        : "tied, the checkpoint stores it twice");
    if (!m.stored_recipe.empty()) row("stored as", m.stored_recipe);
    if (m.file_bytes > 0) row("file", bytes_text(Bytes(static_cast<std::int64_t>(m.file_bytes))));
    out += fmt::format("  {:<18} {}\n", "layers", m.layers.size());
    for (const LayerKind& k : layer_kinds(m))
        out += hung(fmt::format("    {:>3} x ", k.layers), k.text, width);
    if (!m.prediction_layers.empty()) row("prediction layers", fmt::format("{}", m.prediction_layers.size()));
    row("KV cache",
        fmt::format("{} a token in f16{}", kv_per_token_text(m),
                    std::any_of(m.layers.begin(), m.layers.end(),
                                [](const model::Layer& l) { return l.attention && l.attention->window > 0; })
                        ? " beyond the window"
                        : ""));
    const Bytes state = memory::recurrent_state_bytes(m);
    if (state.value > 0) row("recurrent state", bytes_text(state) + " a sequence");
    for (const model::Component& c : m.components)
        row("component",
            fmt::format(
                "{}: {} parameters{}", c.name, count_text(c.parameters),
                c.tokens_per_image > 0 ? fmt::format(", {} tokens an image", c.tokens_per_image) : ""));
    for (const std::string& w : m.warnings) row("note", w);
    return out;
}

std::string model_json(const model::Model& m) {
    Json j = document("memwall/model-view/1");
    j.update(
        {{"id", m.id},
         {"architecture", m.architecture},
         {"family", m.family},
         {"licence", m.licence},
         {"hf_repo", m.hf_repo},
         {"parameters", model::text_parameters(m)},
         {"active_parameters", model::active_parameters(m)},
         {"published_parameters", m.published_parameters > 0 ? Json(m.published_parameters) : Json(nullptr)},
         {"layers", m.layers.size()},
         {"hidden", m.hidden},
         {"vocabulary", m.vocabulary},
         {"trained_context", m.trained_context},
         {"tied_embeddings", m.output != model::TiedOutput::untied},
         {"stored_recipe", m.stored_recipe},
         {"file_bytes", m.file_bytes},
         {"kv_f16_bytes_per_token", kv_per_token(m).value},
         {"recurrent_state_bytes_per_sequence", memory::recurrent_state_bytes(m).value}});
    j["layer_kinds"] = Json::array();
    for (const LayerKind& k : layer_kinds(m))
        j["layer_kinds"].push_back({{"layers", k.layers}, {"text", k.text}});
    j["components"] = Json::array();
    for (const model::Component& c : m.components)
        j["components"].push_back({{"name", c.name}, {"parameters", c.parameters}});
    j["sources"] = m.sources;
    j["warnings"] = m.warnings;
    return j.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace memwall::view
