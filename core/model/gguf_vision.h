// Vision and audio parts that GGUF keeps in a file of their own ("mmproj", architecture "clip").
#pragma once

#include "core/model/gguf.h"

namespace memwall::model {

/// Fills the components and tensors of `model`; there are no layers.
void read_vision(const GgufFile& file, Model& model);

}  // namespace memwall::model
