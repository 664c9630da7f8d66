// How sources name what they quantized to.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace memwall::quality {

struct Method {
    std::string recipe;  ///< llama.cpp file type: "Q4_K_M"
    bool pure = false;   ///< every block linear in that type, whatever the file-type rule says
};

/// "Q4_K_M", "Q4_K_M no imatrix", "IQ4_XS (mainline mix)", "Q4_K (pure, improved quantiser)", "IQ4_XS pure";
/// nullopt for anything that current llama.cpp does not make.
std::optional<Method> read_method(std::string_view text);

}  // namespace memwall::quality
