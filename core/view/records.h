// A listing for programs: the same records as a JSON document and as CSV, numbers in base units.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/view/json_parts.h"

namespace memwall::view {

/// Objects of the same keys, each key ending in its unit.
using Records = std::vector<Json>;

/// {"schema": schema, ..., key: records}
std::string records_json(std::string_view schema, std::string_view key, const Records& records);
/// A header of the keys; null is an empty cell, a list its elements with blanks between them.
std::string records_csv(const std::vector<std::string>& keys, const Records& records);

}  // namespace memwall::view
