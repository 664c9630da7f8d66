// The one place that knows which Catch2 is installed: Debian 12 ships v2, newer systems v3.
#pragma once

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
namespace Catch {
using namespace Catch::Matchers;  // v2 keeps its matchers one level deeper than v3 names them
}
#endif
