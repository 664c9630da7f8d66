// AVX-VNNI: the int8 dot product in 256 bits.
#include "kernels/probe/loops.h"

#if defined(__x86_64__)

#define LANE_BYTES 32
#define TARGET __attribute__((target("avx2,fma,avxvnni")))
#define CHAINS 12
#define STORE_AROUND(to, vector) __asm__ volatile("vmovntdq %1, %0" : "=m"(*(to)) : "v"(vector))
#define STORE_FENCE __asm__ volatile("sfence" ::: "memory")
#define OPAQUE(x) __asm__ volatile("" : "+v"(x))
#define FMA(acc, x, y) __asm__("vfmadd231ps %2, %1, %0" : "+v"(acc) : "v"(x), "v"(y))
#define INT8(acc, x, y) __asm__("%{vex%} vpdpbusd %2, %1, %0" : "+x"(acc) : "x"(x), "x"(y))
#define INT8_OPS 64.0

namespace memwall::kernels {
namespace {
#include "kernels/probe/loops_body.inc"
}  // namespace

const ProbeLoops kAvx2VnniLoops = {"avx_vnni", read, copy, triad, HAS_STREAMING, fp32_peak, int8_peak};

}  // namespace memwall::kernels

#endif
