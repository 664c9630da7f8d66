#pragma once

namespace memwall {
extern const char* const kVersion;      ///< of the program
extern const char* const kDataVersion;  ///< of catalogues and priors: the day they were compiled
}  // namespace memwall
