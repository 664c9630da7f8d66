// AVX-512 without VNNI: int8 products through 16-bit sums.
#include "kernels/probe/loops.h"

#if defined(__x86_64__)

#define LANE_BYTES 64
#define TARGET __attribute__((target("avx512f,avx512bw")))
#define CHAINS 16
#define STORE_AROUND(to, vector) __asm__ volatile("vmovntdq %1, %0" : "=m"(*(to)) : "v"(vector))
#define STORE_FENCE __asm__ volatile("sfence" ::: "memory")
#define OPAQUE(x) __asm__ volatile("" : "+v"(x))
#define FMA(acc, x, y) __asm__("vfmadd231ps %2, %1, %0" : "+v"(acc) : "v"(x), "v"(y))
#define INT8(acc, x, y)                                             \
    do {                                                            \
        Words products = x;                                         \
        __asm__("vpmaddubsw %1, %0, %0" : "+v"(products) : "v"(y)); \
        __asm__("vpmaddwd %1, %0, %0" : "+v"(products) : "v"(y));   \
        __asm__("vpaddd %1, %0, %0" : "+v"(acc) : "v"(products));   \
    } while (false)
#define INT8_OPS 128.0

namespace memwall::kernels {
namespace {
#include "kernels/probe/loops_body.inc"
}  // namespace

const ProbeLoops kAvx512Loops = {"avx512", read, copy, triad, HAS_STREAMING, fp32_peak, int8_peak};

}  // namespace memwall::kernels

#endif
