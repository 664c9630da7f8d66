#include "kernels/simd/isa_tables.h"

#if defined(__AVXVNNI__) && defined(__FMA__) && defined(__F16C__)
#define MEMWALL_POLICY "kernels/simd/policy_avx2.h"
#include "kernels/simd/table_body.h"

namespace memwall::kernels {
const Kernels* avx_vnni_kernels() {
    static constexpr Kernels table = table_of("avx-vnni");
    return &table;
}
}  // namespace memwall::kernels
#else
namespace memwall::kernels {
const Kernels* avx_vnni_kernels() {
    return nullptr;
}
}  // namespace memwall::kernels
#endif
