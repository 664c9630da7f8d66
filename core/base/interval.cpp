#include "core/base/interval.h"

#include <mutex>
#include <unordered_set>

namespace memwall {

std::string_view intern(const std::string& text) {
    static std::mutex mutex;
    static std::unordered_set<std::string> strings;  // nodes never move, so views stay valid
    const std::lock_guard lock(mutex);
    return *strings.insert(text).first;
}

}  // namespace memwall
