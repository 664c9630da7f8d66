#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "core/model/catalog.h"
#include "core/quality/evidence.h"
#include "core/quality/family.h"
#include "core/quality/fitting.h"
#include "core/quality/method.h"
#include "core/quality/weight_tiers.h"
#include "core/quant/recipe.h"

namespace memwall::quality {
namespace {

constexpr double kLeastRatio = 0.003;
constexpr double kLeastUncertain = 0.01;  // where the baseline was estimated from near-lossless rows
constexpr std::int64_t kMostContext = 4096;

/// English text of Wikipedia or what an uploader says behaves like it; word-level and web text are other
/// scales.
bool is_fit_metric(const std::string& metric) {
    return metric.find("word") == std::string::npos && metric.find("C4") == std::string::npos;
}

/// Shares of types that the method gives on this shape.
WeightQuality types_of(const Method& method, model::Model shape) {
    if (method.pure) {
        const std::vector<quant::Format> formats(shape.tensors.size(), quant::ggml(method.recipe));
        return weigh_types(shape, formats);
    }
    const quant::Recipe recipe = quant::parse_recipe(method.recipe);
    quant::shape_for_recipe(recipe, shape);
    return weigh_types(shape, quant::assign(recipe, shape));
}

/// What the row measures, or nullopt where the fit has no use for it.
std::optional<double> ratio_of(const EvidenceRow& r, bool relative) {
    if (r.group != RowGroup::weights || r.context == 0 || r.context > kMostContext ||
        r.imatrix == Imatrix::unknown || !is_fit_metric(r.metric))
        return std::nullopt;
    if (relative) return !r.baseline && r.metric == "ppl wikitext2" ? std::optional(r.value) : std::nullopt;
    const auto ratio = ln_ppl_ratio(r);
    return ratio && *ratio >= (r.baseline_estimated ? kLeastUncertain : kLeastRatio) ? ratio : std::nullopt;
}

void add_rows(std::vector<FitRow>& rows, const EvidenceFile& file, const model::Model& shape,
              const FamilyFacts& family, bool relative) {
    // Repeated measurements of one label (importance matrices of several lengths) count once.
    std::map<std::tuple<std::string, std::string, bool>, std::pair<FitRow, int>> once;
    for (const EvidenceRow& r : file.rows) {
        const auto method = read_method(r.method);
        const auto ratio = ratio_of(r, relative);
        if (!method || !ratio) continue;
        auto& [row, count] = once[{r.model, r.method, r.imatrix == Imatrix::with}];
        if (count++ > 0) {
            row.ratio *= *ratio;
            continue;
        }
        const WeightQuality w = types_of(*method, shape);
        row = {r.id,
               r.model,
               family.name,
               r.method,
               *ratio,
               w.parameters,
               w.bits,
               quant::bits_per_weight(w.types.front().format),
               family.sensitive,
               r.imatrix == Imatrix::with,
               type_family(method->recipe),
               {}};
        for (const TypeShare& t : w.types) row.shares.emplace_back(quant::format_name(t.format), t.share);
    }
    for (auto& [key, entry] : once) {
        entry.first.ratio = std::pow(entry.first.ratio, 1.0 / entry.second);
        rows.push_back(std::move(entry.first));
    }
}

void add_file(std::vector<FitRow>& rows, const EvidenceFile& file, bool relative) {
    if (file.shape.empty()) return;
    auto shape = model::load_catalog_model(file.shape);
    if (!shape) return;
    shape->id = file.id;
    const FamilyFacts family = family_facts(*shape);
    if (family.trained_in.empty()) add_rows(rows, file, *shape, family, relative);
}

std::vector<FitRow> rows_of_all(bool relative) {
    std::vector<FitRow> rows;
    for (const auto& file : all_evidence()) add_file(rows, *file, relative);
    return rows;
}

}  // namespace

std::vector<FitRow> fit_rows() {
    return rows_of_all(false);
}

std::vector<FitRow> fit_rows_of_model(const std::string& id) {
    std::vector<FitRow> rows;
    if (const auto file = find_evidence(id)) add_file(rows, *file, false);
    return rows;
}

std::vector<FitRow> relative_rows() {
    return rows_of_all(true);
}

}  // namespace memwall::quality
