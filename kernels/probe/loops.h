// The loops that probes time, one table an instruction set. Each is built in a file of its own that includes
// nothing of the standard library: an inline function compiled with AVX-512 must never be the one the linker
// keeps for everybody.
#pragma once

#include <cstddef>
#include <cstdint>

namespace memwall::kernels {

/// One way through memory. Distances in bytes; 0 = no prefetch of that level.
struct ReadPattern {
    const char* name;
    int streams;    ///< 1, 4 or 8 places read in turn
    int near, far;  ///< prefetch to the first level `near` ahead, to the second `far` ahead
};

inline constexpr ReadPattern kReadPatterns[] = {
    {"plain", 1, 0, 0},
    {"prefetch 4 KiB", 1, 4096, 0},
    {"prefetch 4 KiB + 32 KiB", 1, 4096, 32768},
    {"prefetch 8 KiB + 64 KiB", 1, 8192, 65536},
    {"4 streams", 4, 0, 0},
    {"8 streams", 8, 0, 0},
};

/// One instruction set's loops. Buffers are 64-byte aligned, `bytes` a multiple of 4096. Counts of operations
/// are of one call.
struct ProbeLoops {
    const char* isa;
    /// Loads every byte once; the result depends on all of them.
    std::uint64_t (*read)(const void* from, std::size_t bytes, const ReadPattern& pattern);
    void (*copy)(void* to, const void* from, std::size_t bytes, bool streaming);
    /// to[i] = a[i] + 3 b[i] in fp32.
    void (*triad)(float* to, const float* a, const float* b, std::size_t bytes, bool streaming);
    bool streams;  ///< `streaming` makes a difference: stores that bypass the caches
    /// Multiply-adds that stay in registers. Returns the operations done (an fma is two).
    double (*fp32_peak)(std::size_t rounds);
    double (*int8_peak)(std::size_t rounds);
};

extern const ProbeLoops kGenericLoops;
#if defined(__x86_64__)
extern const ProbeLoops kAvx2Loops, kAvx2VnniLoops, kAvx512Loops, kAvx512VnniLoops;
#elif defined(__aarch64__)
extern const ProbeLoops kNeonLoops, kNeonDotLoops;
#endif

}  // namespace memwall::kernels
