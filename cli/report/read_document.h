// Reading our own documents back; only for read_*.cpp.
#pragma once

#include <nlohmann/json.hpp>

#include "cli/report/report.h"

namespace memwall::cli {

using Json = nlohmann::ordered_json;

template <class T>
Interval<T> quantity_of(const Json& j) {
    using Value = decltype(T{}.value);
    return {T(j.at("low").get<Value>()), T(j.at("central").get<Value>()), T(j.at("high").get<Value>()),
            j.at("level").get<double>(), intern(j.at("basis").get<std::string>())};
}

void read_recommendation(Report& report, const Json& document);
void read_plan(Report& report, const Json& document);
void read_simulation(Report& report, const Json& document);

}  // namespace memwall::cli
