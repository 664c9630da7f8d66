// State-space, linear-attention and convolution parts of layers, told apart by their keys.
#include "core/model/hugging_face/text.h"

namespace memwall::model::hugging_face {
namespace {

Recurrent read_delta_net(const TextConfig& c) {
    Recurrent r{.kind = RecurrentKind::delta_net};
    r.heads = c.keys.required({"linear_num_value_heads"}, "recurrent_heads");
    r.inner = r.heads * c.keys.required({"linear_value_head_dim"}, "recurrent_inner");
    r.groups = c.keys.required({"linear_num_key_heads"}, "recurrent_groups");
    r.state = c.keys.required({"linear_key_head_dim"}, "recurrent_state");
    r.conv_kernel = c.keys.integer_or({"linear_conv_kernel_dim"}, "conv_kernel", 4, "conv_kernel = 4");
    r.conv_bias = false;
    r.split_ba = c.layout.has(kOneBetaAlpha);
    return r;
}

/// Kimi's delta attention: a decay for every channel and an output gate, both through low ranks.
Recurrent read_kimi_delta(const TextConfig& c, const nlohmann::json& linear) {
    const ConfigObject keys(linear, c.keys.place(), c.model);
    Recurrent r{.kind = RecurrentKind::delta_net};
    r.heads = r.groups = keys.required({"num_heads"}, "recurrent_heads");
    r.state = keys.required({"head_dim"}, "recurrent_state");
    r.inner = r.heads * r.state;
    r.conv_kernel = keys.integer_or({"short_conv_kernel_size"}, "conv_kernel", 4, "conv_kernel = 4");
    r.conv_bias = false;
    r.decay_rank = r.state;
    r.gate_rank = keys.flag_or({"use_full_rank_gate"}, false) ? 0 : r.state;
    return r;
}

/// MiniMax's lightning attention has the heads of the other layers, and a state instead of a cache.
Recurrent read_lightning(const TextConfig& c) {
    Recurrent r{.kind = RecurrentKind::lightning};
    r.heads = c.keys.required(kHeadKeys, "recurrent_heads");
    r.state = c.keys.integer_or({"head_dim"}, "recurrent_state", c.model.hidden / r.heads,
                                "head_dim = hidden/heads");
    r.inner = r.heads * r.state;
    r.conv_bias = false;
    return r;
}

Recurrent read_mamba2(const TextConfig& c) {
    Recurrent r{.kind = RecurrentKind::mamba2};
    r.heads = c.keys.required({"mamba_n_heads", "mamba_num_heads", "num_heads"}, "recurrent_heads");
    const auto inner = c.keys.integer({"mamba_d_ssm"}, "recurrent_inner");
    r.inner =
        inner ? *inner
              : r.heads * c.keys.required({"mamba_d_head", "mamba_head_dim", "head_dim"}, "recurrent_inner");
    r.state = c.keys.required({"mamba_d_state", "ssm_state_size", "state_size"}, "recurrent_state");
    r.groups = c.keys.integer_or({"mamba_n_groups", "n_groups"}, "recurrent_groups", 1, "groups = 1");
    r.norm = c.keys.flag_or({"mamba_rms_norm", "rms_norm"}, true);
    return r;
}

Recurrent read_mamba1(const TextConfig& c) {
    Recurrent r{.kind = RecurrentKind::mamba1};
    r.state = c.keys.required({"mamba_d_state", "state_size"}, "recurrent_state");
    // expand disagrees with intermediate_size in Falcon-Mamba; the weights follow the latter.
    const auto inner =
        c.layout.has(kMixerOnly) ? c.keys.integer({"intermediate_size"}, "recurrent_inner") : std::nullopt;
    r.inner = inner ? *inner
                    : c.model.hidden *
                          c.keys.integer_or({"mamba_expand", "expand"}, "recurrent_inner", 2, "expand = 2");
    const std::int64_t automatic = (c.model.hidden + 15) / 16;
    const bool given = c.keys.text({"mamba_dt_rank", "time_step_rank"}).empty();  // "auto" otherwise
    r.heads = given ? c.keys.integer_or({"mamba_dt_rank", "time_step_rank"}, "dt_rank", automatic,
                                        "dt_rank = hidden/16")
                    : automatic;
    r.norm = c.layout.has(kInnerNorms);
    return r;
}

void read_mamba_rest(const TextConfig& c, Recurrent& r) {
    r.conv_kernel = c.keys.integer_or({"mamba_d_conv", "conv_kernel"}, "conv_kernel", 4, "conv_kernel = 4");
    r.conv_bias = c.keys.flag_or({"mamba_conv_bias", "use_conv_bias"}, true);
    r.proj_bias = c.keys.flag_or({"mamba_proj_bias", "use_bias"}, false);
}

Recurrent read_short_conv(const TextConfig& c) {
    Recurrent r{.kind = RecurrentKind::short_conv};
    r.inner = c.model.hidden;
    r.conv_kernel = c.keys.required({"conv_L_cache"}, "conv_kernel");
    r.conv_bias = r.proj_bias = c.keys.flag_or({"conv_bias"}, false);
    r.norm = false;
    return r;
}

Recurrent read_rwkv(const TextConfig& c) {
    Recurrent r{.kind = RecurrentKind::rwkv};
    r.inner =
        c.keys.integer_or({"attention_hidden_size"}, "recurrent_inner", c.model.hidden, "inner = hidden");
    r.state = c.keys.integer_or({"head_size", "head_dim"}, "recurrent_state", 64, "head_size = 64");
    r.generation = c.layout.has(kRwkv7) ? 7 : c.layout.has(kRwkv6) ? 6 : 5;
    if (r.state == 0 || r.inner % r.state != 0)
        c.keys.fail("head_size = " + std::to_string(r.state), "a divisor of attention_hidden_size");
    r.heads = r.inner / r.state;
    return r;
}

/// The low-rank matrices of RWKV-6 and 7, whose ranks only the latter's configs state.
std::vector<ExtraTensor> rwkv_ranks(const TextConfig& c, const Recurrent& r, bool first) {
    const std::int64_t h = c.model.hidden;
    if (r.generation == 6) {
        // As the vendor's code has it: 32 and 64, twice that for the 7B's width.
        const std::int64_t mix = h == 4096 ? 64 : 32, decay = 2 * mix;
        return {{"time_mix_w1.weight", {h, 5 * mix, 1, 1}},
                {"time_mix_w2.weight", {mix, h, 5, 1}},
                {"time_mix_decay_w1.weight", {h, decay, 1, 1}},
                {"time_mix_decay_w2.weight", {decay, r.inner, 1, 1}}};
    }
    std::vector<ExtraTensor> extras;
    const auto add = [&](const std::string& name, const char* key, bool bias) {
        const std::int64_t rank = c.keys.required({key}, key);
        extras.push_back({"time_mix_" + name + "1.weight", {h, rank, 1, 1}});
        extras.push_back({"time_mix_" + name + "2.weight", {rank, h, 1, 1}});
        if (bias) extras.push_back({"time_mix_" + name + "0.weight", {h, 1, 1, 1}});
    };
    add("w", "decay_low_rank_dim", true);
    add("a", "a_low_rank_dim", true);
    add("g", "gate_low_rank_dim", false);
    if (!first) add("v", "v_low_rank_dim", true);  // the first layer's values are the others' reference
    return extras;
}

}  // namespace

void read_recurrent(const TextConfig& c, const std::vector<Mixer>& mixers) {
    bool any = false;
    for (const Mixer& mixer : mixers) any = any || mixer.recurrent;
    if (!any) return;
    Recurrent r;
    if (const nlohmann::json* linear = c.keys.object({"linear_attn_config"})) {
        r = read_kimi_delta(c, *linear);
    } else if (c.layout.has(kAllRecurrent)) {
        r = read_rwkv(c);
    } else if (c.keys.has({"attn_type_list", "linear_attn_alpha_factor"})) {
        r = read_lightning(c);
    } else if (c.keys.integer({"linear_num_value_heads"})) {
        r = read_delta_net(c);
    } else if (c.keys.has({"mamba_n_heads", "mamba_num_heads", "num_heads"}) &&
               c.keys.has({"mamba_d_state", "ssm_state_size", "state_size"})) {
        r = read_mamba2(c);
        read_mamba_rest(c, r);
    } else if (c.keys.has({"mamba_d_state", "state_size"})) {
        r = read_mamba1(c);
        read_mamba_rest(c, r);
    } else if (c.keys.has({"conv_L_cache"})) {
        r = read_short_conv(c);
    } else {
        c.keys.fail("layers without attention but no keys of a recurrent part",
                    "mamba_d_state, state_size, linear_num_value_heads or conv_L_cache");
    }
    for (std::size_t i = 0; i < mixers.size(); ++i) {
        if (!mixers[i].recurrent) continue;
        c.model.layers[i].recurrent = r;
        if (r.kind == RecurrentKind::rwkv && r.generation > 5)
            c.model.layers[i].extra_tensors = rwkv_ranks(c, r, i == 0);
    }
}

}  // namespace memwall::model::hugging_face
