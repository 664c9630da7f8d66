// The full answer about quality, in the shape of QUALITY a.1: what plan --json and explain print.
#pragma once

#include <string>
#include <vector>

#include "core/quality/weight_quality.h"
#include "core/quality/words.h"

namespace memwall::quality {

/// A row of evidence as it stands beside an answer.
struct EvidenceRef {
    std::string id;  ///< "q0031", or of the user's file
    std::string model, method;
    std::string says;      ///< "perplexity +2.4 %", "KLD 0.031", "MMLU 66.6 -> 66.0"
    std::string distance;  ///< "same model, same type", "other model of the class, same type"
    std::string source;    ///< URL or file
};

struct Estimate {
    Loss loss;
    std::string basis;                  ///< how the number was made, in words
    std::vector<EvidenceRef> evidence;  ///< the 1 to 3 nearest rows; those a refusal is based on too
    std::vector<EvidenceRef> tasks;     ///< task scores of this model, for reading only: never derived
    std::vector<FlagWords> flags;
    std::vector<std::string> not_claimed;  ///< what the answer says nothing about
};

Estimate explain(const model::Model& model, const WeightQuality& weights, const RecipeInfo& recipe,
                 const KvChoice& cache);

}  // namespace memwall::quality
