// The words for what Loss holds as codes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/quality/loss.h"

namespace memwall::quality {

/// "low_bits": stable, for JSON.
std::string_view reason_code(Reason reason);
/// One sentence that names the evidence.
std::string_view reason_text(Reason reason);
/// The id of the row it names; empty where it names none.
std::string_view reason_row(Reason reason);

struct FlagWords {
    Flag flag;
    std::string_view code;
    std::string_view text;
};
/// Those set in `flags`, the most important first.
std::vector<FlagWords> flag_words(std::uint16_t flags);

/// "about one token in 13": the share of positions whose most likely token changes.
std::string one_token_in(double share);

}  // namespace memwall::quality
