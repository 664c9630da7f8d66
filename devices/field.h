// Every configuration that a decision on one device can choose from: of one model, or of the whole catalogue.
// Searched once; decided as often as limits move (core/plan/decide.h, core/plan/across.h).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/plan/search.h"
#include "core/quality/scores.h"
#include "devices/planning.h"

namespace memwall::devices {

/// One model's candidates: `first` to `first + grid.size()` of the field's.
struct FieldModel {
    std::string id, family;
    std::int64_t parameters = 0, active_parameters = 0;
    plan::Deployment deployment;  ///< what deployment_of() takes with a candidate
    plan::Grid grid;
    std::size_t first = 0;
};

struct Field {
    std::string device;
    std::vector<FieldModel> models;
    std::vector<plan::Candidate> candidates;
    std::vector<std::uint32_t> model_of;  ///< by candidate
};

/// The deployment with everything left open that a search turns: recipe (but not a file's own), draft, KV
/// types, context, placement.
plan::Deployment opened_axes(const plan::Deployment& deployment);

using FieldProgress = std::function<void(double share, const std::string& model)>;

/// What recommend searches: the default grid of this model with contexts from `least_context`. Throws Error.
Field search_model(const plan::Deployment& open, std::int64_t least_context);

/// What fit searches, for several contexts (those beyond what a model was trained on left out): every text
/// decoder of the catalogue on all cores, no drafts; a model of which no configuration fits is left out. Ends
/// early, with what it has, when `stop` is set.
Field search_catalogue(const plan::Deployment& open, const std::vector<std::int64_t>& contexts,
                       const FieldProgress& progress = {}, const std::atomic<bool>* stop = nullptr);

}  // namespace memwall::devices
