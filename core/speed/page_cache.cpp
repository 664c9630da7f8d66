#include "core/speed/page_cache.h"

#include <cmath>

namespace memwall::speed {

double lru_miss(Bytes size, Bytes cached) {
    return cached < size ? 1.0 : 0.0;
}

double pinned_miss(Bytes size, Bytes cached) {
    if (cached >= size) return 0;
    return cached.value <= 0 ? 1.0 : 1.0 - cached.as_double() / size.as_double();
}

double random_miss(Bytes size, Bytes cached) {
    if (cached >= size) return 0;
    if (cached.value <= 0) return 1;
    const double ratio = size.as_double() / cached.as_double();
    // Newton from the right of the root, where m - 1 + exp(-m ratio) is convex and positive: never past it.
    // The first guess is one step of the fixpoint from 1, which lies right of the root too. Near it each step
    // squares the error, so the one that moves m by a millionth is the last.
    double m = -std::expm1(-ratio);
    for (int i = 0; i < 100; ++i) {
        const double less = std::expm1(-m * ratio);  // keeps its digits where m is small
        const double step = (m + less) / (1 - ratio - ratio * less);
        if (!(step > 0)) break;
        m -= step;
        if (step < 1e-6 * m) break;
    }
    return m;
}

Interval<Seconds> paging_time(Bytes size, Bytes cached, BytesPerSecond storage) {
    const Seconds whole = size / storage;
    return {whole * pinned_miss(size, cached), whole * random_miss(size, cached),
            whole * lru_miss(size, cached), 0.9, "page-cache laws: pinned, random, least recently used"};
}

}  // namespace memwall::speed
