// JSON documents of the contract (docs/schema/). Text in, text out: callers need no JSON library.
#pragma once

#include <string>

#include "core/base/ledger.h"
#include "core/plan/advise.h"
#include "core/plan/co_resident.h"
#include "core/plan/prepare.h"

namespace memwall::view {

/// memwall/plan/1; with the ledger when `ledger` is given.
std::string plan_json(const plan::Prepared& prepared, const plan::Knobs& knobs, const plan::Target& target,
                      const plan::Plan& plan, const plan::Advice& advice, const LedgerItem* ledger = nullptr);

/// memwall/ledger/1
std::string ledger_json(const LedgerItem& item);

/// memwall/compare/1: an array of plan documents under "plans".
std::string compare_json(const std::vector<std::string>& plan_documents,
                         const plan::CoResidence* together = nullptr);

}  // namespace memwall::view
