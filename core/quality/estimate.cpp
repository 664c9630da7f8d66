#include "core/quality/estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include "core/quality/fit.h"
#include "core/quality/method.h"
#include "core/quality/own_rows.h"

namespace memwall::quality {
namespace {

constexpr std::size_t kMostRows = 3, kMostTasks = 6;

/// Words by which sources name the methods that are no types of llama.cpp.
struct MethodWord {
    quant::Family family;
    std::string_view word;
};
constexpr MethodWord kMethodWords[] = {
    {quant::Family::gptq, "GPTQ"},
    {quant::Family::awq, "AWQ"},
    {quant::Family::packed_int, "GPTQ"},
    {quant::Family::nvfp4, "NVFP4"},
    {quant::Family::mxfp4, "MXFP4"},
    {quant::Family::hqq, "HQQ"},
    {quant::Family::hqq_int_zero, "HQQ"},
    {quant::Family::bnb4, "NF4"},
    {quant::Family::bnb4_double, "NF4"},
    {quant::Family::bnb8, "bnb-8bit"},
    {quant::Family::mlx, "int4 weight-only"},
    {quant::Family::int_group, "int4 weight-only"},
    {quant::Family::executorch_group, "8da4w"},
    {quant::Family::fp8_block, "FP8"},
    {quant::Family::fp8_channel, "FP8"},
    {quant::Family::fp8_tensor, "FP8"},
    {quant::Family::exl2, "EXL2"},
    {quant::Family::int_channel, "int8"},
    {quant::Family::sparse24, "2:4"},
};

std::string_view method_word(quant::Format format) {
    const auto it = std::find_if(std::begin(kMethodWords), std::end(kMethodWords),
                                 [&](const MethodWord& w) { return w.family == format.family; });
    return it == std::end(kMethodWords) ? std::string_view() : it->word;
}

/// "qwen2.5" of "qwen2.5-7b".
std::string_view series(std::string_view id) {
    return id.substr(0, id.find('-'));
}

EvidenceRef reference(const EvidenceRow& row, std::string distance) {
    if (!row.weak.empty()) distance += ", " + row.weak;
    return {row.id, row.model, row.method, row_text(row), std::move(distance), row.source};
}

bool is_weight_row(const EvidenceRow& r) {
    return r.group == RowGroup::weights && (ln_ppl_ratio(r) || mean_kld(r));
}

/// Collects rows, each once and at most kMostRows.
class Nearest {
  public:
    Nearest(const model::Model& model, const WeightQuality& weights, const RecipeInfo& recipe)
        : weights_(weights),
          recipe_(recipe),
          id_(evidence_id(model)),
          series_(series(id_.empty() ? model.id : id_)),
          own_(rows_of_model(model, recipe)) {
        if (!weights.types.empty()) word_ = method_word(weights.types.front().format);
    }

    void add_used() {
        for (const EvidenceRow& r : own_)
            if (std::find(weights_.evidence.begin(), weights_.evidence.end(), r.id) !=
                weights_.evidence.end())
                add(r, r.user ? "your own row" : "same model, used");
    }

    void add_row(std::string_view id) {
        for (const auto& file : all_evidence())
            for (const EvidenceRow& r : file->rows)
                if (r.id == id) add(r, "named by the refusal");
    }

    void add_cache(const KvChoice& cache) {
        const auto same = [&](const EvidenceRow& r) {
            const bool says = r.group == RowGroup::kv && (ln_ppl_ratio(r) || mean_kld(r));
            const auto m = says ? read_kv_method(r.method) : std::nullopt;
            return m && m->keys == cache.keys && m->values == cache.values && m->rotation == cache.rotation;
        };
        for (const EvidenceRow& r : own_)
            if (same(r)) return add(r, "same model, same cache");
        add_best([&](const EvidenceRow& r) { return same(r); }, "same cache");
    }

    /// Rows of this model at the nearest bits.
    void add_same_model() {
        std::vector<const EvidenceRow*> rows;
        for (const EvidenceRow& r : own_)
            if (is_weight_row(r) && r.bits > 0) rows.push_back(&r);
        const auto off = [&](const EvidenceRow* r) { return std::abs(r->bits - weights_.bits); };
        std::stable_sort(rows.begin(), rows.end(), [&](auto* a, auto* b) { return off(a) < off(b); });
        if (!rows.empty()) add(*rows.front(), "same model, other type");
    }

    void add_other_models() {
        while (refs.size() < kMostRows)
            if (!add_best([&](const EvidenceRow& r) { return is_weight_row(r) && same_method(r); },
                          "same type"))
                return;
    }

