// Recipes: which tensor of a model gets which format. "Q4_K_M", "gptq-4bit-128g", "mlx-4bit", "as-stored".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/units.h"
#include "core/model/model.h"
#include "core/quant/format.h"

namespace memwall::quant {

enum class RecipeKind : std::uint8_t {
    as_stored,  ///< the formats of the model's own file
    llama_cpp,  ///< a llama.cpp file type: its quantizer's rule (llama_cpp_recipe.h)
    by_role,    ///< one format for the linear layers, others for the rest (role_recipe.h)
};

struct Recipe {
    std::string name;  ///< canonical spelling
    RecipeKind kind = RecipeKind::as_stored;
    std::uint8_t row = 0;  ///< in the table of its kind
    Format linear;         ///< default type of the file, or format of the linear layers
};

/// One line of --help.
struct RecipeInfo {
    std::string name;
    std::string_view family;    ///< "llama.cpp", "GPTQ", ...
    std::string description;    ///< with what stays unquantized
    std::string_view runtimes;  ///< that load it
};

/// All recipes; of families with numbers in their names ("gptq-4bit-128g") the usual ones.
const std::vector<RecipeInfo>& recipes();

/// In any case. Throws Error (place "--quant") naming the nearest recipes.
Recipe parse_recipe(std::string_view name);

/// A pattern over tensor names and the format of those that match.
struct TensorOverride {
    std::string pattern;  ///< part of a name, or an ECMAScript regular expression
    Format format;
};

/// "attn_v=Q8_0", "blk\.[0-3]\.ffn_down=Q6_K". Throws Error with `place`.
TensorOverride parse_override(std::string_view text, std::string_view place);

struct AssignOptions {
    std::optional<bool> imatrix;  ///< llama.cpp: made with an importance matrix; default as publishers do it
    std::vector<TensorOverride>
        overrides;                    ///< the first that matches wins; only tensors that can be quantized
    std::int32_t group_size = 0;      ///< instead of the recipe's; 0 = the recipe's
    std::optional<Format> embedding;  ///< instead of the recipe's
    std::optional<Format> output;
};

/// Makes a descriptor hold what files of that recipe hold: GGUF converters trim padded vocabularies
/// (Model::gguf_vocabulary) and most published files leave prediction layers out (prediction_in_gguf).
/// Generates the tensors again where that changes something; models read from files stay as they are.
void shape_for_recipe(const Recipe& recipe, model::Model& model);

/// A format for every tensor of the model, in its order; as-stored takes no options. Throws Error when
/// "as-stored" is asked of a model without a file, a group size of a recipe without groups, or an override
/// does not suit a tensor's shape.
std::vector<Format> assign(const Recipe& recipe, const model::Model& model,
                           const AssignOptions& options = {});

/// Bytes of all tensors, `formats` in their order.
Bytes weights_bytes(const model::Model& model, const std::vector<Format>& formats);

/// Some exporters store the output matrix of a tied model apart, in another format than the embedding
/// (ExLlama, ExecuTorch): the bytes of that copy, which is no tensor of the model. 0 for all others.
Bytes output_copy_bytes(const Recipe& recipe, const model::Model& model, const AssignOptions& options = {});

/// bytes x 8 / elements of the whole model; 0 for one without tensors.
double bits_per_weight(const model::Model& model, const std::vector<Format>& formats);

}  // namespace memwall::quant
