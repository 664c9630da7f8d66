#include "core/quality/own_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <mutex>

#include "core/base/byte_source.h"
#include "core/quality/fit.h"
#include "core/quality/method.h"
#include "core/quality/weight_tiers.h"

namespace memwall::quality {
namespace {

constexpr double kNoise = 0.001;            // paired standard error of ln(PPL ratio), QUALITY a.2
constexpr double kSigma95 = 1.96 / 1.2816;  // an 80 % band as a 95 % one
constexpr double kMostSpan = 2;             // bits

bool same_text(std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

/// Centre and ends of several measurements of one thing on other files.
struct Spread {
    double low = 0, centre = 0, high = 0;
};

Spread spread_of(const std::vector<double>& values, double factor, double noise) {
    Spread s{values.front(), 0, values.front()};
    for (const double v : values) {
        s.low = std::min(s.low, v);
        s.high = std::max(s.high, v);
        s.centre += v / static_cast<double>(values.size());
    }
    s.low -= (1 - 1 / factor) * std::abs(s.low) + noise;
    s.high += (factor - 1) * std::abs(s.high) + noise;
    return s;
}

/// Rows of the model in the form of the fit, their types by the file-type rule; parsed and weighed once.
const std::vector<FitRow>& fit_rows_of(const std::string& id) {
    static std::mutex mutex;
    static std::map<std::string, std::vector<FitRow>> known;
    const std::scoped_lock lock(mutex);
    const auto it = known.find(id);
    return it != known.end() ? it->second : known.emplace(id, fit_rows_of_model(id)).first->second;
}

}  // namespace

std::vector<EvidenceRow> rows_of_model(const model::Model& model, const RecipeInfo& recipe) {
    std::vector<EvidenceRow> rows;
    const std::string id = evidence_id(model);
    for (const std::string& path : recipe.evidence_files) {
        EvidenceFile file = read_evidence(read_text_file(path), path);
        if (!same_text(file.id, model.id) && (id.empty() || !same_text(file.id, id))) continue;
        for (EvidenceRow& r : file.rows) {
            r.user = true;
            rows.push_back(std::move(r));
        }
    }
    if (!id.empty())
        if (const auto file = find_evidence(id))
            rows.insert(rows.end(), file->rows.begin(), file->rows.end());
    return rows;
}

std::vector<const EvidenceRow*> rows_of_recipe(const std::vector<EvidenceRow>& rows,
                                               const std::string& recipe, Imatrix imatrix, RowGroup group) {
    std::vector<const EvidenceRow*> users, direct, weak;
    for (const EvidenceRow& r : rows) {
        if (r.group != group) continue;
        const auto method = read_method(r.method);
        const bool same =
            same_text(r.method, recipe) || (method && !method->pure && method->recipe == recipe);
        const bool other_imatrix =
            imatrix != Imatrix::unknown && r.imatrix != Imatrix::unknown && r.imatrix != imatrix;
        if (!same || (other_imatrix && !r.user)) continue;
        (r.user ? users : r.weak.empty() && !r.baseline_estimated ? direct : weak).push_back(&r);
    }
    return !users.empty() ? users : !direct.empty() ? direct : weak;
}

std::optional<Loss> measured_loss(const std::vector<EvidenceRow>& rows, const std::string& recipe,
                                  Imatrix imatrix, std::int64_t& context, std::vector<std::string>& ids) {
    std::vector<double> ratios, klds, top1;
    bool user = false;
    std::int64_t longest = 0;
    for (const EvidenceRow* r : rows_of_recipe(rows, recipe, imatrix)) {
        const auto ratio = ln_ppl_ratio(*r), kld = mean_kld(*r), flips = top1_disagreement(*r);
        if (ratio) ratios.push_back(*ratio);
        if (kld) klds.push_back(std::max(*kld, 0.0));
        if (flips) top1.push_back(*flips);
        if (!ratio && !kld && !flips) continue;
        ids.push_back(r->id);
        user |= r->user;
        longest = std::max(longest, r->context);
    }
    if (ratios.empty() && klds.empty()) {
        ids.clear();
        return std::nullopt;
    }
    const double factor = fit_book().other_file;
    Loss loss;
    loss.status = Status::measured;
    loss.flags = user ? kUserRow : kOtherFile;
    context = std::max(context, longest);
    if (!ratios.empty()) {
        const Spread s = spread_of(ratios, factor, kNoise);
        loss.ln_ppl = {s.low, s.centre, s.high};
    } else {  // the perplexity is close to KLD or below it (QUALITY a.5: ratio 0.39 to 1.1)
        const Spread s = spread_of(klds, factor, 0);
        loss.ln_ppl = {0.39 * s.low, 0.98 * s.centre, 1.1 * s.high};
    }
    loss.ln_ppl_high95 = loss.ln_ppl.central + kSigma95 * (loss.ln_ppl.high - loss.ln_ppl.central);
    if (!klds.empty()) {
        const Spread s = spread_of(klds, factor, 0);
        loss.kld = {std::max(0.0, s.low), s.centre, s.high};
        loss.top1_disagreement = top1_band(loss.kld);
    } else {
        derive_from_ppl(loss);
    }
    if (!top1.empty()) {
        const Spread s = spread_of(top1, std::pow(factor, 0.423), 0);
        loss.top1_disagreement = {std::max(0.0, s.low), s.centre, std::min(1.0, s.high)};
    }
    return loss;
}

std::optional<double> interpolated_ratio(const WeightQuality& w, const model::Model& model, double predicted,
                                         Imatrix imatrix, std::vector<std::string>& ids) {
    const std::string id = evidence_id(model);
    if (id.empty()) return std::nullopt;
    const FitRow *below = nullptr, *above = nullptr;
    for (const FitRow& r : fit_rows_of(id)) {
        if (imatrix != Imatrix::unknown && r.imatrix != (imatrix == Imatrix::with)) continue;
        if (r.bits <= w.bits && (!below || r.bits > below->bits)) below = &r;
        if (r.bits >= w.bits && (!above || r.bits < above->bits)) above = &r;
    }
    if (!below || !above || above->bits - below->bits > kMostSpan) return std::nullopt;
    const auto residual = [](const FitRow& r) { return std::log(r.ratio / predict_additive(fit_book(), r)); };
    const double span = above->bits - below->bits;
    const double share = span > 0 ? (w.bits - below->bits) / span : 0.5;
    ids = {below->id, above->id};
    return predicted * std::exp((1 - share) * residual(*below) + share * residual(*above));
}

std::optional<KvMethod> read_kv_method(std::string_view method) {
    constexpr std::array<std::pair<std::string_view, KvClass>, 10> names = {{{"f16", KvClass::full},
                                                                             {"bf16", KvClass::full},
                                                                             {"q8_0", KvClass::q8},
                                                                             {"int8", KvClass::int8},
                                                                             {"fp8", KvClass::fp8},
                                                                             {"q5_0", KvClass::q5},
                                                                             {"q5_1", KvClass::q5},
                                                                             {"q4_0", KvClass::q4},
                                                                             {"q4_1", KvClass::q4},
                                                                             {"iq4_nl", KvClass::q4}}};
    constexpr std::string_view prefix = "KV ", rotated = "+hadamard";
    if (!method.starts_with(prefix) || method.find(" and weights ") != std::string_view::npos)
        return std::nullopt;
    std::string text(method.substr(prefix.size(), method.find(" (") - prefix.size()));
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    bool rotation = false;
    for (std::size_t at; (at = text.find(rotated)) != std::string::npos;) {
        text.erase(at, rotated.size());
        rotation = true;
    }
    const std::size_t slash = text.find('/');
    if (slash == std::string::npos) return std::nullopt;
    const auto read = [&](std::string_view name) -> std::optional<KvClass> {
        for (const auto& [known, type] : names)
            if (known == name) return type;
        return std::nullopt;
    };
    const auto keys = read(std::string_view(text).substr(0, slash));
    const auto values = read(std::string_view(text).substr(slash + 1));
    if (!keys || !values) return std::nullopt;
    return KvMethod{*keys, *values, rotation};
}

std::optional<KvEffect> measured_cache(const std::vector<EvidenceRow>& rows, KvClass keys, KvClass values,
                                       bool rotation) {
    if (keys == KvClass::full && values == KvClass::full) return std::nullopt;
    std::vector<double> klds, ratios, user_klds;
    for (const EvidenceRow& r : rows) {
        if (r.group != RowGroup::kv || !r.weak.empty()) continue;
        const auto method = read_kv_method(r.method);
        if (!method || method->keys != keys || method->values != values || method->rotation != rotation)
            continue;
        if (const auto kld = mean_kld(r))
            (r.user ? user_klds : klds).push_back(std::max(0.0, *kld));
        else if (const auto ratio = ln_ppl_ratio(r))
            (r.user ? user_klds : ratios).push_back(std::max(0.0, *ratio));
    }
    const std::vector<double>& best = !user_klds.empty() ? user_klds : !klds.empty() ? klds : ratios;
    if (best.empty()) return std::nullopt;
    const Spread s = spread_of(best, fit_book().other_file, 0);
    KvEffect e;
    e.flags = best == user_klds ? kUserRow : kOtherFile;
    e.kld = {std::max(0.0, s.low), s.centre, s.high};
    return e;
}

}  // namespace memwall::quality
