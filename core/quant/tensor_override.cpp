#include "core/quant/tensor_override.h"

#include <fmt/format.h>

#include "core/base/error.h"

namespace memwall::quant {
namespace {

constexpr std::size_t kMaxPattern = 256;

/// The dot of "blk.0.attn_v" is meant as a dot.
bool is_plain(std::string_view pattern) {
    return pattern.find_first_of("^$\\*+?()[]{}|") == std::string_view::npos;
}

std::regex compile(const std::string& pattern, std::string_view place) {
    try {
        return std::regex(pattern, std::regex::ECMAScript | std::regex::optimize);
    } catch (const std::regex_error&) {
        throw Error(std::string(place), fmt::format("'{}'", pattern),
                    "a regular expression over tensor names");
    }
}

}  // namespace

TensorOverride parse_override(std::string_view text, std::string_view place) {
    const std::size_t equals = text.rfind('=');
    const std::string_view pattern = text.substr(0, equals == std::string_view::npos ? 0 : equals);
    if (pattern.empty() || pattern.size() > kMaxPattern)
        throw Error(std::string(place), fmt::format("'{}'", text), "PATTERN=FORMAT such as attn_v=Q8_0");
    const std::string_view name = text.substr(equals + 1);
    const auto format = parse_format(name);
    if (!format)
        throw Error(std::string(place), fmt::format("unknown format '{}'", name),
                    "a block format such as Q6_K, F16 or gptq-4bit-128g");
    TensorOverride result{std::string(pattern), *format};
    if (!is_plain(pattern)) compile(result.pattern, place);
    return result;
}

OverrideMatcher::OverrideMatcher(const std::vector<TensorOverride>& overrides) {
    entries_.reserve(overrides.size());
    for (const TensorOverride& o : overrides) {
        entries_.push_back({o.pattern, std::nullopt, o.format});
        if (!is_plain(o.pattern)) entries_.back().expression = compile(o.pattern, "tensor override");
    }
}

std::optional<Format> OverrideMatcher::find(std::string_view name) const {
    for (const Entry& e : entries_) {
        const bool hit = e.expression ? std::regex_search(name.begin(), name.end(), *e.expression)
                                      : name.find(e.text) != std::string_view::npos;
        if (hit) return e.format;
    }
    return std::nullopt;
}

}  // namespace memwall::quant