    std::vector<EvidenceRef> refs;

    std::vector<EvidenceRef> tasks() const {
        std::vector<EvidenceRef> list;
        for (const EvidenceRow& r : own_)
            if (r.group == RowGroup::weights && is_task(r) && r.baseline && same_method(r) &&
                list.size() < kMostTasks)
                list.push_back(reference(r, r.user ? "your own row" : "same model, same method"));
        return list;
    }

  private:
    bool same_method(const EvidenceRow& r) const {
        if (!word_.empty()) return r.method.find(word_) != std::string::npos;
        const auto method = read_method(r.method);
        return method && method->recipe == recipe_.name;
    }

    void add(const EvidenceRow& r, std::string distance) {
        if (refs.size() < kMostRows && seen_.insert(r.id).second)
            refs.push_back(reference(r, std::move(distance)));
    }

    /// The unseen row of the nearest model: same series first, then by size.
    template <class Fits>
    bool add_best(const Fits& fits, const char* what) {
        const EvidenceRow* best = nullptr;
        double nearest = 0;
        bool related = false;
        for (const auto& file : all_evidence()) {
            const bool same_series = series(file->id) == series_;
            const double size =
                file->parameters > 0
                    ? std::abs(std::log(file->parameters / std::max(weights_.parameters, 1e-3)))
                    : 3;
            const double distance = size + (same_series ? 0 : 2);
            if (file->id == id_ || (best && distance >= nearest)) continue;
            for (const EvidenceRow& r : file->rows)
                if (!seen_.count(r.id) && !models_.count(file->id) && fits(r)) {
                    best = &r;
                    nearest = distance;
                    related = same_series;
                    best_file_ = file->id;
                    break;
                }
        }
        if (!best) return false;
        models_.insert(best_file_);
        add(*best, fmt::format("{} model, {}", related ? "related" : "other", what));
        return true;
    }

    const WeightQuality& weights_;
    const RecipeInfo& recipe_;
    std::string id_;
    std::string series_;
    std::vector<EvidenceRow> own_;
    std::string_view word_;
    std::set<std::string> seen_, models_;
    std::string best_file_;
};

std::string basis_of(const WeightQuality& w, const KvChoice& cache, const Loss& loss) {
    const FitBook& book = fit_book();
    const bool whole_cache = cache.keys == KvClass::full && cache.values == KvClass::full;
    std::string ids;
    for (const std::string& id : w.evidence) ids += (ids.empty() ? "" : ", ") + id;
    switch (w.loss.status) {
        case Status::measured:
            if (!ids.empty()) return fmt::format("rows of this model: {}", ids);
            return whole_cache    ? "nothing is quantized, or only to the format it was trained in"
                   : loss.known() ? "the cache alone is quantized: what it lost on other models and settings"
                                  : std::string(reason_text(loss.reason));
        case Status::interpolated:
            return fmt::format("between two rows of this model: {}", ids);
        case Status::estimated:
            return fmt::format(
                "shares of types x their losses x {:.2g} ({} class) x {:.2g} (size) x {:.2g} (importance "
                "matrix); models left out of the fit lay within x/{:.2f}, one s.d.",
                w.class_factor, w.generation, w.small_factor, w.imatrix_factor,
                std::exp(book.additive.sigma));
        case Status::bounded:
            return "range of what was measured with this method";
        case Status::refused:
            break;
    }
    return std::string(reason_text(loss.reason));
}

}  // namespace

Estimate explain(const model::Model& model, const WeightQuality& weights, const RecipeInfo& recipe,
                 const KvChoice& cache) {
    Estimate e;
    e.loss = combine(weights, cache);
    e.basis = basis_of(weights, cache, e.loss);
    e.flags = flag_words(e.loss.flags);
    Nearest nearest(model, weights, recipe);
    if (!e.loss.known()) nearest.add_row(reason_row(e.loss.reason));
    nearest.add_used();
    if (cache.keys != KvClass::full || cache.values != KvClass::full) nearest.add_cache(cache);
    if (weights.loss.status > Status::interpolated) {
        nearest.add_same_model();
        nearest.add_other_models();
    }
    e.evidence = std::move(nearest.refs);
    e.tasks = nearest.tasks();
    e.not_claimed = {
        e.tasks.empty() ? "task scores (MMLU, GSM8K, HumanEval, tool calls): no row for this model and method"
                        : "task scores other than the rows shown",
        "languages other than English", "long chains of reasoning", "safety behaviour"};
    return e;
}

}  // namespace memwall::quality
