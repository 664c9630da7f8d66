// What quantization keeps, as a few lines of text and as JSON.
#pragma once

#include <string>
#include <vector>

#include "core/quality/estimate.h"

namespace memwall::view {

/// Sentences below the heading "Quality (...)", and one remark: at most four lines at 100 columns.
struct QualityBlock {
    std::string heading;
    std::vector<std::string> lines;
    std::string note;  ///< the most important flag, or why there is no number
};
QualityBlock quality_block(const quality::Loss& loss);

/// "97.6 %": the share of tokens that stay the most likely one, from the share that does not; as many digits
/// as the difference to 100 % deserves.
std::string agreement_text(double top1_disagreement);

/// "2.4 %" of ln(PPL ratio), two significant digits; 0 where it fell.
std::string ratio_text(double ln_ratio);

}  // namespace memwall::view
