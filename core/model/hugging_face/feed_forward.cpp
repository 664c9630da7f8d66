// Dense feed-forwards and experts: which layers have which, and how wide.
#include <cmath>

#include "core/model/hugging_face/text.h"

namespace memwall::model::hugging_face {
namespace {

constexpr Keys kUsedKeys = {"num_experts_per_tok", "moe_topk",          "moe_k",
                            "top_k_experts",       "experts_per_token", "num_experts_per_token",
                            "moe_router_topk",     "moe_top_k"};
constexpr Keys kExpertKeys = {"num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts",
                              "num_moe_experts"};

/// LFM2 states the width before a fixed reduction.
std::int64_t adjusted(const TextConfig& c, std::int64_t width) {
    if (!c.keys.flag_or({"block_auto_adjust_ff_dim"}, false)) return width;
    const double factor = c.keys.number({"block_ffn_dim_multiplier"}).value_or(1.0);
    const std::int64_t multiple = c.keys.integer({"block_multiple_of"}).value_or(256);
    if (multiple == 0 || !(factor > 0) || factor > 16)
        c.keys.fail("block_multiple_of or block_ffn_dim_multiplier out of range", "positive values");
    const auto scaled = static_cast<std::int64_t>(factor * static_cast<double>(2 * width / 3));
    return (scaled + multiple - 1) / multiple * multiple;
}

std::int64_t dense_width(const TextConfig& c) {
    // Llama-4 and Granite-Hybrid name the dense width apart from the experts'.
    if (const auto given = c.keys.integer(
            {"intermediate_size_mlp", "dense_intermediate_size", "shared_intermediate_size"}, "width");
        given && *given > 0)
        return *given;
    if (const auto given = c.keys.integer(kWidthKeys, "width"))
        return c.layout.has(kWidthOfBoth) ? *given / 2 : adjusted(c, *given);
    if (c.layout.has(kAllRecurrent)) {
        c.keys.note_default("width", "width = 3.5 x hidden");
        return c.model.hidden * 7 / 2 / 32 * 32;
    }
    c.keys.note_default("width", "width = 4 x hidden");
    if (!c.layout.has(kTwoMatrices) && !c.keys.has({"block_configs", "ffn_multipliers"}))
        c.model.warnings.push_back("config.json has no intermediate_size: assumed 4 x hidden_size");
    return 4 * c.model.hidden;
}

std::int64_t shared_width(const TextConfig& c, std::int64_t expert_width) {
    if (const auto given = c.keys.integer({"shared_expert_intermediate_size", "shared_intermediate_size",
                                           "moe_shared_expert_intermediate_size", "share_expert_dim"},
                                          "shared_width")) {
        c.keys.has({"n_shared_experts", "num_shared_experts"});
        return *given;
    }
    const std::int64_t count = c.keys
                                   .integer({"n_shared_experts", "moe_num_shared_experts",
                                             "num_shared_expert", "num_shared_experts"},
                                            "shared_width")
                                   .value_or(c.layout.has(kSharedExpert) ? 1 : 0);
    if (count > 4096) c.keys.fail("n_shared_experts = " + std::to_string(count), "at most 4096");
    return count * expert_width;
}

Experts read_experts(const TextConfig& c, std::int64_t count) {
    Experts x;
    x.count = count;
    x.used = c.keys.required(kUsedKeys, "experts_used");
    // LongCat: of the chosen ones as many are idle as their share of all.
    if (const std::int64_t idle = c.keys.integer({"zero_expert_num"}).value_or(0); idle > 0) {
        x.used = std::max<std::int64_t>(1, x.used * count / (count + idle));
        c.model.sources["experts_used"] = "config.json:moe_topk, less the idle experts' share";
    }
    const auto width = c.keys.integer(
        {"moe_intermediate_size", "expert_ffn_hidden_size", "moe_ffn_hidden_size"}, "expert_width");
    x.width = width ? *width : c.keys.required(kWidthKeys, "expert_width");
    x.shared_width = shared_width(c, x.width);
    x.latent = c.keys.integer({"moe_latent_size", "routed_expert_hidden_size"}, "expert_latent").value_or(0);
    x.gated = !c.layout.has(kTwoMatrices);
    x.shared_gate = c.layout.has(kSharedGate);
    x.bias = c.layout.has(kExpertBias);
    x.router_bias =
        c.keys.flag_or({"use_expert_bias", "moe_router_enable_expert_bias"}, c.layout.has(kRouterBias)) ||
        c.keys.text({"topk_method"}) == "noaux_tc";
    const std::string scoring = c.keys.text(
        {"scoring_func", "score_func", "router_score_func", "score_function", "moe_router_activation_func"});
    x.sigmoid = scoring.empty() ? c.defaults.gating == Gating::sigmoid || c.layout.has(kRouterBias)
                                : scoring == "sigmoid";
    x.softmax_of_chosen = c.defaults.gating == Gating::softmax_of_chosen;
    x.normalized = c.keys.flag_or({"norm_topk_prob", "moe_renormalize", "norm_expert_weight"},
                                  c.defaults.normalized_experts);
    x.scale = c.keys.number({"routed_scaling_factor", "moe_router_scaling_factor"}).value_or(1.0);
    x.groups = c.keys.integer({"n_group", "num_expert_group"}).value_or(1);
    x.groups_used = c.keys.integer({"topk_group"}).value_or(1);
    return x;
}

/// Which layers have experts, as one entry a layer.
std::vector<bool> expert_layers(const TextConfig& c) {
    const auto count = static_cast<std::size_t>(c.layers);
    std::vector<bool> moe(count, true);
    const auto keep = [&](auto&& rule) {
        for (int i = 0; i < c.layers; ++i)
            if (!rule(i)) moe[static_cast<std::size_t>(i)] = false;
    };
    const auto whole = [&](Keys keys) { return c.keys.integer(keys).value_or(0); };
    if (const auto list = c.keys.integers({"moe_layer_freq", "mlp_layer_types_moe"}); list) {
        keep([&](int i) {
            const auto at = static_cast<std::size_t>(i);
            return at < list->size() && (*list)[at] != 0;
        });
    } else if (const std::int64_t every = whole({"moe_layer_freq"}); every > 1) {
        keep([&](int i) { return i % every == 0; });
    }
    if (const auto kinds = c.keys.texts({"mlp_layer_types"})) {  // GLM-5: "dense" or "sparse"
        keep([&](int i) {
            const auto at = static_cast<std::size_t>(i);
            return at >= kinds->size() || (*kinds)[at] != "dense";
        });
    }
    if (const std::string list = c.keys.text({"moe_layers_enum"}); !list.empty()) {  // Step-3: "4,5,6"
        std::vector<bool> named(count);
        std::int64_t number = 0;
        for (const char ch : list + ",") {
            if (ch >= '0' && ch <= '9' && number < kMostLayers) {
                number = 10 * number + (ch - '0');
            } else if (ch == ',') {
                if (number < c.layers) named[static_cast<std::size_t>(number)] = true;
                number = 0;
            } else if (ch != ' ') {
                c.keys.fail("moe_layers_enum = \"" + list.substr(0, 40) + "\"",
                            "numbers of layers, \"4,5,6\"");
            }
        }
        keep([&](int i) { return named[static_cast<std::size_t>(i)]; });
    }
    if (const auto list = c.keys.integers({"mlp_only_layers"})) {
        for (const std::int64_t i : *list)
            if (i < c.layers) moe[static_cast<std::size_t>(i)] = false;
    }
    if (const std::int64_t step = whole({"decoder_sparse_step", "interleave_moe_layer_step"}); step > 1)
        keep([&](int i) { return (i + 1) % step == 0; });
    if (const std::int64_t step = whole({"expert_layer_period"}); step > 1) {
        const std::int64_t offset = whole({"expert_layer_offset"});
        keep([&](int i) { return i % step == offset % step; });
    }
    if (const std::int64_t step = whole({"moe_layer_interval", "moe_layer_frequency"}); step > 1)
        keep([&](int i) { return (i + 1) % step == 0; });
    const std::int64_t dense = whole({"first_k_dense_replace", "num_dense_layers", "moe_layer_start_index"});
    keep([&](int i) { return i >= dense; });
    if (c.layout.has(kTwoAttentions)) keep([](int i) { return i % 2 == 0; });
    if (const auto number = c.keys.number({"moe_layer_end_index"}); number && *number >= 0)
        keep([&](int i) { return i <= *number; });
    return moe;
}

/// The widest multiple of 256 and, for OpenELM, of its divisor: widths that configs give as multiples of
/// hidden.
std::int64_t rounded_width(double width, std::int64_t divisor) {
    const auto whole = static_cast<std::int64_t>(width);
    return (whole + divisor - 1) / divisor * divisor;
}

/// Widths that differ from layer to layer: Nemotron-NAS and OpenELM.
void set_widths_by_layer(const TextConfig& c) {
    const auto hidden = static_cast<double>(c.model.hidden);
    if (const nlohmann::json* multiples = c.keys.list({"ffn_multipliers"})) {
        const std::int64_t divisor =
            std::max<std::int64_t>(c.keys.integer({"ffn_dim_divisor"}).value_or(1), 1);
        for (std::size_t i = 0; i < multiples->size() && i < c.model.layers.size(); ++i) {
            const nlohmann::json& m = (*multiples)[i];
            if (!m.is_number() || !(m.get<double>() > 0) || m.get<double>() > 64)
                c.keys.fail("ffn_multipliers holds " + m.dump(), "numbers above 0");
            // The nearest multiple, but never less than nine tenths.
            const double wanted = m.get<double>() * hidden;
            std::int64_t width = std::max<std::int64_t>(
                divisor,
                static_cast<std::int64_t>(wanted + static_cast<double>(divisor) / 2) / divisor * divisor);
            if (static_cast<double>(width) < 0.9 * wanted) width += divisor;
            if (c.model.layers[i].feed_forward) c.model.layers[i].feed_forward->width = width;
        }
        c.model.sources["width"] = "config.json:ffn_multipliers";
    }
    const nlohmann::json* blocks = c.keys.list({"block_configs"});
    for (std::size_t i = 0; blocks != nullptr && i < blocks->size() && i < c.model.layers.size(); ++i) {
        Layer& layer = c.model.layers[i];
        const nlohmann::json* block = part_of((*blocks)[i], "ffn");
        if (!layer.feed_forward || block == nullptr) continue;
        const ConfigObject keys(*block, c.keys.place(), c.model);
        if (keys.flag_or({"no_op"}, false)) {
            layer.feed_forward.reset();
        } else if (keys.flag_or({"replace_with_linear"}, false)) {
            layer.feed_forward.reset();
            layer.extra_tensors.push_back({"ffn_linear.weight", {c.model.hidden, c.model.hidden, 1, 1}});
        } else if (const auto multiple = keys.number({"ffn_mult"})) {
            if (!(*multiple > 0) || *multiple > 64) c.keys.fail("ffn_mult out of range", "0 to 64");
            layer.feed_forward->width = rounded_width(2 * *multiple * hidden / 3, 256);
        }
        c.model.sources["width"] = "config.json:block_configs";
    }
}

}  // namespace

void read_feed_forward(const TextConfig& c, const std::vector<Mixer>& mixers) {
    const std::int64_t count =
        c.keys.flag_or({"enable_moe_block"}, true) ? c.keys.integer(kExpertKeys, "experts").value_or(0) : 0;
    const bool beside = count > 0 && (c.layout.has(kDenseBesideExperts) || c.layout.has(kTwoAttentions) ||
                                      c.keys.flag_or({"residual_moe"}, false));
    const bool square = c.keys.flag_or({"parallel_attn_mlp_res"}, false);  // Arctic: as wide as hidden
    const std::vector<bool> moe =
        count > 0 ? expert_layers(c) : std::vector<bool>(static_cast<std::size_t>(c.layers), false);
    std::optional<Experts> experts;
    std::optional<FeedForward> dense;
    const auto widths = c.keys.integers(kWidthKeys, "width");
    const bool double_shared = c.keys.flag_or({"use_double_wide_mlp"}, false);
    for (std::size_t i = 0; i < mixers.size(); ++i) {
        if (!mixers[i].feed_forward) continue;
        Layer& layer = c.model.layers[i];
        if (moe[i] && !mixers[i].dense) {
            if (!experts) experts = read_experts(c, count);
            layer.experts = experts;
            if (!beside) continue;
        }
        if (!dense) {
            dense = FeedForward{.width = widths && i < widths->size() ? (*widths)[i]
                                         : square                     ? c.model.hidden
                                                                      : dense_width(c),
                                .gated = !c.layout.has(kTwoMatrices),
                                .bias = !c.layout.has(kBiasOfAttention) &&
                                        c.keys.flag_or({"mlp_bias", "use_mlp_bias", "add_bias_linear", "bias",
                                                        "use_bias", "enable_bias"},
                                                       c.layout.has(kFeedForwardBias)),
                                .fused_gate_up = c.layout.has(kFusedGateUp)};
        }
        layer.feed_forward = dense;
        if (widths && i < widths->size()) layer.feed_forward->width = (*widths)[i];
        if (double_shared && layer.attention && layer.attention->shared_with >= 0)
            layer.feed_forward->width *= 2;
    }
    set_widths_by_layer(c);
}

}  // namespace memwall::model::hugging_face
