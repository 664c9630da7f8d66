// The face of `memwall plan`: one screen of text.
#pragma once

#include <string>
#include <string_view>

#include "core/plan/advise.h"
#include "core/plan/prepare.h"

namespace memwall::view {

std::string plan_text(const plan::Prepared& prepared, const plan::Knobs& knobs, const plan::Target& target,
                      const plan::Plan& plan, const plan::Advice& advice, bool colour, std::size_t width);

/// "KV cache", "repacked copies": an item as people read it.
std::string_view item_words(plan::Item item);

/// "raspberry-pi-5, 8.00 GiB" - device and the size of the pool that decides.
std::string device_text(const plan::Target& target);

}  // namespace memwall::view
