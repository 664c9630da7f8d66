// Overrides of a recipe by tensor name.
#pragma once

#include <optional>
#include <regex>
#include <string_view>
#include <vector>

#include "core/quant/recipe.h"

namespace memwall::quant {

/// The overrides of one assignment, their patterns compiled once. A pattern without special characters is
/// looked for as it stands, since std::regex is slow.
class OverrideMatcher {
  public:
    /// Throws Error for a pattern that is no regular expression.
    explicit OverrideMatcher(const std::vector<TensorOverride>& overrides);
    /// The format of the first pattern that occurs in `name`.
    std::optional<Format> find(std::string_view name) const;

  private:
    struct Entry {
        std::string text;
        std::optional<std::regex> expression;
        Format format;
    };
    std::vector<Entry> entries_;
};

}  // namespace memwall::quant
