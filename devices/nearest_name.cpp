#include "devices/nearest_name.h"

#include <algorithm>
#include <numeric>

namespace memwall::devices {
namespace {

/// Insertions, deletions and replacements that turn `a` into `b` (Levenshtein).
std::size_t edits(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i + 1;
        for (std::size_t j = 0; j < b.size(); ++j) {
            const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
        }
    }
    return row[b.size()];
}

}  // namespace

std::vector<std::string> nearest_names(std::string_view typed, const std::vector<std::string>& known,
                                       std::size_t count) {
    constexpr std::size_t kLongest = 64;  // nothing longer is a misspelt name
    if (typed.empty() || typed.size() > kLongest) return {};
    std::vector<std::pair<std::size_t, std::string>> ranked;
    for (const std::string& name : known) {
        const auto at = name.find(typed);
        const std::size_t distance = at == 0 ? 0 : at != std::string::npos ? 1 : edits(typed, name);
        if (distance <= std::max<std::size_t>(2, typed.size() / 3)) ranked.emplace_back(distance, name);
    }
    std::sort(ranked.begin(), ranked.end());
    std::vector<std::string> names;
    for (auto& [distance, name] : ranked)
        if (names.size() < count) names.push_back(std::move(name));
    return names;
}

}  // namespace memwall::devices
