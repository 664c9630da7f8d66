// Hugging Face config.json -> Model. Knows the key names of many generations of configs; what a config leaves
// out because the modelling code carries it comes from two tables: architectures.h (windows, rotation,
// gating) and hugging_face/layout.h (which biases and norms a checkpoint has, how it fuses matrices).
#pragma once

#include <string>

#include "core/model/model.h"

namespace memwall::model {

/// The model that a config.json describes, tensors generated (generate_tensors). A nested text_config is
/// found; explicit nulls count as absent keys; rope scaling never changes the trained context. An unknown
/// model_type is read as a Llama-like decoder and Model::warnings say what was assumed.
/// `quantization_config` is not looked at.
/// Throws Error{place, ...} for text that is no JSON object, a missing layer count or hidden size, and values
/// that are no whole numbers, negative, or absurdly large.
Model read_hf_config(const std::string& json_text, const std::string& place);

}  // namespace memwall::model
