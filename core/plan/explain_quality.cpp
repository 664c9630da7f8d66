// The ledger's chapter on quality.
#include <fmt/format.h>

#include "core/plan/explain_parts.h"
#include "core/quality/estimate.h"

namespace memwall::plan {
namespace {

LedgerItem band_item(const char* name, const quality::Band& b, quality::Status status, std::string formula) {
    return leaf(name, {b.low, b.central, b.high, 0.8, quality::status_name(status)}, Unit::none,
                std::move(formula));
}

void add_rows(LedgerItem& parent, const char* name, const std::vector<quality::EvidenceRef>& rows,
              const char* formula) {
    if (rows.empty()) return;
    LedgerItem item =
        leaf(name, Interval<double>::exact(static_cast<double>(rows.size())), Unit::none, formula);
    for (const quality::EvidenceRef& r : rows)
        item.inputs.push_back({fmt::format("{}  {} {}", r.id, r.model, r.method), r.says,
                               fmt::format("{}; {}", r.distance, r.source)});
    parent.children.push_back(std::move(item));
}

}  // namespace

LedgerItem explain_quality(const Prepared& p, const Knobs& k) {
    const quality::Estimate e = quality::explain(p.model, p.quality, p.recipe_info, kv_choice(p, k));
    const quality::Loss& l = e.loss;
    LedgerItem item = l.known() ? band_item("quality", l.ln_ppl, l.status, "ln(perplexity / unquantized)")
                                : leaf("quality", Interval<double>::exact(0), Unit::none,
                                       "not estimated: " + std::string(quality::reason_text(l.reason)));
    item.inputs.push_back({"status", std::string(quality::status_name(l.status)), e.basis});
    for (const quality::FlagWords& f : e.flags)
        item.inputs.push_back({"flag", std::string(f.code), std::string(f.text)});
    for (const std::string& n : e.not_claimed) item.inputs.push_back({"not claimed", "", n});
    if (l.known()) {
        item.children.push_back(band_item("kld", l.kld, l.status, "mean KL divergence, nats a token"));
        item.children.push_back(
            band_item("top1_disagreement", l.top1_disagreement, l.status, "33.6 % x KLD^0.42"));
    }
    add_rows(item, "evidence", e.evidence, "the nearest rows");
    add_rows(item, "tasks", e.tasks,
             "task scores of this model, beside the estimate and never derived from it");
    return item;
}

}  // namespace memwall::plan
