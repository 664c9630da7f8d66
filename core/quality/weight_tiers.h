// The tiers of a weight loss (QUALITY a.2), best first. Only for core/quality.
#pragma once

#include "core/quality/evidence.h"

namespace memwall::quality {

/// Shares of types among the block linears, mean bits, size and what the descriptor says of the cache.
WeightQuality weigh_types(const model::Model& model, std::span<const quant::Format> formats);

/// Fills `w.loss` by the best tier that applies.
void weigh_loss(WeightQuality& w, const model::Model& model, const RecipeInfo& recipe, Imatrix imatrix,
                const std::vector<EvidenceRow>& rows);

/// Above it a loss is no rounding noise any more: "below 0.5 %" (QUALITY a.3).
inline constexpr double kNoiseCeiling = 0.005;

/// Top-1 disagreement of a KLD band, with the error of the law itself (x/1.23, QUALITY a.5).
Band top1_band(const Band& kld);

/// KLD and top-1 from ln(PPL ratio): 0.9 to 2.6 times it, 1.0 central (QUALITY a.5).
void derive_from_ppl(Loss& loss);

}  // namespace memwall::quality
