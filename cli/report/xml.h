// Text inside XML, SVG and HTML.
#pragma once

#include <string>
#include <string_view>

namespace memwall::cli {

/// For element text and quoted attributes: the five characters of markup as entities, line breaks as
/// references (a plain one is a blank inside an attribute), other control characters, which XML 1.0 forbids,
/// as blanks.
std::string escaped(std::string_view text);

}  // namespace memwall::cli
