#include "core/device/budget.h"

#include <algorithm>

namespace memwall::device {

Bytes usable_bytes(const Pool& pool, ProcessorKind kind) {
    const UsableVariant* cpu_only = kind == ProcessorKind::cpu ? pool.variant("cpu_only") : nullptr;
    return cpu_only ? cpu_only->usable : pool.usable;
}

Bytes budget_bytes(const Pool& pool, ProcessorKind kind, Bytes reserve) {
    return std::max(Bytes(0), usable_bytes(pool, kind) - reserve);
}

}  // namespace memwall::device
