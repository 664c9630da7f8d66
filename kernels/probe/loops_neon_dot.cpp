// NEON with the int8 dot product; built for armv8.2-a+dotprod (kernels/CMakeLists.txt).
#include "kernels/probe/loops.h"

#if defined(__aarch64__)

#define LANE_BYTES 16
#define TARGET
#define CHAINS 24
#define OPAQUE(x) __asm__ volatile("" : "+w"(x))
#define FMA(acc, x, y) __asm__("fmla %0.4s, %1.4s, %2.4s" : "+w"(acc) : "w"(x), "w"(y))
#define INT8(acc, x, y) __asm__("sdot %0.4s, %1.16b, %2.16b" : "+w"(acc) : "w"(x), "w"(y))
#define INT8_OPS 32.0

namespace memwall::kernels {
namespace {
#include "kernels/probe/loops_body.inc"
}  // namespace

const ProbeLoops kNeonDotLoops = {"dotprod", read, copy, triad, HAS_STREAMING, fp32_peak, int8_peak};

}  // namespace memwall::kernels

#endif
