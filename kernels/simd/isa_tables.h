// The tables of all instruction sets, one a translation unit. A table of another processor family or one that
// the compiler cannot build does not exist: its function gives nullptr.
#pragma once

namespace memwall::kernels {

struct Kernels;
const Kernels* scalar_kernels();
const Kernels* avx2_kernels();
const Kernels* avx_vnni_kernels();
const Kernels* avx512_vnni_kernels();
const Kernels* neon_dotprod_kernels();

}  // namespace memwall::kernels
