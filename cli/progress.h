// A progress bar on standard error, only on a terminal.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace memwall::cli {

/// Draws at most ten times a second; callable from any thread; erases itself when all is done. Does nothing
/// where standard error is no terminal.
std::function<void(std::size_t done, std::size_t all)> progress_bar(const std::string& what);

}  // namespace memwall::cli
