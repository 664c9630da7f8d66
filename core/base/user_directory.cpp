#include "core/base/user_directory.h"

#include <cstdlib>

namespace memwall {

std::string user_directory() {
    if (const char* xdg = std::getenv("XDG_CONFIG_HOME"); xdg && *xdg) return std::string(xdg) + "/memwall";
    if (const char* home = std::getenv("HOME"); home && *home) return std::string(home) + "/.config/memwall";
    return {};
}

}  // namespace memwall
