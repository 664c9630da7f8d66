// Catalogue models under a recipe, weighed as the planner does.
#pragma once

#include <string>

#include "core/model/catalog.h"
#include "core/quality/weight_quality.h"
#include "core/quant/recipe.h"

namespace memwall::test {

struct Weighed {
    model::Model model;
    quality::RecipeInfo recipe;
    quality::WeightQuality quality;
};

inline Weighed weigh(model::Model model, const std::string& recipe_name,
                     quality::Imatrix imatrix = quality::Imatrix::unknown, quality::RecipeInfo info = {}) {
    const quant::Recipe recipe = quant::parse_recipe(recipe_name);
    quant::shape_for_recipe(recipe, model);
    info.name = recipe.name;
    const auto formats = quant::assign(recipe, model);
    quality::WeightQuality w = quality::weight_quality(model, formats, info, imatrix);
    return {std::move(model), std::move(info), std::move(w)};
}

inline Weighed weigh(const std::string& id, const std::string& recipe,
                     quality::Imatrix imatrix = quality::Imatrix::unknown, quality::RecipeInfo info = {}) {
    return weigh(model::load_catalog_model(id).value(), recipe, imatrix, std::move(info));
}

/// A model that no row knows: the same tensors under another name.
inline model::Model unknown_model(const std::string& shape, const std::string& id = "somebody-7b") {
    model::Model m = model::load_catalog_model(shape).value();
    m.id = id;
    return m;
}

}  // namespace memwall::test
