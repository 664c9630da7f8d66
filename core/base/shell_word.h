// Text as one word of a POSIX shell.
#pragma once

#include <string>

namespace memwall {

/// As it is where no shell would touch it, else in single quotes.
std::string shell_word(const std::string& text);

}  // namespace memwall
