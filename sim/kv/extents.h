// Runs of cells in one row: the allocator below contiguous caches.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

namespace memwall::sim {

enum class Fit : std::uint8_t {
    first,  ///< the first hole that is large enough
    best,   ///< the smallest such hole
    buddy   ///< powers of two, halved and joined again
};
std::string_view fit_name(Fit fit);

class Extents {
  public:
    Extents(std::int64_t cells, Fit fit);
    /// Start of a run of at least `cells`; -1 when no hole is large enough.
    std::int64_t take(std::int64_t cells);
    /// Gives back what take() returned for so many cells.
    void give(std::int64_t start, std::int64_t cells);
    /// Cells that a request for `cells` really occupies: the next power of two for buddies.
    std::int64_t occupied_by(std::int64_t cells) const;

    std::int64_t cells() const { return cells_; }
    std::int64_t free() const { return free_; }
    std::int64_t largest_hole() const;
    std::int64_t holes() const;

  private:
    Fit fit_;
    std::int64_t cells_, free_;
    std::map<std::int64_t, std::int64_t> holes_;  ///< start -> cells; buddies keep each half apart
};

}  // namespace memwall::sim
