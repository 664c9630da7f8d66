// What a row says, whatever its metric.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/quality/evidence.h"

namespace memwall::quality {
namespace {

constexpr double kTokensPerWord = 1.3;  // Llama-2-7B-chat: ln 12.21 against ln 7.08 (QUALITY a.6)

enum class Kind : std::uint8_t {
    perplexity,
    word_perplexity,
    increase_percent,
    ratio,
    ln_ratio,
    kld,
    top1_agreement,
    other  ///< percentiles, differences without a baseline: shown, never computed with
};

struct Metric {
    std::string_view name;
    Kind kind;
};

constexpr Metric kMetrics[] = {
    {"ppl wikitext2 (word level, lm-eval)", Kind::word_perplexity},
    {"ppl increase %", Kind::increase_percent},
    {"ppl ratio", Kind::ratio},
    {"ppl PG19 / concatenated", Kind::other},
    {"ppl", Kind::perplexity},
    {"ln ppl ratio", Kind::ln_ratio},
    {"delta ppl", Kind::other},
    {"KLD mean ", Kind::other},
    {"KLD mean,", Kind::other},
    {"KLD mean", Kind::kld},
    {"KLD", Kind::other},
    {"top-1 agreement %", Kind::top1_agreement},
    {"RMS delta-p", Kind::other},
    {"1 percentile", Kind::other},
    {"0.1 percentile", Kind::other},
    {"logit NMSE", Kind::other},
};

/// The first name that starts the metric's; nullptr = a task.
const Metric* find_metric(const std::string& name) {
    const auto it = std::find_if(std::begin(kMetrics), std::end(kMetrics),
                                 [&](const Metric& m) { return name.starts_with(m.name); });
    return it == std::end(kMetrics) ? nullptr : it;
}

Kind kind_of(const EvidenceRow& row) {
    const Metric* m = find_metric(row.metric);
    return m ? m->kind : Kind::other;
}

}  // namespace

std::optional<double> ln_ppl_ratio(const EvidenceRow& row) {
    const auto of = [](double x) { return x > 0 ? std::optional(std::log(x)) : std::nullopt; };
    switch (kind_of(row)) {
        case Kind::perplexity:
            return row.baseline && *row.baseline > 0 ? of(row.value / *row.baseline) : std::nullopt;
        case Kind::word_perplexity:
            return row.baseline && *row.baseline > 0 && row.value > 0
                       ? std::optional(std::log(row.value / *row.baseline) / kTokensPerWord)
                       : std::nullopt;
        case Kind::increase_percent:
            return of(1 + row.value / 100);
        case Kind::ratio:
            return of(row.value);
        case Kind::ln_ratio:
            return row.value;
        default:
            return std::nullopt;
    }
}

std::optional<double> mean_kld(const EvidenceRow& row) {
    return kind_of(row) == Kind::kld ? std::optional(row.value) : std::nullopt;
}

std::optional<double> top1_disagreement(const EvidenceRow& row) {
    return kind_of(row) == Kind::top1_agreement ? std::optional(1 - row.value / 100) : std::nullopt;
}

bool is_task(const EvidenceRow& row) {
    return !find_metric(row.metric);
}

std::string row_text(const EvidenceRow& row) {
    const std::string context = row.context > 0 ? fmt::format(" at {} tokens", row.context) : "";
    if (const auto ratio = ln_ppl_ratio(row))
        return fmt::format("perplexity {:+.2f} %{}", 100 * std::expm1(*ratio), context);
    if (const auto kld = mean_kld(row)) return fmt::format("KLD {:.3g}{}", *kld, context);
    if (row.baseline && row.baseline != 0.0)
        return fmt::format("{} {:.4g} -> {:.4g}", row.metric, *row.baseline, row.value);
    return fmt::format("{} {:.4g}{}", row.metric, row.value, context);
}

}  // namespace memwall::quality
