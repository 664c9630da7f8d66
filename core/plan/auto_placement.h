// `--gpu-layers auto` and `--offload auto`: what to leave to the host when the card is too small.
#pragma once

#include "core/plan/prepare.h"

namespace memwall::plan {

/// `knobs` with the fastest placement whose verdict is `fits`, by evaluate(): as many layers on the card as
/// fit, and under `--offload auto` also experts of all layers, the cache, or both in host memory. Everything
/// stays on the card when it fits there; a plan that fits nowhere keeps no layer there. Unchanged unless one
/// of the two options says auto and the device has a card with memory of its own.
Knobs place_automatically(const Prepared& prepared, const Target& target, Knobs knobs);

/// The same whatever the deployment says: layers, and with `beyond_layers` also experts and cache.
Knobs spill(const Prepared& prepared, const Target& target, Knobs knobs, bool beyond_layers);

}  // namespace memwall::plan
