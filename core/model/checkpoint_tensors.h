// Tensors of a Hugging Face checkpoint as tensors of a Model: what each is for follows from its name, its
// bytes from the safetensors header.
#pragma once

#include "core/model/model.h"
#include "core/model/quantization_config.h"
#include "core/model/safetensors_set.h"

namespace memwall::model {

/// Replaces the generated tensors by those of the files, with their exact bytes and the names they have
/// there. Codes of packed matrices ("qweight" and its like) are given the shape of the matrix they stand for
/// where the quantization says how many bits a code has, so that elements() counts weights and not words.
/// Also sets `output` from what is stored, file_bytes, metadata_bytes and warnings. The data of missing
/// shards becomes one tensor of bytes.
void take_checkpoint_tensors(Model& model, const SafetensorsSet& set, const QuantizationConfig* quantization);

}  // namespace memwall::model
