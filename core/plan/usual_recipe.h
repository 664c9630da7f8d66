// The recipe that stands where none is named.
#pragma once

#include <string>

#include "core/model/model.h"
#include "core/runtime/profile.h"

namespace memwall::plan {

/// The runtime's default; of a model trained in a format that the runtime has a recipe for (gpt-oss in
/// MXFP4), that one: published files hold it, any other makes them larger or worse.
std::string usual_recipe(const runtime::Profile& profile, const model::Model& model);

}  // namespace memwall::plan
