// SPDX-License-Identifier: GPL-3.0-only
// What a first start shows.
#pragma once

#include "core/plan/deployment.h"

namespace memwall::gui {

/// A small model at 8K, planned within a frame: on `device`, else on this machine if it can be described in
/// under 50 ms, else on an 8 GiB Raspberry Pi 5.
plan::Deployment start_at_once(const std::string& device = "");

/// The model of the catalogue with the best published score that fits there at 8K, at reading speed; `first`
/// where there is none. Searches the whole catalogue: for a worker.
plan::Deployment best_start(const plan::Deployment& first);

}  // namespace memwall::gui
