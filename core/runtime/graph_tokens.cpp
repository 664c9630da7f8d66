#include "core/runtime/graph_tokens.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "core/base/error.h"

namespace memwall::runtime::lang {
namespace {

/// Also bounds how deep an expression's tree can grow ("a + a + a ...").
constexpr std::size_t kMaxTokens = 200;

constexpr std::array<std::string_view, 21> kSigns{"..", "==", "!=", "<=", ">=", "+", "-", "*", "/", "%", "(",
                                                  ")",  "<",  ">",  ",",  "=",  "?", ":", "[", "]", "."};

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/// Takes one token off the front of `rest`.
Token next_token(std::string_view& rest, const std::string& place, int line) {
    const auto take = [&](Token::Kind kind, std::size_t length) {
        const Token t{kind, rest.substr(0, length), 0};
        rest.remove_prefix(length);
        return t;
    };
    if (is_digit(rest.front())) {
        std::size_t n = 1;
        while (n < rest.size() && is_digit(rest[n])) ++n;
        Token t = take(Token::Kind::number, n);
        if (std::from_chars(t.text.data(), t.text.data() + n, t.number).ec != std::errc{})
            throw Error(fmt::format("{}:{}", place, line), fmt::format("number {}", t.text),
                        "a number below 2^63");
        return t;
    }
    if (is_letter(rest.front())) {
        std::size_t n = 1;
        while (n < rest.size() && (is_letter(rest[n]) || is_digit(rest[n]))) ++n;
        return take(Token::Kind::name, n);
    }
    const auto sign = std::find_if(kSigns.begin(), kSigns.end(),
                                   [&](std::string_view s) { return rest.substr(0, s.size()) == s; });
    if (sign == kSigns.end())
        throw Error(fmt::format("{}:{}", place, line), fmt::format("character '{}'", rest.front()),
                    "a name, a number or an operator");
    return take(Token::Kind::sign, sign->size());
}

}  // namespace

std::vector<Line> tokenize(std::string_view text, const std::string& place, int first_line) {
    std::vector<Line> lines;
    int open = 0;  // parentheses and brackets of the last line, which goes on until they are closed
    for (int number = 1; !text.empty(); ++number) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string_view rest = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (number < first_line) continue;
        rest = rest.substr(0, rest.find('#'));
        while (!rest.empty() && (rest.back() == ' ' || rest.back() == '\r')) rest.remove_suffix(1);
        if (rest.empty()) continue;

        if (open > 0) {
            lines.back().tokens.pop_back();
        } else {
            lines.push_back({number, static_cast<int>(rest.find_first_not_of(' ')), {}});
            open = 0;
        }
        std::vector<Token>& tokens = lines.back().tokens;
        while (true) {
            rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
            if (rest.empty()) break;
            tokens.push_back(next_token(rest, place, number));
            const std::string_view sign = tokens.back().text;
            open += sign == "(" || sign == "[" ? 1 : sign == ")" || sign == "]" ? -1 : 0;
            if (tokens.size() > kMaxTokens)
                throw Error(fmt::format("{}:{}", place, lines.back().number), "a very long line",
                            fmt::format("at most {} words", kMaxTokens), "a parenthesis may be missing");
        }
        tokens.push_back({});
    }
    return lines;
}

}  // namespace memwall::runtime::lang
