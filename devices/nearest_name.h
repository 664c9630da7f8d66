// "Did you mean": the known names closest to what was typed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace memwall::devices {

/// At most `count` of `known`, the nearest first: by edits, where names that begin with or contain the typed
/// text count as near. Names that have nothing to do with it are left out.
std::vector<std::string> nearest_names(std::string_view typed, const std::vector<std::string>& known,
                                       std::size_t count = 3);

}  // namespace memwall::devices
