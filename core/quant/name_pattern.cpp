#include "core/quant/name_pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace memwall::quant {
namespace {

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// Up to `max_digits` digits from the front of `text`; nullopt if there is none.
std::optional<int> take_number(std::string_view& text, int max_digits) {
    int value = 0, digits = 0;
    while (!text.empty() && is_digit(text.front()) && digits < max_digits) {
        value = 10 * value + (text.front() - '0');
        text.remove_prefix(1);
        ++digits;
    }
    if (digits == 0) return std::nullopt;
    return value;
}

/// "4" -> 4000, "4.25" -> 4250; at most 64 bits.
std::optional<std::uint16_t> take_milli_bits(std::string_view& text) {
    const auto whole = take_number(text, 2);
    if (!whole || *whole > 64) return std::nullopt;
    int milli = *whole * 1000;
    if (text.size() >= 2 && text[0] == '.' && is_digit(text[1])) {
        text.remove_prefix(1);
        for (int scale = 100; scale > 0 && !text.empty() && is_digit(text.front()); scale /= 10) {
            milli += scale * (text.front() - '0');
            text.remove_prefix(1);
        }
    }
    return static_cast<std::uint16_t>(milli);
}

struct SplitPattern {
    std::string_view head;
    std::array<std::string_view, 2> endings;  ///< with a group, without
};

SplitPattern split_pattern(std::string_view pattern) {
    const std::size_t open = pattern.find('[');
    if (open == std::string_view::npos) return {pattern, {}};
    const std::string_view inside = pattern.substr(open + 1, pattern.size() - open - 2);
    const std::size_t bar = inside.find('|');
    if (bar == std::string_view::npos) return {pattern.substr(0, open), {inside, ""}};
    return {pattern.substr(0, open), {inside.substr(0, bar), inside.substr(bar + 1)}};
}

/// Takes what `pattern` (without brackets) matches from the front of `text`.
bool take(std::string_view pattern, std::string_view& text, NameFields& fields) {
    for (const char c : pattern) {
        if (c == '#') {
            const auto bits = take_milli_bits(text);
            if (!bits) return false;
            fields.milli_bits = *bits;
        } else if (c == '@') {
            const auto group = take_number(text, 6);
            if (!group || *group == 0) return false;
            fields.group = *group;
        } else {
            if (text.empty() || lower(text.front()) != lower(c)) return false;
            text.remove_prefix(1);
        }
    }
    return true;
}

}  // namespace

std::optional<NameFields> match_name(std::string_view pattern, std::string_view text) {
    NameFields fields;
    const auto [head, endings] = split_pattern(pattern);
    if (!take(head, text, fields)) return std::nullopt;
    if (text.empty()) return fields;
    for (const std::string_view ending : endings) {
        NameFields with_ending = fields;
        std::string_view rest = text;
        if (ending.empty() || !take(ending, rest, with_ending) || !rest.empty()) continue;
        if (with_ending.group == 0) with_ending.group = -1;
        return with_ending;
    }
    return std::nullopt;
}

std::string fill_name(std::string_view pattern, const NameFields& fields) {
    const auto [head, endings] = split_pattern(pattern);
    const std::string_view ending = fields.group > 0 ? endings[0] : fields.group < 0 ? endings[1] : "";
    std::string name;
    for (const std::string_view part : {head, ending})
        for (const char c : part) {
            if (c == '#')
                name += fmt::format("{}", fields.milli_bits / 1000.0);
            else if (c == '@')
                name += fmt::format("{}", fields.group);
            else
                name += c;
        }
    return name;
}

std::string lower_case(std::string_view text) {
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(), lower);
    return result;
}

}  // namespace memwall::quant
