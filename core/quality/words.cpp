#include "core/quality/words.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace memwall::quality {
namespace {

struct ReasonWords {
    Reason reason;
    std::string_view code, text;
};

// clang-format off
constexpr std::array<ReasonWords, kReasons> kReasonWords = {{
    {Reason::none, "", ""},
    {Reason::low_bits, "low_bits", "types below 3 bits a weight differ 5-fold between models: +69 % against +11 % perplexity at the same bits (Kimi-K2)"},
    {Reason::iquant_without_imatrix, "iquant_without_imatrix", "such an i-quant made without an importance matrix may fall apart: perplexity 107 instead of 5.5 (q0591)"},
    {Reason::recorded_cliff, "recorded_cliff", "a cliff is recorded for this type on this family: Qwen2.5-3B has perplexity 14.1 with Q3_K_M, 10.0 with IQ3_M (q1838)"},
    {Reason::small_model, "small_model", "models below 1 billion parameters, and below 3 with fewer than 4.5 bits, break in ways no curve tells: Qwen3-0.6B with Q3_K_M wrote valid JSON in 2 of 8 tries"},
    {Reason::trained_quantized, "trained_quantized", "the model was trained in few bits, so losses of other models say nothing about it in either direction"},
    {Reason::low_bit_activations, "low_bit_activations", "activations below 8 bits lose 2.5 to 260 times what the weights alone do"},
    {Reason::int4_per_channel, "int4_per_channel", "one scale a channel is too few for 4 bits: Llama-3-70B collapsed, 7-8B models lost 28 to 39 % (q0784)"},
    {Reason::kv_fragile_family, "kv_fragile_family", "a cache below 8 bits breaks models with large key biases, sinks, few attention layers or under 1 billion parameters: perplexity 7.5 to 9410 with Qwen2.5-7B (q1497)"},
    {Reason::kv_keys_unrotated, "kv_keys_unrotated", "4-bit keys need a rotation or a scale a channel: Qwen3-30B-A3B lost 11 % without (q1417)"},
    {Reason::kv_without_rows, "kv_without_rows", "no measurement of this cache type is known"},
    {Reason::window_without_sinks, "window_without_sinks", "a window that drops the first tokens destroys a model not trained with it: perplexity 5158 on Llama-2-13B (q1506); keep 4 with --sinks 4"},
    {Reason::pruned, "pruned", "2:4 pruning doubled the perplexity of 7B models and is 9 bits a weight: Q8_0 is smaller and loses 0.1 % (q1547)"},
    {Reason::derivative, "derivative", "merged, pruned, distilled and otherwise altered models are not in the data"},
    {Reason::other_modality, "other_modality", "no measurement of image, speech or embedding models is known"},
    {Reason::method_without_rows, "method_without_rows", "no measurement of this quantization method is known"},
}};

// The order is that of importance.
constexpr FlagWords kFlagWords[] = {
    {kUserRow, "user_row", "your own measurement"},
    {kWindowForgets, "window_forgets", "what left the window cannot be used"},
    {kContextBeyond, "context_beyond_measured", "longer than any measurement: on long documents KLD was 3 times the mean"},
    {kKvFragile, "kv_fragile", "a quantized cache is fragile here: sinks, key biases, few attention layers or a small model"},
    {kNewFamily, "new_family", "no model of this family was measured"},
    {kSmallModel, "small_model", "small models lose more and break earlier"},
    {kOneRow, "one_row", "part of it rests on a single row"},
    {kLongRetrieval, "long_retrieval", "averages hide losses in long retrieval"},
    {kMeasureMe, "measure_me", "an estimate: cliffs exist that no fit sees, so measure before relying on it"},
    {kOtherFile, "other_file", "measured on one file: others of this label differed by up to 4 in KLD"},
    {kImatrixUnknown, "imatrix_unknown", "with or without importance matrix is not known"},
    {kKldFromPpl, "kld_from_ppl", "KLD and top-1 are derived from the perplexity"},
    {kBelowNoise, "below_noise", "at or below what rounding does"},
};
// clang-format on

}  // namespace

std::string_view reason_code(Reason reason) {
    return kReasonWords[static_cast<std::size_t>(reason)].code;
}

std::string_view reason_text(Reason reason) {
    return kReasonWords[static_cast<std::size_t>(reason)].text;
}

std::string_view reason_row(Reason reason) {
    const std::string_view text = reason_text(reason);
    const std::size_t at = text.rfind("(q");
    return at == std::string_view::npos ? std::string_view()
                                        : text.substr(at + 1, text.find(')', at) - at - 1);
}

std::vector<FlagWords> flag_words(std::uint16_t flags) {
    std::vector<FlagWords> set;
    for (const FlagWords& w : kFlagWords)
        if (flags & w.flag) set.push_back(w);
    return set;
}

std::string one_token_in(double share) {
    if (share <= 0) return "none";
    const double n = 1 / share;
    const double step = std::pow(10, std::floor(std::log10(n)) - 1);  // two digits
    return fmt::format("one token in {:.0f}", n < 10 ? std::round(n) : std::round(n / step) * step);
}

}  // namespace memwall::quality
