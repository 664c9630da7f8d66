// What the chapters of explain() share; not for users of the library.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/plan/explain.h"

namespace memwall::plan {

inline Interval<double> real(const Interval<Bytes>& b) {
    return {b.low.as_double(), b.central.as_double(), b.high.as_double(), b.level, b.basis};
}
template <class T>
Interval<double> real(const Interval<T>& x) {
    return {x.low.value, x.central.value, x.high.value, x.level, x.basis};
}

inline LedgerItem leaf(std::string name, Interval<double> value, Unit unit, std::string formula,
                       std::vector<LedgerInput> inputs = {}) {
    LedgerItem item;
    item.name = std::move(name);
    item.value = value;
    item.unit = unit;
    item.formula = std::move(formula);
    item.inputs = std::move(inputs);
    return item;
}

inline LedgerItem bytes_leaf(std::string name, Bytes b, std::string formula,
                             std::vector<LedgerInput> inputs = {}) {
    return leaf(std::move(name), real(Interval<Bytes>::exact(b)), Unit::bytes, std::move(formula),
                std::move(inputs));
}

/// "speed": decode and prefill with what binds them, the operators of both phases, batching, and what a
/// decode without a cache would cost.
LedgerItem explain_speed(const Prepared& prepared, const Knobs& knobs, const Target& target,
                         const Plan& plan);

/// "quality": the band, what it rests on, the nearest evidence and what is not claimed.
LedgerItem explain_quality(const Prepared& prepared, const Knobs& knobs);

}  // namespace memwall::plan
