#include "kernels/simd/isa_tables.h"

#if defined(__ARM_FEATURE_DOTPROD)
#define MEMWALL_POLICY "kernels/simd/policy_neon_dotprod.h"
#include "kernels/simd/table_body.h"

namespace memwall::kernels {
const Kernels* neon_dotprod_kernels() {
    static constexpr Kernels table = table_of("neon-dotprod");
    return &table;
}
}  // namespace memwall::kernels
#else
namespace memwall::kernels {
const Kernels* neon_dotprod_kernels() {
    return nullptr;
}
}  // namespace memwall::kernels
#endif
