#include "kernels/simd/isa_tables.h"

#if defined(__AVX512VNNI__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define MEMWALL_POLICY "kernels/simd/policy_avx512_vnni.h"
#include "kernels/simd/table_body.h"

namespace memwall::kernels {
const Kernels* avx512_vnni_kernels() {
    static constexpr Kernels table = table_of("avx512-vnni");
    return &table;
}
}  // namespace memwall::kernels
#else
namespace memwall::kernels {
const Kernels* avx512_vnni_kernels() {
    return nullptr;
}
}  // namespace memwall::kernels
#endif
