// Ranges of methods that were measured on too few models for a fit (QUALITY a.6).
#pragma once

#include <optional>

#include "core/quality/loss.h"
#include "core/quant/format.h"

namespace memwall::quality {

struct MethodRange {
    Reason reason = Reason::none;  ///< none: the range holds; else it is refused
    Band ln_ppl;                   ///< of any model of 3 billion and more
    double least_billions = 0;     ///< refused below
    bool like_q4_0 = false;        ///< no range of its own: the loss of Q4_0, x/1.5
};

/// `low_bit_kernels`: activations are reduced to 8 bits. Formats of llama.cpp but NVFP4 have no row here.
MethodRange method_range(quant::Format format, bool low_bit_kernels);

}  // namespace memwall::quality
