// The built-in models: catalog/ID.yaml, embedded in the binary, one file a model. Nothing is parsed but the
// file that is asked for.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/model.h"

namespace memwall::model {

/// All ids, sorted.
std::vector<std::string_view> catalog_ids();

/// The id that `name` means: an id in any case, an alias, or a Hugging Face repository with or without its
/// owner; trailing "-instruct", "-it", "-chat", "-base" and "-hf" may be there or not. nullopt when unknown.
std::optional<std::string_view> find_catalog_id(std::string_view name);

/// The model of that name with its tensors; nullopt when find_catalog_id() knows none.
std::optional<Model> load_catalog_model(std::string_view name);

/// Ids that a misspelt name may have meant, most likely first, at most `most`; empty when nothing is near.
std::vector<std::string_view> suggest_catalog_ids(std::string_view name, std::size_t most = 3);

}  // namespace memwall::model
