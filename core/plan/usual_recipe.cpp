#include "core/plan/usual_recipe.h"

#include "core/quality/family.h"

namespace memwall::plan {

std::string usual_recipe(const runtime::Profile& profile, const model::Model& model) {
    if (quality::family_facts(model).trained_in == "MXFP4")
        if (const auto own = profile.recipe_aliases.find("mxfp4"); own != profile.recipe_aliases.end())
            return own->second;
    return profile.default_recipe;
}

}  // namespace memwall::plan
