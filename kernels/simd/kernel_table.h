// The table of one instruction set. Plain C headers only, as in jobs.h.
#pragma once

#include "kernels/simd/jobs.h"

namespace memwall::kernels {

struct Kernels {
    const char* isa;  ///< "scalar", "avx2", "avx-vnni", "avx512-vnni", "neon-dotprod"
    /// Decode (GEMV) and prefill (GEMM): the same loop, and bit for bit the same result a vector.
    void (*matmul)(const MatmulJob& job);
    void (*attend)(const AttendJob& job);
    /// Reads whole lines and returns a mixture of them, so that nothing is left out.
    uint64_t (*read)(const void* from, size_t bytes, Access access);
    void (*copy)(void* to, const void* from, size_t bytes, Access access);  ///< 64-byte aligned, whole lines
    /// a = b + s c over n floats, a multiple of 16, 64-byte aligned.
    void (*triad)(float* a, const float* b, const float* c, float s, size_t n, Access access);
    uint64_t (*peak_int8)(uint64_t rounds);  ///< operations done: 2 a multiply-add
    uint64_t (*peak_f32)(uint64_t rounds);
};

}  // namespace memwall::kernels
