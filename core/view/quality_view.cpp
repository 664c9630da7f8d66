#include "core/view/quality_view.h"

#include <fmt/format.h>

#include <cmath>

#include "core/view/json_parts.h"

namespace memwall::view {
namespace {

/// Two significant digits and no more: estimates do not deserve a third (QUALITY a.1).
std::string two_digits(double x) {
    if (x <= 0) return "0";
    const double step = std::pow(10, std::floor(std::log10(x)) - 1);
    const double rounded = std::round(x / step) * step;
    return rounded >= 10 ? fmt::format("{:.0f}", rounded) : fmt::format("{:.2g}", rounded);
}

/// "1 in 13" without a digit too many.
std::string one_in(double share) {
    return share <= 0 ? "none" : quality::one_token_in(share).replace(0, sizeof("one token") - 1, "1");
}

Json band(const quality::Band& b, double level, std::string_view basis) {
    return quantity(Interval<double>{b.low, b.central, b.high, level, basis});
}

Json refs(const std::vector<quality::EvidenceRef>& rows) {
    Json list = Json::array();
    for (const quality::EvidenceRef& r : rows)
        list.push_back({{"id", r.id},
                        {"model", r.model},
                        {"method", r.method},
                        {"says", r.says},
                        {"distance", r.distance},
                        {"source", r.source}});
    return list;
}

}  // namespace

std::string agreement_text(double disagreement) {
    return disagreement < 0.1 ? fmt::format("{:.1f} %", 100 * (1 - disagreement))
                              : fmt::format("{:.0f} %", 100 * (1 - disagreement));
}

std::string ratio_text(double ln_ratio) {
    return fmt::format("{} %", two_digits(100 * std::expm1(ln_ratio)));
}

QualityBlock quality_block(const quality::Loss& loss) {
    QualityBlock block;
    if (!loss.known()) {
        block.heading = "Quality (not estimated)";
        block.note = quality::reason_text(loss.reason);
        return block;
    }
    block.heading = fmt::format("Quality ({}, 80 % band)", quality::status_name(loss.status));
    const quality::Band& top1 = loss.top1_disagreement;
    block.lines.push_back(
        top1.central <= 0
            ? fmt::format("hardly a token would have been another one (at most {})", one_in(top1.high))
            : fmt::format("about {} would have been another one ({} to {})",
                          quality::one_token_in(top1.central), one_in(top1.low), one_in(top1.high)));
    block.lines.push_back(loss.flags & quality::kBelowNoise
                              ? fmt::format("perplexity up by less than {}", ratio_text(loss.ln_ppl.high))
                              : fmt::format("perplexity up by {} ({} to {})", ratio_text(loss.ln_ppl.central),
                                            ratio_text(loss.ln_ppl.low), ratio_text(loss.ln_ppl.high)));
    const auto flags = quality::flag_words(loss.flags);
    if (!flags.empty()) block.note = flags.front().text;
    return block;
}

Json quality_json(const quality::Estimate& e) {
    const quality::Loss& l = e.loss;
    Json j{{"status", quality::status_name(l.status)},
           {"reason", l.known() ? Json(nullptr)
                                : Json{{"code", quality::reason_code(l.reason)},
                                       {"text", quality::reason_text(l.reason)}}}};
    const auto known = [&](const quality::Band& b) {
        return l.known() ? band(b, 0.8, e.basis) : Json(nullptr);
    };
    j["ln_perplexity_ratio"] = known(l.ln_ppl);
    j["ln_perplexity_ratio_high95"] = l.known() ? Json(l.ln_ppl_high95) : Json(nullptr);
    j["kld_mean_nats"] = known(l.kld);
    j["top1_disagreement"] = known(l.top1_disagreement);
    j["evidence"] = refs(e.evidence);
    j["tasks"] = refs(e.tasks);
    j["flags"] = Json::array();
    for (const quality::FlagWords& f : e.flags) j["flags"].push_back({{"code", f.code}, {"text", f.text}});
    j["not_claimed"] = e.not_claimed;
    return j;
}

}  // namespace memwall::view
