// Recipes that give the linear layers one format and each other role its own.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "core/quant/recipe.h"

namespace memwall::quant {

enum RoleTraits : std::uint8_t {
    kPlain = 0,
    kExpertsOnly = 1,   ///< linear layers outside the experts stay as `rest`
    kOutputCopy = 2,    ///< a tied output is stored apart from the embedding
    kScalesInName = 4,  ///< the bits in the name include the scales
    kEveryMatrix = 8,   ///< routers and odd matrices too
};

/// Formats are patterns (name_pattern.h) filled with the numbers of the recipe's name; "=" is that of the
/// linear layers.
struct RoleRecipe {
    std::string_view name;
    std::string_view example;  ///< the usual one of the family, for lists
    std::string_view linear;   ///< "" = the format is called like the recipe
    std::int32_t group;        ///< when the name gives none
    std::string_view embedding;
    std::string_view output;
    std::string_view rest;  ///< norms, biases, routers and other small tensors
    std::uint8_t traits;
    std::string_view family;
    std::string_view description;
    std::string_view runtimes;
};

std::span<const RoleRecipe> role_recipes();

/// nullopt when no row has such a name or its format no such width.
std::optional<Recipe> match_role_recipe(std::string_view name);

std::vector<Format> assign_roles(const Recipe& recipe, const model::Model& model,
                                 const AssignOptions& options);

/// See output_copy_bytes.
Bytes role_output_copy_bytes(const Recipe& recipe, const model::Model& model, const AssignOptions& options);

}  // namespace memwall::quant
