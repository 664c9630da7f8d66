// The limits that every descriptor obeys, whatever reader filled it.
#pragma once

#include <cstdint>
#include <string>

#include "core/model/model.h"

namespace memwall::model {

/// More layers than any engine loads (llama.cpp: 512).
inline constexpr int kMostLayers = 1024;

/// Generates the tensors of a descriptor after making sure that no count can overflow: every size is within
/// the limits of check_model.cpp and the whole model below 2^60 elements. Throws Error naming the field.
void complete_model(Model& model, const std::string& place);

}  // namespace memwall::model
