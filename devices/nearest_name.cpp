#include "devices/nearest_name.h"

#include <algorithm>

#include "core/base/edit_distance.h"

namespace memwall::devices {
std::vector<std::string> nearest_names(std::string_view typed, const std::vector<std::string>& known,
                                       std::size_t count) {
    constexpr std::size_t kLongest = 64;  // nothing longer is a misspelt name
    if (typed.empty() || typed.size() > kLongest) return {};
    std::vector<std::pair<std::size_t, std::string>> ranked;
    for (const std::string& name : known) {
        const auto at = name.find(typed);
        const std::size_t distance = at == 0 ? 0 : at != std::string::npos ? 1 : edit_distance(typed, name);
        if (distance <= std::max<std::size_t>(2, typed.size() / 3)) ranked.emplace_back(distance, name);
    }
    std::sort(ranked.begin(), ranked.end());
    std::vector<std::string> names;
    for (auto& [distance, name] : ranked)
        if (names.size() < count) names.push_back(std::move(name));
    return names;
}

}  // namespace memwall::devices
