#include "core/quality/method.h"

#include <algorithm>

#include "core/quant/llama_cpp_recipe.h"

namespace memwall::quality {
namespace {

struct Suffix {
    std::string_view text;
    bool pure;
};

constexpr Suffix kSuffixes[] = {
    {"", false},         {" no imatrix", false},
    {" imatrix", false}, {" (mainline mix)", false},
    {" pure", true},     {" (pure, improved quantiser)", true},
};

bool is_file_type(std::string_view name) {
    const auto types = quant::file_types();
    return std::any_of(types.begin(), types.end(), [&](const quant::FileType& t) { return t.name == name; });
}

bool is_block_type(std::string_view name) {
    const auto formats = quant::block_formats();
    return std::any_of(formats.begin(), formats.end(),
                       [&](const quant::BlockFormat& f) { return f.name == name; });
}

}  // namespace

std::optional<Method> read_method(std::string_view text) {
    for (const Suffix& s : kSuffixes) {
        if (!text.ends_with(s.text)) continue;
        const std::string_view name = text.substr(0, text.size() - s.text.size());
        if (s.pure ? is_block_type(name) : is_file_type(name)) return Method{std::string(name), s.pure};
    }
    return std::nullopt;
}

}  // namespace memwall::quality
