// Which matrices of a checkpoint a quantizer left alone, or gave another format, by the names of their
// modules: from the lists beside `quant_method`, for folders whose weights are not there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/model/model.h"
#include "core/model/quantization_config.h"

namespace memwall::model {

/// Whether a pattern of `ignore`, `exclude_modules` or `modules_to_not_convert` covers a module: its whole
/// name, a part of its path, a glob ("model.layers.0.self_attn*") or after "re:" a regular expression, of
/// which dots, stars, plain characters and one level of alternatives are understood. Time is linear in the
/// name.
bool covers_module(std::string_view pattern, std::string_view module);

/// Overrides of a recipe in the form "attn_q.weight=BF16", one a kind of matrix that most layers keep so.
/// `model` is a descriptor whose tensors are generated.
std::vector<std::string> module_overrides(const Model& model, const QuantizationConfig& quantization);

}  // namespace memwall::model
