// NEON: int8 products through 16-bit sums.
#include "kernels/probe/loops.h"

#if defined(__aarch64__)

#define LANE_BYTES 16
#define TARGET
#define CHAINS 24
#define OPAQUE(x) __asm__ volatile("" : "+w"(x))
#define FMA(acc, x, y) __asm__("fmla %0.4s, %1.4s, %2.4s" : "+w"(acc) : "w"(x), "w"(y))
#define INT8(acc, x, y)                                                            \
    do {                                                                           \
        Words products;                                                            \
        __asm__("smull %0.8h, %1.8b, %2.8b" : "=w"(products) : "w"(x), "w"(y));    \
        __asm__("smlal2 %0.8h, %1.16b, %2.16b" : "+w"(products) : "w"(x), "w"(y)); \
        __asm__("sadalp %0.4s, %1.8h" : "+w"(acc) : "w"(products));                \
    } while (false)
#define INT8_OPS 32.0

namespace memwall::kernels {
namespace {
#include "kernels/probe/loops_body.inc"
}  // namespace

const ProbeLoops kNeonLoops = {"neon", read, copy, triad, HAS_STREAMING, fp32_peak, int8_peak};

}  // namespace memwall::kernels

#endif
