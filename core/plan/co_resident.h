// Several deployments that run on one device at the same time and share its budget.
#pragma once

#include <span>

#include "core/plan/plan.h"

namespace memwall::plan {

struct CoResidence {
    Interval<Bytes> needed;  ///< of all of them in the processor's pool
    Bytes budget;  ///< what is usable there: each is a process of its own, so the largest of their budgets
    Verdict verdict = Verdict::fits;
};

/// Plans must be of the same device. Every process pays its own overhead; nothing is shared between them.
CoResidence together(std::span<const Plan> plans);

}  // namespace memwall::plan
