// Unfolds the terms of a plan into the ledger.
#pragma once

#include "core/base/ledger.h"
#include "core/plan/prepare.h"

namespace memwall::plan {

/// The tree "memory" -> items -> groups. Each leaf carries formula, inputs and their sources; the value of
/// every inner item is the sum of its children and equals the plan's term (checked in explain_test.cpp).
LedgerItem explain(const Prepared& prepared, const Knobs& knobs, const Target& target, const Plan& plan);

/// The item of that name anywhere in the tree ("kv_cache"), or nullptr.
const LedgerItem* find_item(const LedgerItem& root, std::string_view name);

}  // namespace memwall::plan
