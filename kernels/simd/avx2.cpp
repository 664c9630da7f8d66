#include "kernels/simd/isa_tables.h"

#if defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)
#define MEMWALL_POLICY "kernels/simd/policy_avx2.h"
#include "kernels/simd/table_body.h"

namespace memwall::kernels {
const Kernels* avx2_kernels() {
    static constexpr Kernels table = table_of("avx2");
    return &table;
}
}  // namespace memwall::kernels
#else
namespace memwall::kernels {
const Kernels* avx2_kernels() {
    return nullptr;
}
}  // namespace memwall::kernels
#endif
