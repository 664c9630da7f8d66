// Sizing checks as a file: `schema: memwall/budgets/1`. docs/check.md explains it by example.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/plan/decision_options.h"

namespace memwall::plan {

enum class Expectation : std::uint8_t { must_fit, must_not_fit, any };
std::string_view expectation_name(Expectation expectation);

/// One deployment on one device with what must hold there. Lists in the file have been multiplied out.
struct Check {
    std::string name;   ///< of the entry in the file; unique together with `where`
    std::string where;  ///< "pixel-9-pro, context 8192": device and the values of lists
    int line = 0;       ///< of the entry
    /// One, or several that run together and share the device's budget.
    std::vector<Deployment> deployments;
    Expectation expectation = Expectation::must_fit;
    Constraints limits;  ///< confidence: see `decided`
    Bytes min_headroom{};
    std::int64_t min_max_context = 0;  ///< the largest context that fits must reach this
    double margin = 0;                 ///< share by which every limit is tightened
    bool decided = false;  ///< a confidence was given; else a limit inside an interval is undecided
};

struct BudgetFile {
    std::string path;
    std::vector<Check> checks;
};

/// Throws Error naming file and line for anything unknown, missing or out of range.
BudgetFile read_budgets(const std::string& text, const std::string& path);

/// A first file for these models and devices, with comments: every deployment must fit.
std::string first_budgets(const std::vector<std::string>& models, const std::vector<std::string>& devices);

}  // namespace memwall::plan
