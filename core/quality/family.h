// The facts about a model that the rules need and no descriptor field tells: data/families.yaml, one table.
#pragma once

#include <string>
#include <vector>

#include "core/model/model.h"
#include "core/quant/format.h"

namespace memwall::quality {

/// A recorded cliff: this type on this family below that size loses far more than any curve says.
struct Cliff {
    std::string type;             ///< ggml name: "Q3_K"
    double below_parameters = 0;  ///< billions; 0 = any size
    std::string row;              ///< evidence id
};

struct FamilyFacts {
    std::string name;  ///< of the row in the table, "unlisted" if none matches
    bool sensitive = true;
    bool listed = false;     ///< a model of the family was measured
    bool key_bias = false;   ///< large biases of the key projection in the first and last layers
    std::string trained_in;  ///< format it was trained in below 16 bits ("mxfp4", "fp8", "qat"); empty = none
    bool derivative = false;  ///< pruned, merged, distilled or otherwise changed after release
    std::vector<Cliff> cliffs;
    std::string why;  ///< source of the row
};

/// By architecture, tokenizer family and words of the id, the first row that matches.
FamilyFacts family_facts(const model::Model& model);

/// Whether the weights are stored as they were trained, so that nothing is lost.
bool is_training_format(const FamilyFacts& family, quant::Format format);

}  // namespace memwall::quality
