// AVX-512 VNNI.
#include "kernels/probe/loops.h"

#if defined(__x86_64__)

#define LANE_BYTES 64
#define TARGET __attribute__((target("avx512f,avx512bw")))
#define CHAINS 16
#define STORE_AROUND(to, vector) __asm__ volatile("vmovntdq %1, %0" : "=m"(*(to)) : "v"(vector))
#define STORE_FENCE __asm__ volatile("sfence" ::: "memory")
#define OPAQUE(x) __asm__ volatile("" : "+v"(x))
#define FMA(acc, x, y) __asm__("vfmadd231ps %2, %1, %0" : "+v"(acc) : "v"(x), "v"(y))
#define INT8(acc, x, y) __asm__("vpdpbusd %2, %1, %0" : "+v"(acc) : "v"(x), "v"(y))
#define INT8_OPS 128.0

namespace memwall::kernels {
namespace {
#include "kernels/probe/loops_body.inc"
}  // namespace

const ProbeLoops kAvx512VnniLoops = {"avx512_vnni", read, copy, triad, HAS_STREAMING, fp32_peak, int8_peak};

}  // namespace memwall::kernels

#endif
