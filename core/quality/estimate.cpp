#include "core/quality/estimate.h"

namespace memwall::quality {

Estimate explain(const model::Model&, const WeightQuality& weights, const RecipeInfo&,
                 const KvChoice& cache) {
    Estimate e;
    e.loss = combine(weights, cache);
    e.flags = flag_words(e.loss.flags);
    e.not_claimed = {"task scores (MMLU, GSM8K, HumanEval, tool calls)", "languages other than English",
                     "safety behaviour"};
    return e;
}

}  // namespace memwall::quality
