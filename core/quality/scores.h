// Published task scores of unquantized models: the only axis across models (SCORES.md). data/scores.yaml
// holds the lanes; a score is shown as published, with a one-sided band below it for quantization, never
// shifted.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/quality/weight_quality.h"

namespace memwall::quality {

/// A benchmark under one way of scoring. Lanes are never joined or converted: two scales of MMLU-Pro differ
/// by 7 to 15 points and a linear conversion leaves 3.8.
enum class Lane : std::uint8_t {
    mmlu_pro_written,     ///< the model writes its answer
    mmlu_pro_next_token,  ///< likelihood of the answer letter
    ifeval,               ///< leaderboard v2, strict
    livecodebench,
    humaneval,  ///< EvalPlus, base models
    math_500,
    aa_lcr,  ///< about 100k tokens of input
    longbench_v2,
};
inline constexpr std::size_t kLanes = 8;
std::string_view lane_name(Lane lane);

enum class Variant : std::uint8_t { base, instruct, thinking };
std::string_view variant_name(Variant variant);
enum class ReportedBy : std::uint8_t { third_party, open_llm_leaderboard, vendor };

struct Score {
    Lane lane = Lane::mmlu_pro_written;
    Variant variant = Variant::instruct;
    double value = 0;                                  ///< percent correct, as published
    ReportedBy reported_by = ReportedBy::third_party;  ///< vendor: draw a hollow mark
    bool at_chance = false;                            ///< guessing scores as much: no order
    bool unranked = false;                             ///< the source gives a reason not to rank it
    // These live as long as the program.
    std::string_view row, model, reporter, protocol, date, source;

    /// Half of the bar to draw: 1 point of sampling, 8 of a vendor's harness (two s.d., SCORES.md).
    double bar() const { return reported_by == ReportedBy::vendor ? 8 : 1; }
};

/// By catalogue id; a score of a catalogue model must not pass to a fine-tune, so files get none. Thinking is
/// a candidate of its own.
std::optional<Score> score(std::string_view model_id, Lane lane, Variant variant);
/// The instruct score, else the base score; nullopt also where only a thinking score exists.
std::optional<Score> score(std::string_view model_id, Lane lane);
/// Every score of the model.
std::vector<Score> scores(std::string_view model_id);

struct Comparison {
    Order order = Order::not_comparable;
    double gap = 0;           ///< points between the two
    double threshold = 0;     ///< gap from which an order is claimed
    std::string_view reason;  ///< of not_comparable and not_distinguishable
};

/// Same lane and variant only. Threshold 3; 5 when one number is a vendor's; 10 when they are of two vendors;
/// at least 10 for HumanEval, 14 for the document lanes (100 questions). Above 95 MATH-500 is saturated.
Comparison compare(const Score& a, const Score& b);

/// What quantization may take off a score: one-sided, below it.
struct ScoreBand {
    double points = 0;
    bool open = false;             ///< no lower end: below 4 bits, or a cache below 8
    bool measured_method = false;  ///< pairs exist for GPTQ only; "other method, not measured" else
};

/// 1 point at 8 bits and 3 at 4; IFEval 6 and mathematics 12 at 4 (SCORES.md, quantized pairs). Nothing for
/// 16 bits.
ScoreBand quantized_band(Lane lane, const WeightQuality& weights, const KvChoice& cache);

/// compare() with the bands: decided only if the gap exceeds the threshold plus the band of the better one.
Comparison compare(const Score& a, const ScoreBand& band_a, const Score& b, const ScoreBand& band_b);

/// What a use asks for, the lane to look at first (SCORES.md, presets).
struct ScorePreset {
    std::string_view name;
    std::vector<Lane> lanes;  ///< shown side by side, never averaged
    std::string_view note;
};
const std::vector<ScorePreset>& score_presets();

}  // namespace memwall::quality
