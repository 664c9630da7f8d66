// A progress bar on standard error, only on a terminal.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace memwall::cli {

/// Draws at most ten times a second; callable from any thread; erases itself when all is done. Does nothing
/// where standard error is no terminal.
std::function<void(std::size_t done, std::size_t all)> progress_bar(const std::string& what);

/// The same for work that knows its share done (0..1) and names its step.
std::function<void(std::string_view what, double share)> progress_line();

}  // namespace memwall::cli
