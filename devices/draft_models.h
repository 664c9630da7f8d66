// Models of the catalogue that could draft for another.
#pragma once

#include <vector>

#include "core/plan/search.h"

namespace memwall::devices {

/// All text models with their tokenizer family and size; read once.
const std::vector<plan::DraftModel>& catalogue_drafts();

}  // namespace memwall::devices
