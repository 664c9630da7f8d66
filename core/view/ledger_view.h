// The ledger as text for a terminal.
#pragma once

#include <string>

#include "core/base/ledger.h"

namespace memwall::view {

/// The tree below `item`: value, formula, inputs with their sources; long ones wrapped at `width`, 0 = never.
std::string ledger_text(const LedgerItem& item, bool colour, std::size_t width = 0);
/// "119.0 MiB (124,780,544 bytes)", "2.24 tokens/s", ...
std::string value_text(const LedgerItem& item);

}  // namespace memwall::view
