// The MODEL argument of the command: whatever names a model, opened.
#pragma once

#include <string>

#include "core/model/model.h"

namespace memwall::model {

struct OpenedModel {
    Model model;
    std::string kind;  ///< "gguf", "checkpoint" (config.json with weights), "config", "model file", "user
                       ///< catalogue", "catalogue"
    std::string path;  ///< what was read; empty for the built-in catalogue
    std::string recipe_hint;   ///< recipe that fits what is stored, for models whose tensors have no formats;
                               ///< may be empty
    std::string quantization;  ///< what config.json says of its quantization, in words; empty = nothing
};

/// `argument` is, in this order:
///  - a path that exists: .gguf (any shard of a set), .safetensors or .safetensors.index.json with a
///  config.json
///    beside it, a config.json (with the weights beside it, if any) or another .json of that form, a folder
///    that holds a config.json or GGUF files of one model, a memwall model YAML;
///  - an id of the user's catalogue, $XDG_CONFIG_HOME/memwall/models/ID.yaml;
///  - a name that the built-in catalogue knows: an id, an alias, a repository on the hub.
/// Throws Error for everything else, saying what was tried and which ids are near, and what the readers
/// throw.
OpenedModel open_model(const std::string& argument);

}  // namespace memwall::model
