#include "core/base/error.h"

namespace memwall {

std::string Error::compose(const std::string& place, const std::string& found, const std::string& expected,
                           const std::string& hint) {
    std::string line;
    if (!place.empty()) line += place + ": ";
    line += found;
    if (!expected.empty()) line += "; expected " + expected;
    if (!hint.empty()) line += "; " + hint;
    for (char& c : line)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
    return line;
}

}  // namespace memwall
