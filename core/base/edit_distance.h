// How far a typed name is from a known one, for "did you mean".
#pragma once

#include <cstddef>
#include <string_view>

namespace memwall {

/// Insertions, deletions, replacements and swaps of neighbours that turn one text into the other, no place
/// edited twice (optimal string alignment). Takes time and memory of a.size() x b.size(): cut hostile input
/// first.
std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace memwall
