// Whatever the compiler makes of 16-byte vectors.
#include "kernels/probe/loops.h"

#define LANE_BYTES 16
#define TARGET
#define CHAINS 8
#define OPAQUE(x) __asm__ volatile("" : "+m"(x))
#define FMA(acc, x, y) (acc) += (x) * (y)
#define INT8(acc, x, y)                                             \
    (acc) = reinterpret_cast<Words>(reinterpret_cast<Shorts>(acc) + \
                                    reinterpret_cast<Shorts>(x) * reinterpret_cast<Shorts>(y))
#define INT8_OPS 16.0

namespace memwall::kernels {
namespace {
// The sums wrap; only their rate counts.
using Shorts = unsigned short __attribute__((vector_size(LANE_BYTES)));
#include "kernels/probe/loops_body.inc"
}  // namespace

const ProbeLoops kGenericLoops = {"generic", read, copy, triad, HAS_STREAMING, fp32_peak, int8_peak};

}  // namespace memwall::kernels
