// Work on all cores. Results must not depend on which thread did what: each index writes its own place.
#pragma once

#include <cstddef>
#include <functional>

namespace memwall::quantize {

/// Calls body(i) for i in [0, count), in any order, from as many threads as the machine has. The first
/// exception is thrown again here.
void parallel_for(std::size_t count, const std::function<void(std::size_t)>& body);

/// Ranges of at most `step` rows: body(first, last).
void parallel_ranges(std::size_t count, std::size_t step,
                     const std::function<void(std::size_t, std::size_t)>& body);

}  // namespace memwall::quantize
