#include "core/plan/mixed.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <tuple>

#include "core/base/error.h"
#include "core/base/size_text.h"
#include "core/quality/fit.h"
#include "core/quality/weight_quality.h"
#include "core/quant/recipe.h"

namespace memwall::plan {
namespace {

struct Rung {
    quant::Format format;
    std::string name;
    double bytes = 0, loss = 0;  ///< of one matrix
};

struct Matrix {
    std::size_t tensor = 0;
    std::string kind;  ///< "attn_v.weight": the name without its layer
    std::vector<Rung> ladder;
    std::size_t level = 0;
};

/// Rows that do not divide into 256 take the formats with blocks of 32, as llama.cpp's own rule does.
const std::vector<std::string> kShortBlocks{"IQ4_NL", "Q5_0", "Q5_1", "Q8_0"};

quant::Format format_named(const std::string& name) {
    return quant::parse_override("x=" + name, "--mixed").format;
}

/// Lower convex hull of loss over bytes: on it the best next step of each matrix is also part of the best
/// whole.
std::vector<Rung> hull(std::vector<Rung> rungs) {
    std::sort(rungs.begin(), rungs.end(), [](const Rung& a, const Rung& b) { return a.bytes < b.bytes; });
    std::vector<Rung> out;
    for (const Rung& r : rungs) {
        if (!out.empty() && r.loss >= out.back().loss) continue;
        while (out.size() >= 2) {
            const Rung &a = out[out.size() - 2], &b = out.back();
            if ((a.loss - b.loss) * (r.bytes - b.bytes) > (b.loss - r.loss) * (b.bytes - a.bytes)) break;
            out.pop_back();
        }
        out.push_back(r);
    }
    return out;
}

std::vector<Rung> ladder(const model::Tensor& t, const std::vector<std::string>& names, double total) {
    std::vector<Rung> rungs;
    for (const std::string& name : names) {
        const auto format = format_named(name);
        const quant::BlockFormat* block = quant::find_block_format(format.ggml_type);
        if (!block || t.dims[0] % block->block_len != 0) continue;
        const double loss = quality::type_loss(quality::fit_book(), format);
        if (loss != loss) throw Error("--mixed", name, "a format that the quality model has a loss for");
        rungs.push_back({format, name, quant::tensor_bytes(format, t.dims).as_double(),
                         static_cast<double>(t.elements()) / total * loss});
    }
    return hull(std::move(rungs));
}

/// Of equal steps: attention, then shared and dense feed-forward, then experts.
int order_of(model::Role role) {
    using enum model::Role;
    return role == expert_gate || role == expert_up || role == expert_down ? 2
           : role == ffn_gate || role == ffn_up || role == ffn_down        ? 1
                                                                           : 0;
}

std::string pattern_of(const std::string& kind, const std::vector<int>& layers, bool all) {
    if (all) return "." + kind;
    std::string escaped;
    for (const char c : kind) escaped += c == '.' ? std::string("\\.") : std::string(1, c);
    return fmt::format("blk\\.({})\\.{}", fmt::join(layers, "|"), escaped);
}

}  // namespace

MixedRecipe mixed_recipe(const model::Model& model, const std::string& base, Bytes budget,
                         const std::vector<std::string>& formats) {
    const quant::Recipe recipe = quant::parse_recipe(base);
    std::vector<quant::Format> chosen = quant::assign(recipe, model);
    double total = 0;
    for (const model::Tensor& t : model.tensors)
        if (quality::is_block_linear(t)) total += static_cast<double>(t.elements());

    std::vector<Matrix> matrices;
    double bytes = 0;
    for (std::size_t i = 0; i < model.tensors.size(); ++i) {
        const model::Tensor& t = model.tensors[i];
        const std::string prefix = fmt::format("blk.{}.", t.layer);
        if (quality::is_block_linear(t) && t.name.starts_with(prefix)) {
            const bool whole = t.dims[0] % 256 == 0;
            Matrix m{i, t.name.substr(prefix.size()), ladder(t, whole ? formats : kShortBlocks, total), 0};
            if (!m.ladder.empty()) {
                bytes += m.ladder.front().bytes;
                matrices.push_back(std::move(m));
                continue;
            }
        }
        bytes += quant::tensor_bytes(chosen[i], t.dims).as_double();
    }
    if (matrices.empty())
        throw Error("--mixed", model.id + " has no matrices under GGUF names",
                    "a model of the catalogue or a GGUF");
    if (bytes > budget.as_double())
        throw Error("--mixed",
                    fmt::format("{} at the coarsest", bytes_text(Bytes(static_cast<std::int64_t>(bytes)))),
                    "at most " + bytes_text(budget));

    struct Step {
        std::size_t matrix, level;
        double gain;  ///< loss saved a byte
    };
    std::vector<Step> steps;
    for (std::size_t i = 0; i < matrices.size(); ++i)
        for (std::size_t l = 1; l < matrices[i].ladder.size(); ++l) {
            const Rung &from = matrices[i].ladder[l - 1], &to = matrices[i].ladder[l];
            steps.push_back({i, l, (from.loss - to.loss) / (to.bytes - from.bytes)});
        }
    std::stable_sort(steps.begin(), steps.end(), [&](const Step& a, const Step& b) {
        if (std::abs(a.gain - b.gain) > 1e-9 * std::abs(a.gain + b.gain)) return a.gain > b.gain;
        const auto key = [&](const Step& s) {
            const Matrix& m = matrices[s.matrix];
            const model::Tensor& t = model.tensors[m.tensor];
            return std::tuple(order_of(t.role), std::string_view(m.kind), t.layer);
        };
        return key(a) < key(b);
    });
    for (const Step& s : steps) {
        Matrix& m = matrices[s.matrix];
        if (m.level + 1 != s.level) continue;  // an earlier step of it did not fit
        const double more = m.ladder[s.level].bytes - m.ladder[m.level].bytes;
        if (bytes + more > budget.as_double()) continue;
        bytes += more;
        m.level = s.level;
    }

    MixedRecipe out;
    std::map<std::string, std::map<std::string, std::vector<int>>> kinds;  // kind -> format -> layers
    for (const Matrix& m : matrices) {
        kinds[m.kind][m.ladder[m.level].name].push_back(model.tensors[m.tensor].layer);
        out.loss += m.ladder[m.level].loss;
    }
    std::string whole;
    for (const auto& [kind, by_format] : kinds) {
        // No two patterns match one tensor: releases of llama-quantize differ in whether the first or the
        // last of several counts.
        for (const auto& [format, layers] : by_format)
            out.tensor_types.emplace_back(pattern_of(kind, layers, by_format.size() == 1), format);
    }
    out.quant = base;
    quant::AssignOptions options;
    for (const auto& [pattern, format] : out.tensor_types) {
        out.quant += "," + pattern + "=" + format;
        options.overrides.push_back(quant::parse_override(pattern + "=" + format, "--mixed"));
    }
    out.weights = quant::weights_bytes(model, quant::assign(recipe, model, options));
    return out;
}

}  // namespace memwall::plan
