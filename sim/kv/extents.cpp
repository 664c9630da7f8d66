#include "sim/kv/extents.h"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>

namespace memwall::sim {

std::string_view fit_name(Fit fit) {
    constexpr std::array<std::string_view, 3> kNames{"first", "best", "buddy"};
    return kNames[static_cast<std::size_t>(fit)];
}

Extents::Extents(std::int64_t cells, Fit fit) : fit_(fit), cells_(cells), free_(cells) {
    if (fit != Fit::buddy) {
        if (cells > 0) holes_[0] = cells;
        return;
    }
    // The row as powers of two, the largest first, so that each block starts at a multiple of its size.
    for (std::int64_t start = 0; start < cells;) {
        const auto size =
            static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(cells - start)));
        holes_[start] = size;
        start += size;
    }
}

std::int64_t Extents::occupied_by(std::int64_t cells) const {
    return fit_ == Fit::buddy ? static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(cells)))
                              : cells;
}

std::int64_t Extents::take(std::int64_t cells) {
    const std::int64_t size = occupied_by(cells);
    auto chosen = holes_.end();
    for (auto it = holes_.begin(); it != holes_.end(); ++it) {
        if (it->second < size) continue;
        if (chosen == holes_.end() || it->second < chosen->second) chosen = it;
        if (fit_ == Fit::first || it->second == size) break;
    }
    if (chosen == holes_.end()) return -1;
    const std::int64_t start = chosen->first;
    std::int64_t hole = chosen->second;
    holes_.erase(chosen);
    if (fit_ == Fit::buddy)
        for (; hole > size; hole /= 2) holes_[start + hole / 2] = hole / 2;
    else if (hole > size)
        holes_[start + size] = hole - size;
    free_ -= size;
    return start;
}

void Extents::give(std::int64_t start, std::int64_t cells) {
    std::int64_t size = occupied_by(cells);
    free_ += size;
    if (fit_ == Fit::buddy) {
        while (true) {
            const std::int64_t buddy = start ^ size;
            const auto it = holes_.find(buddy);
            if (it == holes_.end() || it->second != size || std::min(start, buddy) + 2 * size > cells_) break;
            holes_.erase(it);
            start = std::min(start, buddy);
            size *= 2;
        }
        holes_[start] = size;
        return;
    }
    auto after = holes_.lower_bound(start);
    if (after != holes_.end() && after->first == start + size) {
        size += after->second;
        after = holes_.erase(after);
    }
    if (after != holes_.begin()) {
        const auto before = std::prev(after);
        if (before->first + before->second == start) {
            before->second += size;
            return;
        }
    }
    holes_[start] = size;
}

std::int64_t Extents::largest_hole() const {
    std::int64_t most = 0;
    for (const auto& [start, size] : holes_) most = std::max(most, size);
    return most;
}

std::int64_t Extents::holes() const {
    return static_cast<std::int64_t>(holes_.size());
}

}  // namespace memwall::sim
