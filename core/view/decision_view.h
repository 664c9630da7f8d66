// Decisions as text and JSON: what recommend prints.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/plan/decide.h"
#include "core/plan/decision_options.h"
#include "core/plan/mixed.h"

namespace memwall::view {

/// Everything recommend found for one model on one device.
struct Recommendation {
    std::string model, device;
    plan::Deployment deployment;  ///< as asked, before any axis was chosen
    plan::Demands demands;
    plan::SearchResult search;
    plan::Decision decision;
    std::optional<plan::MixedRecipe> mixed;  ///< of --mixed; its recipe is the last of the grid
    std::vector<std::string> notes;          ///< what a reader should mind, a sentence each
};

/// Answers under all priorities, the front, and for each recipe without an admitted configuration what broke
/// the one that came closest. At most `front_rows` rows of the front.
std::string recommendation_text(const Recommendation& r, bool colour, std::size_t width,
                                std::size_t front_rows = 12);

/// memwall/recommend/1
std::string recommendation_json(const Recommendation& r);

/// "Q4_K_M, KV q8_0/q4_0, 8,192 tokens": what distinguishes a candidate.
std::string candidate_text(const plan::Grid& grid, const plan::Candidate& candidate);

/// "does not fit": the verdict's name as words.
std::string verdict_text(plan::Verdict verdict);

/// Cells of a table: tokens/s, first token, job, differs; "-" for what is unknown.
std::array<std::string, 4> candidate_cells(const plan::Candidate& candidate);

/// "about 1 token in 13 differs", or why that is unknown.
std::string kept_text(const plan::Candidate& candidate);

}  // namespace memwall::view
