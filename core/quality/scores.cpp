#include "core/quality/scores.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <string>

#include "core/base/embedded.h"
#include "core/base/error.h"
#include "core/base/interval.h"

namespace memwall::quality {
namespace {

constexpr std::array<std::string_view, kLanes> kLaneNames{
    "mmlu_pro_written", "mmlu_pro_next_token", "ifeval", "livecodebench", "humaneval", "math_500",
    "aa_lcr",           "longbench_v2"};
constexpr std::array<std::string_view, 3> kVariantNames{"base", "instruct", "thinking"};
constexpr std::array<std::string_view, 3> kReporterNames{"third_party", "open_llm_leaderboard", "vendor"};

template <class E, std::size_t N>
E one_of(const std::array<std::string_view, N>& names, std::string_view word, const std::string& place) {
    const auto it = std::find(names.begin(), names.end(), word);
    if (it == names.end()) throw Error(place, fmt::format("'{}'", word), "a word of the table of scores");
    return static_cast<E>(it - names.begin());
}

/// The next word of a line; empty at its end.
std::string_view next_word(std::string_view& line) {
    const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
    const std::size_t end = std::min(line.find(' ', begin), line.size());
    const std::string_view word = line.substr(begin, end - begin);
    line.remove_prefix(end);
    return word;
}

Score read_row(Score s, std::string_view line, const std::string& place) {
    s.row = next_word(line);
    s.model = next_word(line);
    s.variant = one_of<Variant>(kVariantNames, next_word(line), place);
    const std::string_view value = next_word(line);
    const auto [end, ec] = std::from_chars(value.data(), value.data() + value.size(), s.value);
    if (ec != std::errc() || end != value.data() + value.size())
        throw Error(place, fmt::format("'{}'", value), "a score in percent");
    s.date = next_word(line);
    const std::string_view mark = next_word(line);
    s.at_chance = mark == "chance";
    s.unranked = mark == "unranked";
    return s;
}

using Scores = std::multimap<std::string_view, Score>;  // by model

/// Words point into texts that are kept for good.
Scores read_scores(std::string_view yaml, const std::string& name) {
    Scores all;
    for (const YAML::Node& table : YAML::Load(std::string(yaml))["tables"]) {
        const YAML::Node head = table["head"];
        const std::string place = fmt::format("{}:{}", name, head.Mark().line + 1);
        const auto text = [&](const char* key) { return intern(head[key].as<std::string>()); };
        Score common;
        common.lane = one_of<Lane>(kLaneNames, text("lane"), place);
        common.reported_by = one_of<ReportedBy>(kReporterNames, text("reported_by"), place);
        common.reporter = text("reporter");
        common.protocol = text("protocol");
        common.source = text("source");
        std::string_view rows = intern(table["rows"].as<std::string>());
        while (!rows.empty()) {
            const std::size_t end = std::min(rows.find('\n'), rows.size());
            if (end > 0) {
                const Score s = read_row(common, rows.substr(0, end), place);
                all.emplace(s.model, s);
            }
            rows.remove_prefix(std::min(end + 1, rows.size()));
        }
    }
    return all;
}

const Scores& all_scores() {
    static const Scores all = [] {
        constexpr std::string_view path = "quality/scores.yaml";
        const EmbeddedFile* file = embedded_quality().find(path);
        if (!file) throw Error(std::string(path), "not embedded");
        try {
            return read_scores(file->text(), std::string(path));
        } catch (const YAML::Exception& e) {
            throw Error(fmt::format("{}:{}", path, e.mark.line + 1), e.msg, "a table of scores");
        }
    }();
    return all;
}

double threshold(const Score& a, const Score& b) {
    const bool vendor_a = a.reported_by == ReportedBy::vendor, vendor_b = b.reported_by == ReportedBy::vendor;
    const double by_reporter = vendor_a && vendor_b && a.reporter != b.reporter ? 10
                               : vendor_a || vendor_b                           ? 5
                                                                                : 3;
    const double by_lane = a.lane == Lane::humaneval                                ? 10
                           : a.lane == Lane::aa_lcr || a.lane == Lane::longbench_v2 ? 14
                                                                                    : 0;
    return std::max(by_reporter, by_lane);
}

constexpr double kSaturated = 95;

}  // namespace

std::string_view lane_name(Lane lane) {
    return kLaneNames[static_cast<std::size_t>(lane)];
}

std::string_view variant_name(Variant variant) {
    return kVariantNames[static_cast<std::size_t>(variant)];
}

std::optional<Score> score(std::string_view model_id, Lane lane, Variant variant) {
    const auto [begin, end] = all_scores().equal_range(model_id);
    for (auto it = begin; it != end; ++it)
        if (it->second.lane == lane && it->second.variant == variant) return it->second;
    return std::nullopt;
}

std::optional<Score> score(std::string_view model_id, Lane lane) {
    const auto instruct = score(model_id, lane, Variant::instruct);
    return instruct ? instruct : score(model_id, lane, Variant::base);
}

std::vector<Score> scores(std::string_view model_id) {
    std::vector<Score> list;
    const auto [begin, end] = all_scores().equal_range(model_id);
    for (auto it = begin; it != end; ++it) list.push_back(it->second);
    return list;
}

Comparison compare(const Score& a, const Score& b) {
    return compare(a, {}, b, {});
}

Comparison compare(const Score& a, const ScoreBand& band_a, const Score& b, const ScoreBand& band_b) {
    Comparison c;
    c.gap = a.value - b.value;
    if (a.lane != b.lane)
        c.reason = "other benchmark or way of scoring";
    else if (a.variant != b.variant)
        c.reason = "base, instruct and thinking models are not ranked against each other";
    else if (a.at_chance || b.at_chance)
        c.reason = "a score at the level of guessing";
    else if (a.unranked || b.unranked)
        c.reason = "scored in a way that does not suit the model";
    else if (band_a.open || band_b.open)
        c.reason = "below 4 bits, or a cache below 8, scores have no lower end";
    if (!c.reason.empty()) return c;
    c.threshold = threshold(a, b) + (c.gap > 0 ? band_a.points : band_b.points);
    if (a.lane == Lane::math_500 && a.value > kSaturated && b.value > kSaturated) {
        c.order = Order::not_distinguishable;
        c.reason = "saturated above 95";
    } else if (std::abs(c.gap) < c.threshold) {
        c.order = Order::not_distinguishable;
        c.reason = "the gap is within what protocols, reporters and quantization make";
    } else {
        c.order = c.gap > 0 ? Order::better : Order::worse;
    }
    return c;
}

ScoreBand quantized_band(Lane lane, const WeightQuality& weights, const KvChoice& cache) {
    ScoreBand band;
    const auto low = [](KvClass c) { return c > KvClass::fp8; };
    if (weights.types.empty()) return band;
    const quant::Format body = weights.types.front().format;
    const double bits = quant::bits_per_weight(body);
    band.measured_method = body.family == quant::Family::gptq;
    band.open = bits < 4 || low(cache.keys) || low(cache.values);
    if (bits >= 16) return band;
    const bool eight = bits >= 8;
    band.points = eight ? 1 : lane == Lane::ifeval ? 6 : lane == Lane::math_500 ? 12 : 3;
    return band;
}

const std::vector<ScorePreset>& score_presets() {
    static const std::vector<ScorePreset> presets{
        {"chat",
         {Lane::ifeval, Lane::mmlu_pro_written},
         "loose and strict scoring differ; shown apart, not averaged"},
        {"code",
         {Lane::livecodebench, Lane::humaneval},
         "releases differ between vendors; HumanEval is for base models"},
        {"math", {Lane::math_500}, "above 95 saturated"},
        {"documents", {Lane::aa_lcr, Lane::longbench_v2}, "100 questions; a short-text score is no proxy"},
    };
    return presets;
}

}  // namespace memwall::quality
