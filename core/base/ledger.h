// The ledger: a tree in which every number stands with its formula, its inputs and where they came from.
// It is unfolded from the terms that evaluate() computed, so it cannot disagree with them (DESIGN, idea 2).
#pragma once

#include <string>
#include <vector>

#include "core/base/interval.h"

namespace memwall {

enum class Unit {
    none,
    bytes,
    seconds,
    per_second,
    bytes_per_second,
    ops_per_second,
    joules,
    tokens,
    parameters
};

struct LedgerInput {
    std::string name;   ///< our vocabulary: "kv_heads"
    std::string value;  ///< as text, with unit
    std::string
        source;  ///< "gguf:llama.attention.head_count_kv", "catalogue", "default: head_dim = hidden/heads"
};

struct LedgerItem {
    std::string name;        ///< the JSON name without its unit: "kv_cache"
    Interval<double> value;  ///< bytes stay exact: below 2^53
    Unit unit = Unit::none;
    std::string formula;  ///< in words and our names; empty where the value is a sum of the children
    std::vector<LedgerInput> inputs;
    std::vector<LedgerItem> children;
};

}  // namespace memwall
