// Sequences of layer kinds as people write them: "1 dense, 26 moe", "34 of (5 local, 1 global)".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace memwall::model {

/// Names of the layers in order. `N of (...)` repeats what is in the parentheses until there are N layers; it
/// does not nest. A name without a number is one layer. Throws Error with `place` for anything else and for
/// more than kMostLayers layers.
std::vector<std::string> parse_layer_pattern(std::string_view text, const std::string& place);

/// The shortest such text that gives `names` back.
std::string layer_pattern_text(const std::vector<std::string>& names);

/// Distance at which the second half of a sequence repeats itself; 1 where it does not. `kinds[i]` is any
/// number that is equal for equal layers.
std::size_t repeat_length(const std::vector<std::size_t>& kinds);

}  // namespace memwall::model
