// Budget files run: each check planned, its limits judged, and compared with a baseline.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/plan/budget_file.h"
#include "devices/planning.h"

namespace memwall::devices {

enum class Outcome : std::uint8_t { passed, failed, undecided };
std::string_view outcome_name(Outcome outcome);

/// One limit of one check.
struct Judgement {
    std::string limit;  ///< "max_memory", "must_fit" ...
    Outcome outcome = Outcome::passed;
    std::string text;  ///< "needs 5.96 GiB of 6.00 GiB"
};

/// The numbers a baseline keeps. Bytes are the upper ends, so a change of one byte shows.
struct Figures {
    std::map<std::string, std::int64_t> bytes;  ///< needed, weights, kv_cache ... of all deployments together
    std::map<std::string, double> rates;        ///< decode_tokens_per_second, time_to_first_token_seconds
    std::map<std::string, std::string> facts;   ///< of the models: vocabulary, layers, recipe ...
    bool catalogue = false;  ///< all models and the device come from the built-in catalogue
};

struct CheckResult {
    const plan::Check* check = nullptr;
    Outcome outcome = Outcome::passed;
    std::vector<Judgement> judgements;
    std::string error;    ///< why it could not be planned: counts as failed
    std::string summary;  ///< verdict in words
    std::string command;  ///< `memwall plan ...` of the first deployment
    Figures figures;
};

/// In the file's order, on all cores. Deterministic; touches nothing but the files that the deployments name.
std::vector<CheckResult> run_checks(const plan::BudgetFile& file);

/// What changed against the baseline, one line a change.
struct Difference {
    std::string name, where;
    std::string text;         ///< "+37.0 MiB needed (weights +20.1 MiB, compute buffer +16.9 MiB): vocabulary
                              ///< 128,256 -> 151,936"
    bool regression = false;  ///< needs more memory, or central speed fell by over 1 %
    bool data = false;        ///< only catalogue or engine data of memwall changed, not the deployment
};

struct Baseline {
    std::string memwall_version, data_version;
    std::map<std::string, Figures> figures;  ///< by "name | where"
};

/// memwall/baseline/1. Throws Error with the place for anything else.
Baseline read_baseline(const std::string& text, const std::string& path);
std::string write_baseline(const std::vector<CheckResult>& results);
std::vector<Difference> compare(const std::vector<CheckResult>& results, const Baseline& baseline);

}  // namespace memwall::devices
