// What the name of a tensor in a Hugging Face checkpoint says.
#pragma once

#include <string_view>

#include "core/model/model.h"

namespace memwall::model {

/// Families nest their modules differently but name them alike, so one table of name endings serves all; a
/// name it does not know has Role::other, which still counts in bytes.
struct CheckpointName {
    Role role = Role::other;
    int layer = -1;          ///< as in Tensor::layer; blocks named "mtp." come after the decoder layers
    bool auxiliary = false;  ///< scales, zero points, indices and other parts of a packed matrix
};
CheckpointName read_checkpoint_name(std::string_view name, int decoder_layers);

}  // namespace memwall::model
