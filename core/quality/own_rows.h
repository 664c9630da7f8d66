// Tiers T0 and T1: what was measured on this very model. Only for core/quality.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/quality/evidence.h"
#include "core/quality/fitting.h"
#include "core/quality/kv_rules.h"

namespace memwall::quality {

/// Rows of the model: the user's first, then the built-in ones.
std::vector<EvidenceRow> rows_of_model(const model::Model& model, const RecipeInfo& recipe);

/// Rows of that recipe: the user's if there are any, else direct readings before weaker ones; importance
/// matrix as asked for.
std::vector<const EvidenceRow*> rows_of_recipe(const std::vector<EvidenceRow>& rows,
                                               const std::string& recipe, Imatrix imatrix,
                                               RowGroup group = RowGroup::weights);

/// nullopt without a row of the recipe that gives perplexity or KLD. Fills `ids`.
std::optional<Loss> measured_loss(const std::vector<EvidenceRow>& rows, const std::string& recipe,
                                  Imatrix imatrix, std::int64_t& context, std::vector<std::string>& ids);

/// ln(PPL ratio) between the two nearest rows in bits, not further than 2 bits apart; nullopt when the
/// model's rows do not bracket `w`. `ids` gets the two.
std::optional<double> interpolated_ratio(const WeightQuality& w, const model::Model& model, double predicted,
                                         Imatrix imatrix, std::vector<std::string>& ids);

/// The effect of a cache measured on this model.
std::optional<KvEffect> measured_cache(const std::vector<EvidenceRow>& rows, KvClass keys, KvClass values,
                                       bool rotation);

/// The names of a cache row, "KV q8_0/f16"; nullopt for types that this planner has not.
struct KvMethod {
    KvClass keys, values;
    bool rotation;
};
std::optional<KvMethod> read_kv_method(std::string_view method);

}  // namespace memwall::quality
