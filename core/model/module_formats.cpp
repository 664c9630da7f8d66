#include "core/model/module_formats.h"

#include <algorithm>
#include <map>
#include <optional>

#include "core/quant/role_recipe.h"

namespace memwall::model {
namespace {

constexpr std::size_t kLongestPattern = 256;
constexpr std::size_t kMostAlternatives = 64;

/// '*' = anything, '?' = one character.
bool matches_glob(std::string_view glob, std::string_view text) {
    std::size_t g = 0, t = 0, star = std::string_view::npos, from = 0;
    while (t < text.size()) {
        if (g < glob.size() && (glob[g] == '?' || glob[g] == text[t])) {
            ++g, ++t;
        } else if (g < glob.size() && glob[g] == '*') {
            star = g++;
            from = t;
        } else if (star != std::string_view::npos) {
            g = star + 1;
            t = ++from;
        } else {
            return false;
        }
    }
    while (g < glob.size() && glob[g] == '*') ++g;
    return g == glob.size();
}

/// A regular expression as globs, one an alternative; empty when it has more than we understand.
std::vector<std::string> globs_of(std::string_view expression) {
    std::vector<std::string> globs{""};
    const auto append = [&](std::string_view text) {
        for (std::string& glob : globs) glob += text;
    };
    for (std::size_t i = 0; i < expression.size(); ++i) {
        const char ch = expression[i];
        const char next = i + 1 < expression.size() ? expression[i + 1] : '\0';
        if (ch == '^' || ch == '$') continue;
        if (ch == '.' && (next == '*' || next == '+')) {
            append("*");
            ++i;
        } else if (ch == '.') {
            append("?");
        } else if (ch == '\\' && next == 'd') {
            append("*");  // \d+, \d{1,2}: whatever stands there is a number
            i += 1;
            if (i + 1 < expression.size() && (expression[i + 1] == '+' || expression[i + 1] == '*')) ++i;
        } else if (ch == '\\') {
            append(expression.substr(++i, 1));
        } else if (ch == '(') {
            const std::size_t end = expression.find(')', i);
            const std::string_view inside =
                end == std::string_view::npos ? "" : expression.substr(i + 1, end - i - 1);
            if (inside.empty() || inside.find_first_of("(\\[*+?") != std::string_view::npos) return {};
            std::vector<std::string> grown;
            for (std::size_t at = 0; at <= inside.size();) {
                const std::size_t bar = std::min(inside.find('|', at), inside.size());
                for (const std::string& glob : globs)
                    grown.push_back(glob + std::string(inside.substr(at, bar - at)));
                at = bar + 1;
            }
            if (grown.size() > kMostAlternatives) return {};
            globs = std::move(grown);
            i = end;
        } else if (ch == '[' || ch == '{' || ch == '+' || ch == '*' || ch == '?' || ch == '|' || ch == ')') {
            return {};
        } else {
            append(std::string_view(&ch, 1));
        }
    }
    return globs;
}

/// How families call the module of a role, after the layer's prefix. The first names of a role are the usual.
struct ModuleNames {
    Role role;
    std::vector<std::string_view> names;
};

const std::vector<ModuleNames>& module_names() {
    using R = Role;
    static const std::vector<ModuleNames> names = {
        {R::attn_q, {"self_attn.q_proj", "attention.q_proj", "mixer.q_proj"}},
        {R::attn_k, {"self_attn.k_proj", "attention.k_proj", "mixer.k_proj"}},
        {R::attn_v, {"self_attn.v_proj", "attention.v_proj", "mixer.v_proj"}},
        {R::attn_qkv, {"self_attn.qkv_proj", "linear_attn.in_proj_qkv", "attention.query_key_value"}},
        {R::attn_output, {"self_attn.o_proj", "attention.o_proj", "mixer.o_proj"}},
        {R::attn_gate, {"linear_attn.in_proj_z", "self_attn.g_proj"}},
        {R::attn_q_a, {"self_attn.q_a_proj"}},
        {R::attn_q_b, {"self_attn.q_b_proj"}},
        {R::attn_kv_a, {"self_attn.kv_a_proj_with_mqa"}},
        {R::attn_kv_b, {"self_attn.kv_b_proj"}},
        {R::attn_k_b, {"self_attn.kv_b_proj"}},
        {R::attn_v_b, {"self_attn.kv_b_proj"}},
        {R::ffn_gate, {"mlp.gate_proj", "feed_forward.gate_proj"}},
        {R::ffn_up, {"mlp.up_proj", "feed_forward.up_proj", "mixer.up_proj"}},
        {R::ffn_down, {"mlp.down_proj", "feed_forward.down_proj", "mixer.down_proj"}},
        {R::expert_gate, {"mlp.experts.0.gate_proj", "block_sparse_moe.experts.0.w1"}},
        {R::expert_up, {"mlp.experts.0.up_proj", "block_sparse_moe.experts.0.w3", "mixer.experts.0.up_proj"}},
        {R::expert_down,
         {"mlp.experts.0.down_proj", "block_sparse_moe.experts.0.w2", "mixer.experts.0.down_proj"}},
        {R::shared_gate, {"mlp.shared_experts.gate_proj", "mlp.shared_expert.gate_proj"}},
        {R::shared_up,
         {"mlp.shared_experts.up_proj", "mlp.shared_expert.up_proj", "mixer.shared_experts.up_proj"}},
        {R::shared_down,
         {"mlp.shared_experts.down_proj", "mlp.shared_expert.down_proj", "mixer.shared_experts.down_proj"}},
        {R::recurrent_in, {"linear_attn.in_proj_qkv", "mixer.in_proj", "mamba.in_proj"}},
        {R::recurrent_out, {"linear_attn.out_proj", "mixer.out_proj", "mamba.out_proj"}},
    };
    return names;
}

constexpr std::string_view kPrefixes[] = {"model.layers.", "model.language_model.layers.",
                                          "language_model.model.layers.", "backbone.layers."};

/// "blk.3.attn_q.weight" -> "attn_q.weight".
std::string_view base_name(std::string_view name) {
    const std::size_t dot = name.find('.', name.find('.') + 1);
    return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

}  // namespace

bool covers_module(std::string_view pattern, std::string_view module) {
    if (pattern.empty() || pattern.size() > kLongestPattern) return false;
    if (pattern.starts_with("re:")) {
        const std::vector<std::string> globs = globs_of(pattern.substr(3));
        return std::any_of(globs.begin(), globs.end(),
                           [&](const std::string& glob) { return matches_glob(glob, module); });
    }
    if (pattern.find_first_of("*?") != std::string_view::npos) return matches_glob(pattern, module);
    const std::size_t at = module.find(pattern);
    if (at == std::string_view::npos) return false;
    const std::size_t end = at + pattern.size();
    return (at == 0 || module[at - 1] == '.') && (end == module.size() || module[end] == '.');
}

std::vector<std::string> module_overrides(const Model& model, const QuantizationConfig& quantization) {
    if (quantization.unquantized.empty() && quantization.modules.empty()) return {};
    // What tools write stays far below; longer lists would only take long.
    constexpr std::size_t kMostTries = std::size_t{1} << 18;
    const std::size_t patterns =
        std::min(quantization.unquantized.size(), kMostTries / std::max<std::size_t>(model.layers.size(), 1));
    std::map<std::string, std::string_view> named;  // exact names with formats of their own
    for (const auto& [module, format] : quantization.modules) named.emplace(module, format);

    // Format of one matrix: of its module where that is named, 16 bits where it is left alone, else the
    // recipe's.
    const auto own = quant::match_role_recipe(quantization.recipe);
    const auto format_of = [&](const ModuleNames& names, int layer) -> std::string_view {
        for (const std::string_view prefix : kPrefixes)
            for (const std::string_view name : names.names) {
                const std::string module =
                    std::string(prefix) + std::to_string(layer) + "." + std::string(name);
                if (const auto it = named.find(module); it != named.end()) return it->second;
                for (std::size_t i = 0; i < patterns; ++i)
                    if (covers_module(quantization.unquantized[i], module)) return "BF16";
            }
        return "";
    };
    struct Count {
        int layers = 0;
        std::map<std::string_view, int> formats;
    };
    std::vector<std::pair<std::string, Count>> kinds;  // in the order of the tensors
    for (const Tensor& t : model.tensors) {
        if (t.layer < 0 || t.layer >= static_cast<int>(model.layers.size()) || t.dims[1] <= 1) continue;
        // Kimi's delta attention has the module names of attention.
        const auto& recurrent = model.layers[static_cast<std::size_t>(t.layer)].recurrent;
        const bool named_alike = recurrent && recurrent->decay_rank > 0;
        const Role role = named_alike && t.role == Role::recurrent_in    ? Role::attn_q
                          : named_alike && t.role == Role::recurrent_out ? Role::attn_output
                                                                         : t.role;
        const auto names = std::find_if(module_names().begin(), module_names().end(),
                                        [&](const ModuleNames& n) { return n.role == role; });
        if (names == module_names().end()) continue;
        const std::string base(base_name(t.name));
        auto kind = std::find_if(kinds.begin(), kinds.end(), [&](const auto& k) { return k.first == base; });
        if (kind == kinds.end()) kind = kinds.insert(kinds.end(), {base, {}});
        ++kind->second.layers;
        ++kind->second.formats[format_of(*names, t.layer)];
    }
    std::vector<std::string> overrides;
    for (const auto& [base, count] : kinds)
        for (const auto& [format, layers] : count.formats)
            if (!format.empty() && 2 * layers > count.layers &&
                !(own && quant::parse_format(format) == own->linear))
                overrides.push_back(base + "=" + std::string(format));
    return overrides;
}

}  // namespace memwall::model
