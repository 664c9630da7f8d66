// What-ifs on a model: --set model.FIELD=VALUE.
#pragma once

#include <string>
#include <string_view>

#include "core/model/model.h"

namespace memwall::model {

/// Sets one number of a model, or adds to it when the value begins with '+'. `value` is a count as
/// parse_count() reads it ("8", "32k"); `place` stands in errors ("--set").
///
/// Fields of the model (hidden, vocabulary, trained_context ...) are named as in model.h. `layers` makes the
/// decoder longer by continuing the pattern of its second half, or cuts it. Fields of layers (heads,
/// kv_heads, head_dim, latent_rank, width, experts, experts_used, expert_width, shared_width, recurrent_state
/// ...) apply to all decoder and prediction layers that have such a part; `window` to those that have a
/// window, or to all attention layers where none has.
///
/// Where the tensors change they are generated anew: a file's formats and the published count no longer
/// apply, and a warning says so. Throws Error for an unknown field, one that the model lacks, or a value out
/// of range; the model is unchanged then.
void set_field(Model& model, std::string_view field, std::string_view value, const std::string& place);

}  // namespace memwall::model
