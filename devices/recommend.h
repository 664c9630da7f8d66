// The best configurations of one model on one device: default grid, search, decision. What the command, the
// report and the explorer show.
#pragma once

#include <string>
#include <vector>

#include "core/plan/decision_options.h"
#include "core/view/decision_view.h"
#include "devices/planning.h"
#include "devices/sweep.h"

namespace memwall::devices {

/// Models of the catalogue as draft candidates; read once.
const std::vector<plan::DraftModel>& catalogue_drafts();

/// Whether a search may leave to the host what a card does not hold: only where the host's memory is known.
bool may_spill(const device::Device& device);
/// Says that the host's memory is unknown and how to name it; "" where nothing could spill, or may.
std::string unknown_host_note(const device::Device& device);

/// Throws the error of the first recipe where none of the grid could be prepared (a bad --quant, an
/// --evidence that cannot be read), or of the draft that the deployment names: bad input, not a rejected
/// configuration.
void refuse_bad_input(const model::Model& model, const plan::Deployment& deployment,
                      const plan::SearchResult& result);

/// Axes of the search from "--axis NAME=VALUES": runtime, quant, draft (none or MODEL[:RECIPE]), kv (TYPE or
/// KEYS/VALUES), context, sequences, offload (none or auto). Throws Error for other names and bad values.
plan::Axes search_axes(const std::vector<Axis>& axes);

/// The default grid of the stated deployment, its axes replaced by `axes`, searched and decided. With `mixed`
/// also, for the best configuration by quality, the recipe of mixed formats that fills what it leaves of the
/// budget. Throws Error.
view::Recommendation recommend(const plan::Deployment& stated, const plan::Demands& demands,
                               const plan::Axes& axes = {}, bool mixed = false);

}  // namespace memwall::devices
