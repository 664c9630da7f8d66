// Models in Hugging Face form: a config.json and, where they are there, safetensors beside it.
#pragma once

#include <string>

#include "core/model/open_model.h"

namespace memwall::model {

/// The set of safetensors files that transformers would load from the folder: model.safetensors.index.json,
/// else model.safetensors, else the only index, file or set of shards there is. Empty when there is none.
std::string find_weights(const std::string& folder);

/// The model of a config.json with the weights of `weights` (a file, shard or index; empty = none). Exact
/// tensors replace generated ones; where no shard is there, the generated ones stay and a warning says so.
OpenedModel open_checkpoint(const std::string& config_path, const std::string& weights);

}  // namespace memwall::model
