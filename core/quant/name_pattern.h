// Names with numbers in them: the pattern "gptq-#bit[-@g|-nogroup]" reads and prints "gptq-4bit-128g".
// '#' is a number of bits with up to three decimals, '@' a group size. The ending in brackets may be missing;
// after the bar stands how a name says that there are no groups.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace memwall::quant {

struct NameFields {
    std::uint16_t milli_bits = 0;  ///< 0 when the pattern has no '#'
    std::int32_t group = 0;        ///< 0 when the name has no ending, -1 for the one without groups
};

/// nullopt unless the whole of `text` matches. Letters match in any case.
std::optional<NameFields> match_name(std::string_view pattern, std::string_view text);
/// The inverse of match_name.
std::string fill_name(std::string_view pattern, const NameFields& fields);

/// Letters A to Z in lower case; names compare without case.
std::string lower_case(std::string_view text);

}  // namespace memwall::quant
