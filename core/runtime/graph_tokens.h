// Words of the operator-table language, line by line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace memwall::runtime::lang {

struct Token {
    enum class Kind : std::uint8_t { name, number, sign, end } kind = Kind::end;
    std::string_view text;  ///< in the source
    std::int64_t number = 0;
};

/// A line that holds something. Its tokens end with one of kind `end`.
struct Line {
    int number = 0;
    int indent = 0;  ///< blanks before the first token
    std::vector<Token> tokens;
};

/// Lines from `first_line` on, without comments and empty ones; a line goes on while a parenthesis is open.
/// Throws Error("place:line") for characters that are not part of the language, tabs and numbers beyond 64
/// bits.
std::vector<Line> tokenize(std::string_view text, const std::string& place, int first_line);

}  // namespace memwall::runtime::lang
