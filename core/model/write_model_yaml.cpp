// Model -> memwall/model/1. Writes what differs from the defaults of model.h, equal layers once.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/model/fields.h"
#include "core/model/layer_pattern.h"
#include "core/model/model_yaml.h"

namespace memwall::model {
namespace {

/// A scalar that reads back as `text`; quoted where plain YAML would read it otherwise.
std::string scalar(const std::string& text) {
    const bool plain =
        !text.empty() && std::isalnum(static_cast<unsigned char>(text[0])) != 0 && text.back() != ' ' &&
        text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ._/+-()") ==
            std::string::npos;
    return plain && text != "null" && text != "Null" && text != "NULL"
               ? text
               : nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string list(const std::vector<std::string>& items) {
    std::string text;
    for (const std::string& item : items) text += (text.empty() ? "" : ", ") + scalar(item);
    return "[" + text + "]";
}

template <class Enum, std::size_t N>
std::string_view name_of(Enum value, const Named<Enum> (&names)[N]) {
    for (const auto& n : names)
        if (n.value == value) return n.name;
    return names[0].name;
}

/// Collects "key: value" parts of a one-line mapping.
class FlowMap {
  public:
    void add(std::string_view key, const std::string& value) {
        text_ += fmt::format("{}{}: {}", text_.empty() ? "" : ", ", key, value);
    }
    template <class Owner, std::size_t N>
    void add(const IntegerField<Owner> (&table)[N], const Owner& owner, const Owner& defaults) {
        for (const auto& f : table)
            if (owner.*f.member != defaults.*f.member) add(f.key, std::to_string(owner.*f.member));
    }
    template <class Owner, std::size_t N>
    void add(const FlagField<Owner> (&table)[N], const Owner& owner, const Owner& defaults) {
        for (const auto& f : table)
            if (owner.*f.member != defaults.*f.member) add(f.key, owner.*f.member ? "true" : "false");
    }
    std::string text() const { return "{" + text_ + "}"; }

  private:
    std::string text_;
};

std::string attention_text(Attention a) {
    FlowMap map;
    Attention defaults;
    if (a.latent_rank > 0) {
        // These follow from the latent parts.
        if (a.kv_heads == a.heads) a.kv_heads = 0;
        if (a.key_dim == a.nope_dim + a.latent_rope_dim) a.key_dim = 0;
    } else if (a.key_dim == a.value_dim) {
        map.add("heads", std::to_string(a.heads));
        map.add("kv_heads", std::to_string(a.kv_heads));
        map.add("head_dim", std::to_string(a.key_dim));
        a.heads = a.kv_heads = a.key_dim = a.value_dim = 0;
    }
    map.add(kAttentionIntegers, a, defaults);
    if (a.shared_with >= 0) map.add("shared_with", std::to_string(a.shared_with));
    if (a.qk_norm != Attention::QkNorm::none)
        map.add("qk_norm", std::string(name_of(a.qk_norm, kQkNormNames)));
    std::string bias;
    if (a.query_bias) bias += 'q';
    if (a.key_bias) bias += 'k';
    if (a.value_bias) bias += 'v';
    if (a.output_bias) bias += 'o';
    if (!bias.empty()) map.add("bias", bias);
    map.add(kAttentionFlags, a, defaults);
    return map.text();
}

std::string recurrent_text(const Recurrent& r) {
    FlowMap map;
    map.add("kind", std::string(name_of(r.kind, kRecurrentNames)));
    map.add(kRecurrentIntegers, r, Recurrent{});
    map.add(kRecurrentFlags, r, Recurrent{});
    return map.text();
}

std::string feed_forward_text(const FeedForward& f) {
    FlowMap map;
    map.add(kFeedForwardIntegers, f, FeedForward{});
    map.add(kFeedForwardFlags, f, FeedForward{});
    return map.text();
}

std::string experts_text(const Experts& x) {
    FlowMap map;
    map.add(kExpertIntegers, x, Experts{});
    if (x.scale != 1.0) map.add("scale", fmt::format("{}", x.scale));
    map.add(kExpertFlags, x, Experts{});
    return map.text();
}

std::string extra_text(const std::vector<ExtraTensor>& extras) {
    FlowMap map;
    for (const ExtraTensor& x : extras) {
        std::size_t used = 4;
        while (used > 1 && x.dims[used - 1] == 1) --used;
        map.add(
            scalar(x.name),
            fmt::format("[{}]", fmt::join(x.dims.begin(), x.dims.begin() + static_cast<int>(used), ", ")));
    }
    return map.text();
}

/// The lines of a layer kind; equal layers have equal text.
std::string layer_text(const Layer& layer) {
    std::string text;
    const auto line = [&](std::string_view key, const std::string& value) {
        text += fmt::format("    {}: {}\n", key, value);
    };
    if (layer.norms != 2) line("norms", std::to_string(layer.norms));
    if (layer.norm_bias) line("norm_bias", "true");
    if (layer.attention) line("attention", attention_text(*layer.attention));
    if (layer.recurrent) line("recurrent", recurrent_text(*layer.recurrent));
    if (layer.feed_forward) line("feed_forward", feed_forward_text(*layer.feed_forward));
    if (layer.experts) line("experts", experts_text(*layer.experts));
    if (layer.extra_parameters != 0) line("extra_parameters", std::to_string(layer.extra_parameters));
    if (!layer.extra_tensors.empty()) line("extra_tensors", extra_text(layer.extra_tensors));
    return text;
}

/// A name that says what sets a kind apart from the others of its model.
std::string kind_name(const Layer& layer, bool any_window, bool any_experts, bool any_recurrent,
                      const char* plain) {
    std::string name;
    if (layer.attention && layer.attention->shared_with >= 0) name += "shared_";
    if (layer.attention && layer.recurrent)
        name += "parallel";
    else if (layer.recurrent)
        name += name_of(layer.recurrent->kind, kRecurrentNames);
    else if (any_window)
        name += layer.attention && layer.attention->window > 0 ? "local" : "global";
    else if (any_recurrent)
        name += "attention";
    else if (!any_experts)
        name += plain;
    if (any_experts) {
        if (!name.empty()) name += '_';
        name += layer.experts ? "moe" : "dense";
    }
    return name;
}

/// Kinds of all layers of a model, named on first sight.
class Kinds {
  public:
    explicit Kinds(const Model& m)
        : plain_(m.encoder.empty()  ? "decoder"
                 : m.layers.empty() ? "encoder"
                                    : "block") {
        for (const auto* group : {&m.layers, &m.prediction_layers, &m.encoder})
            for (const Layer& l : *group) {
                any_window_ = any_window_ || (l.attention && l.attention->window > 0);
                any_experts_ = any_experts_ || l.experts;
                any_recurrent_ = any_recurrent_ || l.recurrent;
            }
    }

    std::string pattern(const std::vector<Layer>& layers) {
        std::vector<std::string> names;
        for (const Layer& layer : layers) names.push_back(name(layer));
        return layer_pattern_text(names);
    }
    std::string text() const {
        std::string text;
        for (const auto& [name, lines] : kinds_) text += fmt::format("  {}:\n{}", name, lines);
        return text;
    }

  private:
    std::string name(const Layer& layer) {
        std::string lines = layer_text(layer);
        if (lines.empty()) lines = "    norms: 2\n";
        for (const auto& [name, known] : kinds_)
            if (known == lines) return name;
        std::string name = kind_name(layer, any_window_, any_experts_, any_recurrent_, plain_);
        const auto taken = [&](const std::string& n) {
            return std::any_of(kinds_.begin(), kinds_.end(), [&](const auto& k) { return k.first == n; });
        };
        if (taken(name)) {
            int number = 2;
            while (taken(name + "_" + std::to_string(number))) ++number;
            name += "_" + std::to_string(number);
        }
        kinds_.emplace_back(name, std::move(lines));
        return name;
    }

    bool any_window_ = false, any_experts_ = false, any_recurrent_ = false;
    const char* plain_;  ///< name of a layer that nothing sets apart
    std::vector<std::pair<std::string, std::string>> kinds_;
};

std::string components_text(const std::vector<Component>& components) {
    std::string text;
    for (const Component& c : components) {
        FlowMap map;
        map.add("name", scalar(c.name));
        map.add("parameters", std::to_string(c.parameters));
        if (!c.separate_file) map.add("separate_file", "false");
        if (c.tokens_per_image > 0) map.add("tokens_per_image", std::to_string(c.tokens_per_image));
        text += "  - " + map.text() + "\n";
    }
    return text;
}

}  // namespace

std::string write_model_yaml(const Model& m) {
    if (m.layers.empty() && m.encoder.empty()) throw Error(m.id, "a model without layers", "layers");
    const Model defaults;
    std::string out = "schema: memwall/model/1\n";
    const auto line = [&](std::string_view key, const std::string& value) {
        out += fmt::format("{}: {}\n", key, value);
    };
    const auto texts = [&](const auto& table) {
        for (const auto& f : table)
            if (!(m.*f.member).empty()) line(f.key, scalar(m.*f.member));
    };
    texts(kModelTexts);
    if (!m.aliases.empty()) line("aliases", list(m.aliases));
    for (const auto& f : kModelIntegers)
        if (m.*f.member != 0) line(f.key, std::to_string(m.*f.member));
    if (m.output != TiedOutput::untied) line("output", std::string(name_of(m.output, kOutputNames)));
    if (m.extra_norms != defaults.extra_norms) line("extra_norms", std::to_string(m.extra_norms));
    for (const auto& f : kModelFlags)
        if (m.*f.member != defaults.*f.member) line(f.key, m.*f.member ? "true" : "false");
    for (const auto& f : kModelNumbers)
        if (m.*f.member != 0) line(f.key, fmt::format("{}", m.*f.member));
    if (!m.extra_tensors.empty()) line("extra_tensors", extra_text(m.extra_tensors));

    Kinds kinds(m);
    std::string sequences;
    if (!m.encoder.empty()) sequences += "encoder: " + kinds.pattern(m.encoder) + "\n";
    if (!m.layers.empty()) sequences += "layers: " + kinds.pattern(m.layers) + "\n";
    if (!m.prediction_layers.empty()) sequences += "prediction: " + kinds.pattern(m.prediction_layers) + "\n";
    out += "kinds:\n" + kinds.text() + sequences;

    if (!m.components.empty()) out += "components:\n" + components_text(m.components);
    if (m.published_parameters != 0) line("published_parameters", std::to_string(m.published_parameters));
    texts(kModelRemarks);
    if (!m.references.empty()) {
        out += "references:\n";
        for (const std::string& reference : m.references) out += "  - " + scalar(reference) + "\n";
    }
    return out;
}

}  // namespace memwall::model
