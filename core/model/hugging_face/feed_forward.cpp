// Dense feed-forwards and experts: which layers have which, and how wide.
#include <cmath>

#include "core/model/hugging_face/text.h"

namespace memwall::model::hugging_face {
namespace {

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
    if (const auto given = c.keys.integer({"intermediate_size_mlp", "shared_intermediate_size"}, "width"))
        return *given;
    if (const auto given = c.keys.integer(kWidthKeys, "width")) return adjusted(c, *given);
    const bool rwkv = c.keys.has({"head_size"}) && c.layout.has(kTwoMatrices);
    if (rwkv) {
        c.keys.note_default("width", "width = 3.5 x hidden");
        return c.model.hidden * 7 / 2 / 32 * 32;
    }
    c.keys.note_default("width", "width = 4 x hidden");
    if (!c.layout.has(kTwoMatrices))
        c.model.warnings.push_back("config.json has no intermediate_size: assumed 4 x hidden_size");
    return 4 * c.model.hidden;
}

std::int64_t shared_width(const TextConfig& c, std::int64_t expert_width) {
    if (const auto given =
            c.keys.integer({"shared_expert_intermediate_size", "shared_intermediate_size"}, "shared_width"))
        return *given;
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
    x.used = c.keys.required({"num_experts_per_tok", "moe_topk", "moe_k", "top_k_experts",
                              "experts_per_token", "num_experts_per_token", "moe_router_topk"},
                             "experts_used");
    const auto width = c.keys.integer(
        {"moe_intermediate_size", "expert_ffn_hidden_size", "moe_ffn_hidden_size"}, "expert_width");
    x.width = width ? *width : c.keys.required(kWidthKeys, "expert_width");
    x.shared_width = shared_width(c, x.width);
    x.shared_gate = c.layout.has(kSharedGate);
    x.bias = c.layout.has(kExpertBias);
    x.router_bias =
        c.keys.flag_or({"use_expert_bias", "moe_router_enable_expert_bias"}, c.layout.has(kRouterBias)) ||
        c.keys.text({"topk_method"}) == "noaux_tc";
    const std::string scoring = c.keys.text({"scoring_func", "score_func", "router_score_func"});
    x.sigmoid = scoring.empty() ? c.defaults.gating == Gating::sigmoid || c.layout.has(kRouterBias)
                                : scoring == "sigmoid";
    x.softmax_of_chosen = c.defaults.gating == Gating::softmax_of_chosen;
    x.normalized = c.keys.flag_or({"norm_topk_prob"}, c.defaults.normalized_experts);
    x.scale = c.keys.number({"routed_scaling_factor", "moe_router_scaling_factor"}).value_or(1.0);
    x.groups = c.keys.integer({"n_group"}).value_or(1);
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
    if (const std::int64_t step = whole({"moe_layer_interval"}); step > 1)
        keep([&](int i) { return (i + 1) % step == 0; });
    const std::int64_t dense = whole({"first_k_dense_replace", "num_dense_layers", "moe_layer_start_index"});
    keep([&](int i) { return i >= dense; });
    if (const auto number = c.keys.number({"moe_layer_end_index"}); number && *number >= 0)
        keep([&](int i) { return i <= *number; });
    return moe;
}

}  // namespace

void read_feed_forward(const TextConfig& c, const std::vector<Mixer>& mixers) {
    const std::int64_t count =
        c.keys.flag_or({"enable_moe_block"}, true) ? c.keys.integer(kExpertKeys, "experts").value_or(0) : 0;
    const bool beside = count > 0 && c.layout.has(kDenseBesideExperts);
    const std::vector<bool> moe =
        count > 0 ? expert_layers(c) : std::vector<bool>(static_cast<std::size_t>(c.layers), false);
    std::optional<Experts> experts;
    std::optional<FeedForward> dense;
    const auto widths = c.keys.integers(kWidthKeys, "width");
    const bool double_shared = c.keys.flag_or({"use_double_wide_mlp"}, false);
    for (std::size_t i = 0; i < mixers.size(); ++i) {
        if (!mixers[i].feed_forward) continue;
        Layer& layer = c.model.layers[i];
        if (moe[i]) {
            if (!experts) experts = read_experts(c, count);
            layer.experts = experts;
            if (!beside) continue;
        }
        if (!dense) {
            dense = FeedForward{.width = widths && i < widths->size() ? (*widths)[i] : dense_width(c),
                                .gated = !c.layout.has(kTwoMatrices),
                                .bias = c.keys.flag_or({"mlp_bias", "use_mlp_bias", "add_bias_linear", "bias",
                                                        "use_bias", "enable_bias"},
                                                       c.layout.has(kFeedForwardBias)),
                                .fused_gate_up = c.layout.has(kFusedGateUp)};
        }
        layer.feed_forward = dense;
        if (widths && i < widths->size()) layer.feed_forward->width = (*widths)[i];
        if (double_shared && layer.attention && layer.attention->shared_with >= 0)
            layer.feed_forward->width *= 2;
    }
}

}  // namespace memwall::model::hugging_face
