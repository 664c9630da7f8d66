#include "core/model/config_text.h"

#include <algorithm>
#include <string_view>

#include "core/base/error.h"

namespace memwall::model {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kLargestText = std::size_t{16} << 20;
constexpr int kDeepest = 64;

std::size_t line_of(const std::string& text, std::size_t byte) {
    const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(byte, text.size()));
    return 1 + static_cast<std::size_t>(std::count(text.begin(), end, '\n'));
}

/// Python's words for numbers that JSON lacks become null. Lines keep their numbers.
std::string without_python_numbers(std::string text) {
    bool quoted = false;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (quoted && text[at] == '\\') {
            ++at;
        } else if (text[at] == '"') {
            quoted = !quoted;
        } else if (!quoted) {
            for (const std::string_view word : {"-Infinity", "Infinity", "NaN"}) {
                if (text.compare(at, word.size(), word) != 0) continue;
                text.replace(at, word.size(), "null");
                at += 3;
                break;
            }
        }
    }
    return text;
}

/// Asked before parsing, since the parser's own callback takes time quadratic in the members of an object,
/// and lists of quantized modules have tens of thousands.
bool too_deep(std::string_view text) {
    int depth = 0;
    bool quoted = false;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char ch = text[at];
        if (quoted && ch == '\\')
            ++at;
        else if (ch == '"')
            quoted = !quoted;
        else if (!quoted && (ch == '{' || ch == '['))
            depth += 1;
        else if (!quoted && (ch == '}' || ch == ']'))
            depth -= 1;
        if (depth > kDeepest) return true;
    }
    return false;
}

Json parse_strict(const std::string& text, const std::string& place) {
    if (too_deep(text)) throw Error(place, "values nested deeper than 64 levels", "a config.json");
    try {
        return Json::parse(text);
    } catch (const Json::parse_error& e) {
        throw Error(place + ":" + std::to_string(line_of(text, e.byte)), "text that is no JSON",
                    "a config.json");
    } catch (const Json::out_of_range&) {  // well-formed, but beyond a double: 1e99999
        throw Error(place, "a number too large to hold", "a config.json");
    }
}

}  // namespace

Json parse_config_text(const std::string& text, const std::string& place) {
    if (text.size() > kLargestText)
        throw Error(place, std::to_string(text.size()) + " bytes", "a config.json of at most 16 MiB");
    const bool python = text.find("Infinity") != std::string::npos || text.find("NaN") != std::string::npos;
    Json json = parse_strict(python ? without_python_numbers(text) : text, place);
    if (!json.is_object()) throw Error(place, "no JSON object", "a config.json");
    return json;
}

}  // namespace memwall::model
