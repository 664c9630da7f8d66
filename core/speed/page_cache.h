// Weights larger than the memory left for them, read through the page cache while decoding.
#pragma once

#include "core/base/interval.h"
#include "core/base/units.h"

namespace memwall::speed {

/// Share of a pass over `size` bytes that misses when `cached` of them fit, for one pass after another (a
/// cyclic scan): least recently used replacement misses everything, random replacement m = exp-fixpoint 1 -
/// exp(-m size / cached), pinned pages (or most recently used replacement) 1 - cached / size. 0 when
/// everything fits.
double lru_miss(Bytes size, Bytes cached);
double random_miss(Bytes size, Bytes cached);
double pinned_miss(Bytes size, Bytes cached);

/// Seconds a pass spends reading from storage: real kernels lie between pinned and LRU, so the ends are those
/// laws and the centre is random replacement. 20 GB over 16 GB at 1 GB/s: up to 20 s.
Interval<Seconds> paging_time(Bytes size, Bytes cached, BytesPerSecond storage);

}  // namespace memwall::speed
