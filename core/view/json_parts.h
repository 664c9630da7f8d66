// Pieces that several documents share. Only for core/view/*.cpp: keeps the JSON library out of public
// headers.
#pragma once

#include <nlohmann/json.hpp>

#include "core/base/interval.h"
#include "core/base/ledger.h"
#include "core/base/version.h"
#include "core/plan/search.h"
#include "core/quality/estimate.h"

namespace memwall::view {

using Json = nlohmann::ordered_json;

inline Json number(Bytes b) {
    return b.value;
}
template <class Tag>
Json number(detail::Real<Tag> x) {
    return x.value;
}
inline Json number(double x) {
    return x;
}

/// {"low","central","high","level","basis"}; integers for bytes.
template <class T>
Json quantity(const Interval<T>& i) {
    return {{"low", number(i.low)},
            {"central", number(i.central)},
            {"high", number(i.high)},
            {"level", i.level},
            {"basis", i.basis}};
}

/// A document's head: schema and versions.
inline Json document(std::string_view schema) {
    return {{"schema", schema}, {"memwall_version", kVersion}, {"data_version", kDataVersion}};
}

Json ledger(const LedgerItem& item);
Json quality_json(const quality::Estimate& estimate);
/// Adds what a candidate's decision rests on: verdict, bytes, and of times, energy and quality what is known.
void add_candidate(Json& j, const plan::Candidate& candidate);

}  // namespace memwall::view
