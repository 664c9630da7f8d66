// What quantization keeps, as a few lines of text and as JSON.
#pragma once

#include <string>
#include <vector>

#include "core/quality/estimate.h"

namespace memwall::view {

/// A row of the block: what, the central value, its range. A row without values is a sentence.
struct QualityRow {
    std::string label, value, range;
};

/// At most three rows below the heading "Quality (...)".
struct QualityBlock {
    std::string heading;
    std::vector<QualityRow> rows;
};
QualityBlock quality_block(const quality::Loss& loss);

/// "+2.4 %" with two significant digits; "below 0.5 %" where it is noise.
std::string ratio_text(double ln_ratio);

}  // namespace memwall::view
