#include "core/quant/llama_cpp_rules.h"

#include <fmt/format.h>

#include <array>

#include "core/base/error.h"

namespace memwall::quant {
namespace {

using enum FileTypeId;

template <class... Ids>
constexpr std::uint64_t types(Ids... ids) {
    return ((std::uint64_t{1} << static_cast<int>(ids)) | ...);
}
constexpr std::uint64_t kAll = ~std::uint64_t{0};
constexpr std::uint64_t kLowBit = types(IQ1_S, IQ1_M, IQ2_XXS, IQ2_XS, IQ2_S, IQ2_M);
constexpr std::uint64_t kIq1 = types(IQ1_S, IQ1_M);
constexpr std::uint64_t kIq2 = types(IQ2_S, IQ2_M);
/// File types whose attn_output gets more bits in a model of 8 experts.
constexpr std::uint64_t kMixtralOutput =
    types(Q2_K, IQ3_XS, IQ3_XXS, Q3_K_S, Q3_K_M, IQ4_NL, Q4_K_S, Q4_K_M, IQ3_S, IQ3_M, IQ4_XS);

struct Rule {
    std::uint16_t categories;
    std::uint64_t types;
    Conditions needs;
    std::string_view format;
};

// In order of precedence: the first rule that holds decides.
constexpr Rule kRules[] = {
    {kOutput, types(MXFP4_MOE), kAlways, "Q8_0"},
    {kOutput, kAll, kFalcon, "Q8_0"},
    {kOutput, kAll, kRagged, "Q8_0"},
    {kOutput, kLowBit | types(IQ3_XXS), kAlways, "Q5_K"},
    {kOutput, types(Q8_0), kAlways, "Q8_0"},
    {kOutput, kAll, kAlways, "Q6_K"},

    {kAnyCategory, types(MXFP4_MOE), kStacked, "MXFP4"},
    {kAnyCategory, types(MXFP4_MOE), kAlways, "Q8_0"},

    {kEmbedding, kIq1 | types(IQ2_XXS, IQ2_XS), kAlways, "Q2_K"},
    {kEmbedding, kIq2 | types(IQ3_XXS), kAlways, "IQ3_S"},
    {kEmbedding, types(TQ1_0, TQ2_0, Q2_0), kAlways, "Q4_K"},

    {kAttnV, kLowBit, kGqa4, "Q4_K"},
    {kAttnV, kLowBit, kExperts4, "Q4_K"},
    {kAttnV, kIq2, kAlways, "IQ3_S"},
    {kAttnV, kLowBit, kAlways, "Q2_K"},
    {kAttnV, kAll, kExperts8, "Q8_0"},
    {kAttnV, types(Q2_K, Q2_K_S, IQ3_XXS, IQ3_XS, IQ3_S), kGqa4, "Q4_K"},
    {kAttnV, types(Q2_K), kAlways, "Q3_K"},
    {kAttnV, types(IQ3_XXS), kNoImatrix, "IQ3_S"},
    {kAttnV, types(IQ3_M), kAlways, "Q4_K"},
    {kAttnV, types(Q3_K_M), kFirst2, "Q5_K"},
    {kAttnV, types(Q3_K_M), kAlways, "Q4_K"},
    {kAttnV, types(Q3_K_L), kAlways, "Q5_K"},
    {kAttnV, types(IQ4_NL, IQ4_XS), kGqa4, "Q5_K"},
    {kAttnV, types(Q4_K_M, Q5_K_M), kMoreBits, "Q6_K"},
    {kAttnV, types(Q4_K_S), kFirst4, "Q5_K"},

    {kAttnK, kLowBit, kExperts8, "Q4_K"},
    {kAttnK, kAll, kExperts8, "Q8_0"},
    {kAttnK | kAttnQ, types(IQ3_XS), kAlways, "IQ3_XXS"},
    {kAttnK | kAttnQ, types(IQ3_XXS), kAlways, "IQ2_S"},

    {kAttnOutput, kLowBit, kExperts8, "Q5_K"},
    {kAttnOutput, kIq1, kAlways, "IQ2_XXS"},
    {kAttnOutput, kIq2, kAlways, "IQ3_S"},
    {kAttnOutput, kMixtralOutput, kExperts8 | kNotFalcon, "Q5_K"},
    {kAttnOutput, types(Q3_K_L), kExperts8 | kNotFalcon, "Q3_K"},
    {kAttnOutput, types(Q3_K_L), kFalcon, "Q4_K"},
    {kAttnOutput, types(Q3_K_L), kAlways, "Q5_K"},
    {kAttnOutput, types(Q2_K), kNotFalcon, "Q3_K"},
    {kAttnOutput, types(IQ3_XXS), kNotFalcon, "IQ3_S"},
    {kAttnOutput, types(Q3_K_M, IQ3_M), kNotFalcon, "Q4_K"},

    {kFfnDown, kIq2, kFirstEighth, "IQ3_S"},
    {kFfnDown, kLowBit, kFirstEighth, "Q2_K"},
    {kFfnDown, types(Q2_K), kAlways, "Q3_K"},
    {kFfnDown, types(Q2_K_S), kFirstEighth, "Q4_K"},
    {kFfnDown, types(IQ3_XXS), kNoImatrix | kFirstEighth, "Q4_K"},
    {kFfnDown, types(IQ3_XXS), kNoImatrix, "Q3_K"},
    {kFfnDown, types(Q3_K_M), kFirstSixteenth, "Q5_K"},
    {kFfnDown, types(Q3_K_M), kMoreBits, "Q4_K"},
    {kFfnDown, types(Q3_K_M), kNotFalcon, "Q4_K"},
    {kFfnDown, types(IQ3_M), kFirstEighth, "Q4_K"},
    {kFfnDown, types(IQ3_M), kExperts8 | kMoreBits, "Q4_K"},
    {kFfnDown, types(Q3_K_L), kFalcon, "Q4_K"},
    {kFfnDown, types(Q3_K_L), kAlways, "Q5_K"},
    {kFfnDown, types(Q4_K_M), kFalcon | kFirstSixteenth, "Q6_K"},
    {kFfnDown, types(Q4_K_M), kFalcon | kMoreBits, "Q5_K"},
    {kFfnDown, types(Q4_K_M), kNotFalcon | kMoreBits, "Q6_K"},
    {kFfnDown, types(Q5_K_M), kMoreBits, "Q6_K"},
    {kFfnDown, types(Q4_K_S), kNotFalcon | kFirstEighth, "Q5_K"},
    {kFfnDown, types(IQ4_NL, IQ4_XS), kNoImatrix | kFirstEighth, "Q5_K"},
    {kFfnDown, types(Q4_0), kImatrix | kFirstEighth, "Q4_1"},
    {kFfnDown, types(Q5_0), kImatrix | kFirstEighth, "Q5_1"},

    {kFfnUp | kFfnGate, types(IQ3_XS), kMiddle, "IQ3_XXS"},
};

struct Fallback {
    std::string_view wanted, substitute;
};

constexpr Fallback kFallbacks[] = {
    {"IQ1_S", "IQ4_NL"}, {"IQ1_M", "IQ4_NL"},   {"IQ2_XXS", "IQ4_NL"}, {"IQ2_XS", "IQ4_NL"},
    {"IQ2_S", "IQ4_NL"}, {"IQ3_XXS", "IQ4_NL"}, {"IQ3_S", "IQ4_NL"},   {"IQ4_XS", "IQ4_NL"},
    {"Q2_K", "Q4_0"},    {"Q3_K", "Q4_0"},      {"TQ1_0", "Q4_0"},     {"TQ2_0", "Q4_0"},
    {"Q2_0", "Q4_0"},    {"Q4_K", "Q5_0"},      {"Q5_K", "Q5_1"},      {"Q6_K", "Q8_0"},
};

/// The rules' names looked up once.
const std::array<Format, std::size(kRules)>& rule_formats() {
    static const auto formats = [] {
        std::array<Format, std::size(kRules)> result;
        for (std::size_t i = 0; i < result.size(); ++i) result[i] = ggml(kRules[i].format);
        return result;
    }();
    return formats;
}

}  // namespace

std::optional<Format> find_rule(FileTypeId type, Category category, Conditions conditions) {
    const std::uint64_t type_bit = types(type);
    for (std::size_t i = 0; i < std::size(kRules); ++i) {
        const Rule& rule = kRules[i];
        if (rule.categories & category && rule.types & type_bit && (rule.needs & ~conditions) == 0)
            return rule_formats()[i];
    }
    return std::nullopt;
}

bool is_low_bit(FileTypeId type) {
    return (kLowBit & types(type)) != 0;
}

Format shape_fallback(Format wanted, std::int64_t row) {
    const std::string name = format_name(wanted);
    for (const Fallback& f : kFallbacks)
        if (f.wanted == name) {
            const Format substitute = ggml(f.substitute);
            return fits(substitute, {row, 1, 1, 1}) ? substitute : ggml("F16");
        }
    throw Error("--quant", fmt::format("rows of {} values, which {} cannot hold", row, name), "",
                "this model needs another recipe");
}

}  // namespace memwall::quant
