// SPDX-License-Identifier: GPL-3.0-only
// What a first start shows.
#pragma once

#include "core/plan/deployment.h"

namespace memwall::gui {

/// The model of the catalogue with the best published score that fits at 8K, at reading speed, on this
/// machine if it can be described in under 50 ms, else on an 8 GiB Raspberry Pi 5.
plan::Deployment start_deployment();

}  // namespace memwall::gui
