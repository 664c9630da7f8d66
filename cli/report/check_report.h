// What check prints, in the forms that people and CI systems read. All from the same results.
#pragma once

#include <string>
#include <vector>

#include "devices/check.h"

namespace memwall::cli {

struct CheckRun {
    const plan::BudgetFile& file;
    const std::vector<devices::CheckResult>& results;
    const std::vector<devices::Difference>& differences;
    bool undecided_passes = false;  ///< --undecided pass
};

std::string check_text(const CheckRun& run, bool colour, std::size_t width);
/// memwall/check/1
std::string check_json(const CheckRun& run);
/// JUnit XML (the form that the Jenkins xUnit plugin reads): undecided is a failure
/// unless it passes.
std::string check_junit(const CheckRun& run);
/// SARIF 2.1.0, one result a limit that is not met, at the line of the check in the budget file.
std::string check_sarif(const CheckRun& run);
/// Workflow commands of GitHub: ::error file=...,line=...::text
std::string check_github(const CheckRun& run);
/// For a pull request's comment or $GITHUB_STEP_SUMMARY.
std::string check_markdown(const CheckRun& run);

}  // namespace memwall::cli
