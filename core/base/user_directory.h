// Where a user keeps models, devices and calibrations of his own.
#pragma once

#include <string>

namespace memwall {

/// $XDG_CONFIG_HOME/memwall, else ~/.config/memwall; empty when neither variable is set.
std::string user_directory();

}  // namespace memwall
