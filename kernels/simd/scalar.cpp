#define MEMWALL_POLICY "kernels/simd/policy_scalar.h"
#include "kernels/simd/isa_tables.h"
#include "kernels/simd/table_body.h"

namespace memwall::kernels {
const Kernels* scalar_kernels() {
    static constexpr Kernels table = table_of("scalar");
    return &table;
}
}  // namespace memwall::kernels
