// All bodies of one instruction set and the table of them.
#pragma once

#include "kernels/simd/attend_body.h"
#include "kernels/simd/kernel_table.h"
#include "kernels/simd/loops_body.h"
#include "kernels/simd/matmul_body.h"

namespace memwall::kernels {
namespace {
constexpr Kernels table_of(const char* isa) {
    return {isa, matmul, attend, read, copy, triad, peak_int8, peak_f32};
}
}  // namespace
}  // namespace memwall::kernels
